//! The command line as data: parsing, `--help`, completions and the manual all come from here.

mod ci;
mod control;
mod export;
mod history;
mod past;
mod recover;
mod suggested;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use cargo_turbowish::{AnnotateArgs, examples, long_help};
use clap::builder::FalseyValueParser;
use clap::{Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use turbowish_model::snapshot::Table;
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units;

use crate::columns::{self, Listing};
use crate::failure::PROGRAM;
use crate::theme::Theme;

use self::ci::{CHECK_EXAMPLES, DIFF_EXAMPLES, TREE_EXAMPLES, WATCH_EXAMPLES};
pub(crate) use self::ci::{CheckArgs, DiffArgs, ReportFormat, Share, TreeArgs, WatchArgs};
use self::control::{DEBUG_EXAMPLES, PAUSE_EXAMPLES, RESUME_EXAMPLES};
pub(crate) use self::control::{DebugArgs, DebuggerArgs, PauseArgs, TaskArgs};
use self::export::EXPORT_EXAMPLES;
pub(crate) use self::export::{ExportArgs, FormatArgs};
use self::history::HISTORY_EXAMPLES;
pub(crate) use self::history::{HistoryArgs, HistoryFilter};
use self::past::RECORD_EXAMPLES;
pub(crate) use self::past::{AtArgs, PastArgs, RecordArgs};
use self::recover::{RECOVER_EXAMPLES, SNAPSHOT_EXAMPLES};
pub(crate) use self::recover::{RecoverArgs, SnapshotArgs};
use self::suggested::{PAGE, SORT};
pub(crate) use self::value::window;
use self::value::{folder, interval, percentile};

const EXAMPLES: &str = "\
Examples:
  turbowish                               open the console; pick a process if
                                          several run
  turbowish demo                          try the console on a demo server
  turbowish ps                            list the processes you can attach to
  turbowish query procs 4242              a table of procs, to read or to pipe
  turbowish query tasks --filter 'state:waiting since>1s'
                                          which tasks are stuck, and where
  turbowish query task 4242 conn:51022    what one task waits for, and who holds it
  turbowish query alert                   what is wrong, and what to do
  turbowish check --max 'procs.hold_p99 < 10ms' --no-alerts
                                          exit code 1 if that does not hold
  turbowish annotate                      add the attribute to every async fn
                                          of the current package

Exit codes: 0 success, 1 a file or terminal error, a failed check or an unknown
name, 2 wrong usage, 3 the target cannot be reached.";

/// Shows what occupies the event loop of an async Rust program, and why a task is stuck.
#[derive(Debug, Parser)]
#[command(name = "turbowish", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Token of a process reached over TCP: its value of TURBOWISH_TOKEN
    // Not as a default of the environment variable's text: --help must not print a secret.
    #[arg(
        long,
        global = true,
        env = "TURBOWISH_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub(crate) token: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a process live (the default)
    #[command(after_help = TOP_EXAMPLES)]
    Top(TopArgs),
    /// List your processes that run TurboWish
    #[command(after_help = "Examples:\n  turbowish ps\n  turbowish ps | grep kv")]
    Ps,
    /// Make one file of the recording that a process has left, after a crash or a kill -9
    #[command(after_help = RECOVER_EXAMPLES)]
    Recover(RecoverArgs),
    /// Print procs, tasks, resources, awaits, alerts, counters, delays or slowest calls as a table,
    /// JSON or CSV; or one record
    #[command(after_help = QUERY_EXAMPLES, after_long_help = query_long_help())]
    Query(QueryArgs),
    /// Print the await trees of tasks: where each branch is, and what it waits for
    #[command(after_help = TREE_EXAMPLES)]
    Tree(TreeArgs),
    /// Print the page of an alert, what it means and how to fix it; without a name, list all
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// Name or number of an alert; or limits, or json
        #[arg(value_name = "ALERT", value_parser = PAGE, hide_possible_values = true)]
        alert: Vec<String>,
    },
    /// Fail if a limit does not hold or an alert is active: for CI
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Print the rows of tables as JSON lines, at an interval
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchArgs),
    /// Record the states of a process to a file, which all reading commands take
    #[command(after_help = RECORD_EXAMPLES)]
    Record(RecordArgs),
    /// Write the states that a process keeps of its last minutes to a file
    #[command(after_help = SNAPSHOT_EXAMPLES)]
    Snapshot(SnapshotArgs),
    /// Print what tasks did, poll by poll: who woke them, what they waited for and held
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArgs),
    /// Write the polls of a recording, or those that a process keeps, in the formats of other
    /// programs
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Compare two saved reports or recordings, and fail if a value got worse
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Pause a task: it is not polled for a while, or until it is resumed
    #[command(after_help = PAUSE_EXAMPLES)]
    Pause(PauseArgs),
    /// Resume a paused task
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(TaskArgs),
    /// Pause a task, and attach a debugger to its process
    #[command(after_help = DEBUG_EXAMPLES)]
    Debug(DebugArgs),
    /// Add the attribute to every async fn of a crate, or find those without it
    #[command(after_help = examples(&PROGRAM), after_long_help = long_help(&PROGRAM))]
    Annotate(AnnotateArgs),
    /// Run a key-value server under load, and watch it
    #[cfg(feature = "demo")]
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  turbowish completions bash > ~/.local/share/bash-completion/completions/turbowish"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands
    #[command(
        after_help = "Examples:\n  turbowish man | man -l -\n  turbowish man --out ~/.local/share/man/man1"
    )]
    Man {
        /// Write one page for each command into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

impl Default for Command {
    /// `turbowish` alone is `turbowish top`.
    fn default() -> Self {
        let top = TopArgs::augment_args(clap::Command::new("turbowish"));
        let matches = top.get_matches_from(["turbowish"]);
        let args = TopArgs::from_arg_matches(&matches);
        Self::Top(args.unwrap_or_else(|fault| fault.exit()))
    }
}

const TOP_EXAMPLES: &str = "\
Examples:
  turbowish top                           the only process, or a list of them
  turbowish top 4242 --window 60s         by process ID
  turbowish top kv                        by name, if one process has it
  turbowish top 127.0.0.1:6680            over TCP, with TURBOWISH_TOKEN
  turbowish top x.tw                      a recording; [ and ] step through it
  turbowish top --sort hold_p99           longest polls first
  turbowish top --limit 6 | cat           without a terminal: one plain snapshot";

#[cfg(feature = "demo")]
const DEMO_EXAMPLES: &str = "\
The server has three troubles, which are alerts within 30 s:
  a slow lock       every 10 s, a task holds it for 2 s while it waits
  a blocked worker  every 20 s, one poll takes 2 s
  a task leak       five tasks a second wait for news that do not come
In the console, ! opens the worst one, n the next one, and 5 lists them all, also
those that are over.

Examples:
  turbowish demo
  turbowish demo --calm       the same server, without troubles
  turbowish demo | cat        a plain snapshot after 2 s";

/// A server to try the console on.
#[cfg(feature = "demo")]
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// No troubles: a server without alerts
    #[arg(long)]
    pub(crate) calm: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

const TARGET: &str = "Process ID, name, socket path or host:port; default: your only process";

const TARGET_OR_FILE: &str =
    "Process ID, name, socket path, host:port or a recording (FILE.tw); default: your only process";

#[derive(Args, Debug)]
pub(crate) struct TopArgs {
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) past: PastArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// What the console shows, and how.
#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    /// Length of the window: up to 60s, or start; default: that of the last console, else 10s
    #[arg(short, long, value_name = "TIME", value_parser = window)]
    pub(crate) window: Option<Window>,
    /// Time between snapshots, 100ms to 10s
    #[arg(short, long, default_value = "1s", value_name = "TIME", value_parser = interval)]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Maximum number of rows without a terminal; 0 means all
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Colours for this background, or none; default: TURBOWISH_THEME
    #[arg(long, value_name = "THEME")]
    pub(crate) theme: Option<ThemeName>,
    /// Do not load or save the settings: columns, order, window, theme, mouse
    #[arg(long, env = "TURBOWISH_NO_STATE", value_parser = FalseyValueParser::new())]
    pub(crate) no_state: bool,
}

impl ViewArgs {
    /// The length of the window, where nothing else says it.
    pub(crate) const fn window(&self) -> Window {
        match self.window {
            Some(window) => window,
            None => Window(Some(10 * units::SECOND)),
        }
    }
}

/// Where the program's source is.
#[derive(Args, Debug, Default)]
pub(crate) struct SourceArgs {
    /// Folder of the program's source, if it is neither here nor where the process was built; the
    /// first of several that has a file
    #[arg(long, value_name = "DIR", value_parser = folder)]
    pub(crate) source: Vec<PathBuf>,
}

/// Which rows, in which order.
#[derive(Args, Debug, Default)]
pub(crate) struct RowArgs {
    /// Column to sort by, or worst; numbers descend, names ascend
    #[arg(
        short,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "COLUMN",
        value_parser = SORT,
        hide_possible_values = true
    )]
    pub(crate) sort: String,
    /// Rows to keep: words, column:text, column > number; a space means and, | or, ! not
    #[arg(
        short,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    pub(crate) filter: String,
}

const QUERY_EXAMPLES: &str = "\
Examples:
  turbowish query procs --window 5s --percentiles 50,90,99,99.9
  turbowish query procs 4242 --filter 'hold_p99>5ms' --sort hold_p99
  turbowish query tasks --filter 'state:waiting since>1s'
  turbowish query resources --filter 'waiters>0' --sort oldest
  turbowish query awaits --limit 10 --format csv
  turbowish query alerts                  what is wrong now, then what was
  turbowish query alert                   the worst in full: why, and what to do
  turbowish query task 4242 conn:51022    one task and its await tree
  turbowish query resource 4242 'mutex db'
                                          who holds it, who waits for it
  turbowish query proc snapshot::write    its histograms, awaits and callers
  turbowish query procs --format json | jq '.procs[0]'
  turbowish query tasks x.tw --at -10s    of a recording, 10 s before its end

TABLE --columns lists the columns of a table, --help those of all tables.";

fn query_long_help() -> String {
    let (examples, _) = QUERY_EXAMPLES.rsplit_once("\n\n").unwrap_or_default();
    format!("{examples}\n\n{}", Listing)
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  turbowish explain                       a list of all alerts
  turbowish explain lost-waker            how it comes about, and how to fix it
  turbowish explain limits                the thresholds of all alerts
  turbowish explain json                  the fields of JSON and CSV
  turbowish explain deadlock > page.md    not on a terminal: Markdown";

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// Table, or the record of one row
    #[arg(value_enum)]
    pub(crate) table: TableName,
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    /// Name of the task, resource or proc, as in its table; the kind of a resource may be left out.
    /// For an alert: its kind, a participant, or worst
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Reverse the order
    #[arg(short, long)]
    pub(crate) reverse: bool,
    /// Maximum number of rows; 0 means all, the default. In the record of a resource, of its
    /// waiters and its holders: 20 by default
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Length of the window: up to 60s, or start (since the start of accounting)
    #[arg(short, long, default_value = "10s", value_name = "TIME", value_parser = window)]
    pub(crate) window: Window,
    /// Percentiles of each population: 50,90,99,99.9
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = percentile)]
    pub(crate) percentiles: Vec<Percentile>,
    #[command(flatten)]
    pub(crate) past: PastArgs,
    /// Columns to print, by key: proc,run,calls,hold,longest; without LIST: the columns of the
    /// table and their meaning
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    #[arg(num_args = 0..=1, default_missing_value = columns::LIST)]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Output format; for JSON and CSV, see turbowish explain json
    #[arg(short = 'o', long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// A table of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableName {
    /// Instrumented async fns: where the time of the window went
    Procs,
    /// Live tasks: the state of each, since when, and at which await
    Tasks,
    /// Locks, channels and the like: who holds each one, and who waits for it
    Resources,
    /// Await points: where calls wait, and for how long
    Awaits,
    /// What is wrong now: who is involved, since when, who waits because of it
    Alerts,
    /// The program's own numbers, counters and gauges: how much, how often, in which proc
    Counters,
    /// Delays: which functions ran on the workers while tasks were ready
    Delays,
    /// The slowest calls of each function, 1 % or some more: at which awaits their time went
    Slowest,
    /// One task by its name: what it waits for, what it holds, its await tree
    Task,
    /// One resource by its name: who holds it, who waits for it in order
    Resource,
    /// One proc by its path or the end of it: histograms, await points, callers and callees
    Proc,
    /// One alert: the chain of waits, why, what to do. Default: the worst
    Alert,
}

impl TableName {
    /// The table; for a record, that of its row.
    pub(crate) const fn table(self) -> Table {
        match self {
            Self::Procs | Self::Proc => Table::Procs,
            Self::Tasks | Self::Task => Table::Tasks,
            Self::Resources | Self::Resource => Table::Resources,
            Self::Awaits => Table::Awaits,
            Self::Alerts | Self::Alert => Table::Alerts,
            Self::Counters => Table::Counters,
            Self::Delays => Table::Delays,
            Self::Slowest => Table::Slowest,
        }
    }

    /// Whether it is the record of one row.
    pub(crate) const fn is_record(self) -> bool {
        matches!(self, Self::Task | Self::Resource | Self::Proc | Self::Alert)
    }
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Rounded numbers with units
    Table,
    /// One document on one line, integers
    Json,
    /// A header and a line for each row, integers
    Csv,
}

/// The length of a window in nanoseconds; `None` reaches back to the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window(pub(crate) Option<u64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeName {
    /// Light letters on a dark background
    Dark,
    /// Dark letters on a light background
    Light,
    /// No colours
    Mono,
}

impl From<ThemeName> for Theme {
    fn from(name: ThemeName) -> Self {
        match name {
            ThemeName::Dark => Self::Dark,
            ThemeName::Light => Self::Light,
            ThemeName::Mono => Self::Mono,
        }
    }
}
