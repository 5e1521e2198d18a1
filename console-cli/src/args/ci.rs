//! The command line of what scripts and CI use: `tree`, `check`, `watch` and `diff`.

use std::time::Duration;

use clap::builder::TypedValueParser as _;
use clap::{Args, ValueEnum};
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units;

use super::suggested::ALERT;
use super::{AtArgs, Format, PastArgs, RowArgs, TARGET_OR_FILE, TableName, Window};
use super::{percentile, window};
use crate::recording::Moment;

pub(super) const TREE_EXAMPLES: &str = "\
Examples:
  turbowish tree                          every task of the only process
  turbowish tree 4242 --filter 'on:db -conn'
                                          who waits for the resource db
  turbowish tree --filter 'since>10s' -n 5";

#[derive(Args, Debug)]
pub(crate) struct TreeArgs {
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) past: PastArgs,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Maximum number of tasks; 0 means all
    #[arg(short = 'n', long, default_value_t = 0, value_name = "N")]
    pub(crate) limit: u32,
}

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  turbowish check                         passes if no alert is active
  turbowish check 4242 --for 30s --max 'procs.hold_p99 < 10ms' --no-alerts
                                          no alert for 30 s, and no long poll
  turbowish check --max 'procs.run_p99<5ms' --filter 'proc:kv::db::*'
  turbowish check --max 'tasks.since < 1m' --max 'resources.waiters < 10'
  turbowish check --no-alerts=alert --except lock_convoy
                                          warnings and lock convoys are allowed
  turbowish check --within 30s            wait until it runs and everything passes
  turbowish check --from report.json --max 'procs.hold_p99 < 10ms'

A limit is TABLE.COLUMN, one of < <= > >= =, and a number with its unit; it must hold
for every row. turbowish query --help lists the columns.

Exit codes: 0 everything passes; 1 a limit does not hold or an alert is active, and it is
printed; 2 wrong usage; 3 the target cannot be reached.";

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[arg(value_name = "PID|NAME|ADDR|FILE", help = TARGET_OR_FILE)]
    pub(crate) target: Option<String>,
    /// A limit that must hold for every row: procs.hold_p99 < 10ms
    #[arg(long, visible_alias = "min", value_name = "LIMIT")]
    pub(crate) max: Vec<String>,
    /// Fail if an alert is active, or one of this severity or worse: alert, warning or note. The
    /// default if no limit is given
    #[arg(
        long,
        value_enum,
        value_name = "SEVERITY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "note"
    )]
    pub(crate) no_alerts: Option<SeverityName>,
    /// Count only alerts of this kind: deadlock, long_poll, ...
    #[arg(long, value_name = "KIND", value_parser = ALERT.try_map(pitfall), hide_possible_values = true)]
    pub(crate) alert: Vec<Pitfall>,
    /// Ignore alerts of this kind
    #[arg(long, value_name = "KIND", value_parser = ALERT.try_map(pitfall), hide_possible_values = true)]
    pub(crate) except: Vec<Pitfall>,
    /// Rows that the limits apply to, as in turbowish query
    #[arg(
        short,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    pub(crate) filter: String,
    /// Length of the window: up to 60s and up to --for, or start (since the start of accounting)
    #[arg(short, long, default_value = "10s", value_name = "TIME", value_parser = window)]
    pub(crate) window: Window,
    /// Check every second for this long; one violation fails
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) during: Option<Duration>,
    /// Wait up to this long for the process to start and for everything to pass
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "during")]
    pub(crate) within: Option<Duration>,
    /// A saved report, JSON of turbowish query, or a recording; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "during", "within", "window"])]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) at: AtArgs,
    /// Output format; for JSON, see turbowish explain json
    #[arg(short = 'o', long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
}

pub(super) const WATCH_EXAMPLES: &str = "\
Examples:
  turbowish watch procs                   a line of JSON every second
  turbowish watch 4242 --every 5s alerts procs --limit 10
                                          a line for each table
  turbowish watch tasks --filter 'state:waiting since>10s' | jq '.tasks[].name'
  turbowish watch procs --count 60 --columns proc,run,hold_p99 > minute.jsonl
  turbowish watch alerts --reconnect      continues when the process is restarted
  turbowish watch x.tw procs              the states of a recording, at once

Each line is a document as turbowish explain json describes it.

Exit codes: 0 the process has ended, the lines asked for are printed, or stdout is
closed; 2 wrong usage; 3 the target cannot be reached, or ended before --count.";

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Process ID, name, socket path, host:port or recording, and the tables: procs, tasks,
    /// resources, awaits, alerts, counters, delays, slowest; default: your only process, and procs
    #[arg(value_name = "PID|NAME|ADDR|FILE|TABLE")]
    pub(crate) words: Vec<String>,
    /// Time between snapshots, 100ms to 1h
    #[arg(short, long, default_value = "1s", value_name = "TIME", value_parser = pace)]
    pub(crate) every: Duration,
    /// Number of snapshots; 0 means no limit
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) count: u64,
    /// If the process ends, wait for it, or for one with the same command line
    #[arg(long)]
    pub(crate) reconnect: bool,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Maximum number of rows of a table; 0 means all
    #[arg(short = 'n', long, default_value_t = 0, value_name = "N")]
    pub(crate) limit: u32,
    /// Length of the window: up to 60s, or start (since the start of accounting)
    #[arg(short, long, default_value = "10s", value_name = "TIME", value_parser = window)]
    pub(crate) window: Window,
    /// Percentiles of each population: 50,90,99,99.9
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = percentile)]
    pub(crate) percentiles: Vec<Percentile>,
    /// Columns whose fields are printed, by key; for one table only
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) columns: Vec<String>,
}

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  turbowish query procs -w 1m -o json > before.json
  turbowish diff before.json after.json   what has changed, the worst first
  turbowish diff before.json after.json --fail-over 25% --columns run_p50,hold_p99
                                          only these columns count
  turbowish diff before.json after.json --table resources --filter 'kind:mutex'
  turbowish query procs -o json | turbowish diff before.json -
  turbowish diff x.tw x.tw --at -60s --at -0s
                                          a recording now, and a minute before

Files are reports at exit (TURBOWISH_REPORT=FILE.json), JSON of turbowish query, or
recordings (turbowish record), of which one state is compared. More
time or memory per call is worse; more calls, or a larger share, are not.

A value fails if it grew by more than --fail-over and --min-change, and certainly by half of
--fail-over: two files of the same program and load pass. Each change that chance can
explain is marked: chance, too few (values) or single (event).

Exit codes: 0 nothing has failed; 1 something has; 2 wrong usage, or a file is not a report;
3 a file cannot be read.";

#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The file with the old numbers; - is standard input
    pub(crate) before: String,
    /// The file with the new numbers
    pub(crate) after: String,
    /// Instant of a recording: -10s (before its end), +3s (after its beginning), 14:03:22 or
    /// RFC 3339; default: its last state. Twice: of the old one, and of the new one
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, allow_hyphen_values = true)]
    pub(crate) at: Vec<Moment>,
    /// Table to compare, if there are several; default: procs if present
    #[arg(short, long, value_enum, value_name = "TABLE")]
    pub(crate) table: Option<TableName>,
    /// Fail if a value got worse by more than this, and certainly by half of it
    #[arg(long, visible_alias = "threshold", default_value = "10%", value_name = "PERCENT", value_parser = share)]
    pub(crate) fail_over: Share,
    /// Changes of a time by less than this do not fail; 0 means all do
    #[arg(long, default_value = "100ns", value_name = "TIME", value_parser = least)]
    pub(crate) min_change: u64,
    /// Growth of times that the functions share, up to this, is put down to the machine and does
    /// not fail; 0 if both files are of machines that do nothing else
    #[arg(long, default_value = "50%", value_name = "PERCENT", value_parser = share)]
    pub(crate) machine: Share,
    /// Rows to compare, as in turbowish query
    #[arg(
        short,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    pub(crate) filter: String,
    /// Columns to compare, by key; default: the times and sizes that the table shows
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) columns: Vec<String>,
    /// Percentiles to compare; the files must contain them
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", default_value = "50,90,99", value_parser = percentile)]
    pub(crate) percentiles: Vec<Percentile>,
    /// Output format; for JSON and CSV, see turbowish explain json
    #[arg(short = 'o', long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// How a verdict is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A line for each thing that fails, and a summary
    Text,
    /// One document on one line, integers
    Json,
}

/// From how bad an alert on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeverityName {
    /// Only alerts: something does not work and will not recover
    Alert,
    /// Alerts and warnings
    Warning,
    /// Everything
    Note,
}

impl From<SeverityName> for Severity {
    fn from(name: SeverityName) -> Self {
        match name {
            SeverityName::Alert => Self::Alert,
            SeverityName::Warning => Self::Warning,
            SeverityName::Note => Self::Note,
        }
    }
}

/// A part of a whole, in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) u64);

fn share(text: &str) -> Result<Share, String> {
    units::parse_share(text)
        .map(Share)
        .ok_or_else(|| "a number and %, as in 5% or 0.5%".to_owned())
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text) {
        Some(ns) if ns > 0 => Ok(Duration::from_nanos(ns)),
        _ => Err("a time with its unit, as in 30s or 1m".to_owned()),
    }
}

fn least(text: &str) -> Result<u64, String> {
    let time = if text == "0" {
        Some(0)
    } else {
        units::parse_duration(text)
    };
    time.ok_or_else(|| "a time with its unit, as in 100ns or 5us, or 0".to_owned())
}

fn pace(text: &str) -> Result<Duration, String> {
    let pace = units::parse_duration(text).map(Duration::from_nanos);
    pace.filter(|time| (Duration::from_millis(100)..=Duration::from_secs(3_600)).contains(time))
        .ok_or_else(|| "a time from 100ms to 1h".to_owned())
}

/// By its name in JSON, on screens or of its page: `long_poll`, `long poll`, `long-poll`.
fn pitfall(text: String) -> Result<Pitfall, String> {
    let id = text.replace([' ', '-'], "_").to_lowercase();
    Pitfall::from_id(&id).ok_or_else(|| {
        let all: Vec<&str> = Pitfall::ALL.iter().map(|known| known.id()).collect();
        format!("no such alert; there are {}", all.join(", "))
    })
}
