//! The command line of `history`.

use std::time::Duration;

use clap::Args;

use super::ci::time;
use super::{Format, TARGET_OR_FILE};
use crate::recording::Moment;

pub(super) const HISTORY_EXAMPLES: &str = "\
Examples:
  turbowish history                       the last 50 steps of your only process
  turbowish history kv --task conn-17     what one task did, and who woke it
  turbowish history x.tw --at 14:03:22 --last 500ms
                                          half a second before that instant
  turbowish history x.tw --longer 10ms -n 0
                                          every poll, wait and hold of 10 ms and more
  turbowish history x.tw --resource db    who waited for a lock, and who held it
  turbowish history kv -o json | jq '.history[]'

A line is a poll, a wait for a resource or a hold of it (of 100 µs and more), an event of
the program's own (turbowish::event!), a mark, or a loss. AT is when it began. Losses are
shown whatever is asked for: they may be of that kind.

Exit codes: 0 success; 2 wrong usage, or there is nothing of that kind; 3 the target
cannot be reached.";

#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    /// Last instant: -10s (before the end), +3s (after the beginning), 14:03:22 or RFC 3339;
    /// default: the end
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, allow_hyphen_values = true)]
    pub(crate) at: Option<Moment>,
    /// How long before that instant the history begins
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = time)]
    pub(crate) last: Duration,
    #[command(flatten)]
    pub(crate) of: HistoryFilter,
    /// Maximum number of lines: those that ended last; 0 means all
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: usize,
    /// Output format; times in JSON and CSV are nanoseconds
    #[arg(short = 'o', long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// What a history is of.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct HistoryFilter {
    /// Only the task of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,
    /// Only the threads of this name or number
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// Only waits for and holds of this resource; its kind may be left out
    #[arg(long, value_name = "NAME")]
    pub(crate) resource: Option<String>,
    /// Only what took this long or longer
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) longer: Option<Duration>,
}
