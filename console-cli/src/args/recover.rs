//! The command line of `recover`.

use std::path::PathBuf;

use clap::Args;

pub(super) const RECOVER_EXAMPLES: &str = "\
Examples:
  turbowish ps                            which processes have died and left one
  turbowish recover 4242                  writes 4242.tw
  turbowish recover 4242 -o crash.tw

The recordings of dead processes are kept for a day, at most the ten latest ones.";

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// ID of the process
    pub(crate) pid: u32,
    /// File to write, which must not exist; default: PID.tw
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
