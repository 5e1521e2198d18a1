//! The command line of `recover` and `snapshot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::TARGET;
use super::ci::time;

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

pub(super) const SNAPSHOT_EXAMPLES: &str = "\
Examples:
  turbowish snapshot -o x.tw              all states that your only process keeps
  turbowish snapshot kv -o x.tw --last 30s
  turbowish top x.tw                      then look at it: [ and ] step
  turbowish top kv --at -30s              looks at them without a file

A process keeps a state a second, or fewer if they take long, in 64 MiB at most:
TURBOWISH_RECORD_BYTES changes that.";

#[derive(Args, Debug)]
pub(crate) struct SnapshotArgs {
    #[arg(value_name = "PID|NAME|ADDR", help = TARGET)]
    pub(crate) target: Option<String>,
    /// File to write, which must not exist; its name should end in .tw
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Only the states of the last TIME
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) last: Option<Duration>,
}
