//! The command line of `export`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::TARGET_OR_FILE;
use super::ci::time;
use crate::recording::Moment;

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  turbowish export x.tw --chrome -o x.json
                                          for ui.perfetto.dev or chrome://tracing
  turbowish export kv --chrome -o kv.json --last 30s
                                          what a process keeps of its last 30 s
  turbowish export x.tw --folded-waiting -o x.folded && inferno-flamegraph x.folded > x.svg
                                          where tasks wait, as a flame graph
  turbowish export x.tw --pprof -o x.pb.gz && go tool pprof -http=: x.pb.gz
                                          the same and more, for pprof and Pyroscope
  turbowish export x.tw --perfetto -o x.pftrace
                                          a ninth of the size, and the worst tasks one by one
  turbowish export x.tw --ctf -o x.ctf && babeltrace2 x.ctf
                                          all events as text; Trace Compass reads it, too
  turbowish export x.tw --chrome -o x.json --from 14:03:22 --to 14:03:25

Only polls that were recorded are exported: those before the recording, and those that
were overwritten before they could be copied, are missing. The last are told as lost.
With the class calls (turbowish record --events calls), --chrome and --perfetto have the
polls of all calls, each inside of its caller's.

Exit codes: 0 success; 1 the file cannot be written; 2 wrong usage, or there are no polls;
3 the target cannot be reached.";

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("format").required(true))]
pub(crate) struct ExportArgs {
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// File to write; of --ctf, the folder
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Overwrite an existing file, or the trace in an existing folder
    #[arg(long)]
    pub(crate) force: bool,
    /// First instant: -10s (before the end), +3s (after the beginning), 14:03:22 or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, allow_hyphen_values = true)]
    pub(crate) from: Option<Moment>,
    /// Last instant, written in the same way
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, allow_hyphen_values = true)]
    pub(crate) to: Option<Moment>,
    /// Only the last TIME: the same as --from -TIME
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "from")]
    pub(crate) last: Option<Duration>,
}

/// Which format is written: one of them.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatArgs {
    /// Trace events in JSON: a track for each thread, a slice for each poll, arrows for wakes
    #[arg(long, group = "format")]
    pub(crate) chrome: bool,
    /// Folded stacks for flame graphs: nanoseconds of polls, by the path of calls
    #[arg(long, group = "format")]
    pub(crate) folded: bool,
    /// The same of waiting: nanoseconds from the end of a poll to the wake, by await point
    #[arg(long, group = "format")]
    pub(crate) folded_waiting: bool,
    /// A profile for pprof, gzipped: polls, and time running, ready and waiting, by stack
    #[arg(long, group = "format")]
    pub(crate) pprof: bool,
    /// A trace in the Common Trace Format 1.8: a folder with a stream for each thread
    #[arg(long, group = "format")]
    pub(crate) ctf: bool,
    /// A trace in Perfetto's own format: as --chrome, smaller, and tracks for the worst 50 tasks
    #[arg(long, group = "format")]
    pub(crate) perfetto: bool,
}
