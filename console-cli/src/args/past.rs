//! The command line of recordings: `record`, and which instant of a recording is read.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use turbowish_model::event::EventClasses;

use super::TARGET;
use super::ci::time;
use super::value::interval;
use crate::recording::Moment;

pub(super) const RECORD_EXAMPLES: &str = "\
Examples:
  turbowish record -o x.tw                your only process, until Ctrl-C
  turbowish record 4242 -o x.tw --for 10s
  turbowish record kv -o x.tw --every 5s --for 1h
  turbowish record kv --events polls,user  the process records these from now on
  turbowish record kv --events calls -o x.tw --for 5s
  turbowish top x.tw                      then look at it: [ and ] step
  turbowish query tasks x.tw --at -10s    all tasks, 10 s before the end
  turbowish diff x.tw x.tw --at +0s --at -0s
                                          the first state and the last one

A state has every table as it was: up to 2,000 rows of each, the worst first, 500 tasks,
and all others in groups. What happened between two states is not recorded.

Exit codes: 0 the time is over, the process has ended, or Ctrl-C; 1 the file cannot be
written; 2 wrong usage; 3 the target cannot be reached.";

#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    #[arg(value_name = "PID|NAME|ADDR", help = TARGET)]
    pub(crate) target: Option<String>,
    /// File to write; its name should end in .tw
    #[arg(short, long, value_name = "FILE", required_unless_present = "events")]
    pub(crate) out: Option<PathBuf>,
    /// Stop after this long; default: when the process ends, or on Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = time, requires = "out")]
    pub(crate) during: Option<Duration>,
    /// Time between states, 100ms to 10s; a process that needs longer for one makes fewer
    #[arg(short, long, default_value = "1s", value_name = "TIME", value_parser = interval)]
    pub(crate) every: Duration,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Let the process record these classes from now on, and no others: states, polls, waits,
    /// user, calls. With --out, it records them beside its own until the command ends, and the file
    /// gets what it has kept of them
    #[arg(long, value_name = "CLASSES", value_parser = EventClasses::parse, conflicts_with = "every")]
    pub(crate) events: Option<EventClasses>,
}

/// Which recording is read, and which instant of it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PastArgs {
    /// A recording (FILE.tw) to read instead of a process; the process's place may name it, too
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) at: AtArgs,
}

/// Which instant of a recording is read.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct AtArgs {
    /// Instant of a recording, or of the states that a process keeps: -10s (before the end), +3s
    /// (after the beginning), 14:03:22 or RFC 3339; default: the last state
    #[arg(long = "at", value_name = "TIME", value_parser = Moment::parse, allow_hyphen_values = true)]
    pub(crate) moment: Option<Moment>,
}
