//! `turbowish check`: conditions on a process or a report, with the verdict as the exit code. A
//! value that was not measured never passes silently.

mod alerts;
mod json;
mod limit;
mod text;

pub(crate) use self::json::{integer, unit};

use std::time::Duration;

use tokio::time::{Instant, sleep};
use turbowish_model::query::{Query, RECORDED_WINDOW_NS, Rows};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Accounting, Snapshot, Table};
use turbowish_wire::client::{Connection, Target};

use self::alerts::NoAlerts;
use self::limit::Limit;
use crate::args::{CheckArgs, ReportFormat, Window};
use crate::failure::{Failure, note, print};
use crate::recording::{is_of_a_window, is_recording};
use crate::report_file::Saved;
use crate::source;

/// Interval between two samples of `--for` and `--within`.
const PACE: Duration = Duration::from_secs(1);

/// The only window of a recording.
const RECORDED_WINDOW: Window = Window(Some(RECORDED_WINDOW_NS));

/// All conditions, and their state.
struct Checks {
    limits: Vec<Box<dyn Limit>>,
    alerts: Option<NoAlerts>,
}

/// Runs the command.
///
/// # Errors
/// A mistake on the command line, no answer, or a violated condition.
pub(crate) fn run(args: &CheckArgs, token: Option<&str>) -> Result<(), Failure> {
    let mut checks = Checks::of(args)?;
    let seen = if let Some(file) = file(args)? {
        let saved = Saved::read(file, args.at.moment)?;
        checks.are_in(&saved)?;
        checks.look(&saved.snapshot, true);
        saved.snapshot
    } else {
        let target = source::target(args.target.as_deref(), token)?;
        source::runtime()?.block_on(looks(args, target.as_ref(), &mut checks))?
    };
    print(&match args.format {
        ReportFormat::Text => text::report(&checks),
        ReportFormat::Json => json::report(&checks, &seen),
    })?;
    if checks.hold() {
        Ok(())
    } else {
        Err(Failure::Found)
    }
}

/// The file that is checked, if it is not a process.
fn file(args: &CheckArgs) -> Result<Option<&str>, Failure> {
    let recorded = args.target.as_deref().filter(|text| is_recording(text));
    let once = (args.during, args.within, args.window) == (None, None, RECORDED_WINDOW);
    match (args.from.as_deref(), recorded) {
        (None, Some(name)) if !once => Err(Failure::usage(format!(
            "{name} is a recording: one state is checked, with sums of 10 s; leave out --for, --within and --window"
        ))),
        (None, None) if args.at.moment.is_some() => Err(Failure::usage(
            "--at is an instant of a recording: name its file (FILE.tw, or --from FILE)",
        )),
        (from, recorded) => Ok(from.or(recorded)),
    }
}

impl Checks {
    fn of(args: &CheckArgs) -> Result<Self, Failure> {
        let limits = args.max.iter().map(|text| limit::parse(text, &args.filter));
        let limits: Vec<Box<dyn Limit>> = limits.collect::<Result<_, _>>()?;
        let alerts = NoAlerts::of(args, limits.is_empty());
        if limits.is_empty() && !args.filter.is_empty() {
            return Err(Failure::usage(
                "--filter selects the rows of a limit, and no limit is given: --max 'procs.hold_p99 < 10ms'",
            ));
        }
        Ok(Self { limits, alerts })
    }

    /// Rows of the required tables, those that violate a limit first.
    fn query(&self, window: Window, filter: &str) -> Query {
        let mut query = Query {
            window_ns: window.0,
            ..Query::default()
        };
        for limit in &self.limits {
            let (sort, invert) = limit.worst_first();
            let rows = Rows {
                filter: filter.to_owned(),
                sort,
                invert,
                limit: 0,
                ..Rows::default()
            };
            // Alerts are sent without a request, and a request would restrict them to the
            // requested ones.
            if limit.table() != Table::Alerts {
                query.rows_mut(limit.table()).get_or_insert(rows);
            }
        }
        query
    }

    /// Checks a snapshot; sums only if their window is full.
    fn look(&mut self, snapshot: &Snapshot, full: bool) {
        for limit in &mut self.limits {
            if full || !is_of_a_window(limit.table()) {
                limit.look(snapshot);
            }
        }
        if let Some(alerts) = &mut self.alerts {
            alerts.look(snapshot);
        }
    }

    fn forget(&mut self) {
        self.limits.iter_mut().for_each(|limit| limit.forget());
        if let Some(alerts) = &mut self.alerts {
            alerts.seen.clear();
        }
    }

    fn hold(&self) -> bool {
        self.limits.iter().all(|limit| limit.outcome().holds())
            && self.alerts.as_ref().is_none_or(|it| it.seen.is_empty())
    }

    /// Checks that a file has all required fields.
    fn are_in(&self, saved: &Saved) -> Result<(), Failure> {
        let limits = self.limits.iter().map(|limit| limit.is_in(saved));
        limits.collect::<Result<(), _>>()?;
        match &self.alerts {
            Some(_) => limit::has::<turbowish_model::snapshot::alert::Alert>(saved),
            None => Ok(()),
        }
    }
}

/// Takes the requested number of samples; returns the last snapshot.
async fn looks(
    args: &CheckArgs,
    target: Option<&Target>,
    checks: &mut Checks,
) -> Result<Snapshot, Failure> {
    match (args.during, args.within) {
        (Some(long), _) => look_for(args, target, checks, long).await,
        (None, Some(long)) => look_within(args, target, checks, long).await,
        (None, None) => look_once(args, target, checks).await,
    }
}

async fn look_once(
    args: &CheckArgs,
    target: Option<&Target>,
    checks: &mut Checks,
) -> Result<Snapshot, Failure> {
    let connection = source::connect(target, source::PATIENCE).await?;
    let query = checks.query(args.window, &args.filter);
    let mut snapshot = armed(&connection, &query).await?;
    let of_a_window = checks
        .limits
        .iter()
        .any(|limit| is_of_a_window(limit.table()));
    if let Some(rest) = missing(&snapshot, args.window).filter(|_| of_a_window) {
        let length = |ns| units::duration(ns, Micro::Unicode);
        note(&format!(
            "waiting {} until the window of {} is full",
            length(rest),
            length(rest + snapshot.window_ns)
        ));
        sleep(Duration::from_nanos(rest)).await;
        snapshot = armed(&connection, &query).await?;
    }
    checks.look(&snapshot, true);
    Ok(snapshot)
}

/// The part of the window that a recently started process still lacks, in nanoseconds.
fn missing(snapshot: &Snapshot, window: Window) -> Option<u64> {
    let rest = window.0?.checked_sub(snapshot.window_ns)?;
    // Windows end with ticks, and are slightly shorter or longer than requested.
    let slack = snapshot.window_ns / 20;
    (snapshot.since_start && rest > slack).then_some(rest)
}

/// Checks for a period. All data considered are from after the start of the command.
async fn look_for(
    args: &CheckArgs,
    target: Option<&Target>,
    checks: &mut Checks,
    long: Duration,
) -> Result<Snapshot, Failure> {
    let connection = source::connect(target, source::PATIENCE).await?;
    let window = args.window.0.map(|ns| long.min(Duration::from_nanos(ns)));
    let query = {
        let ns = window.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        checks.query(Window(ns), &args.filter)
    };
    let begin = Instant::now();
    loop {
        let passed = begin.elapsed();
        let snapshot = armed(&connection, &query).await?;
        checks.look(&snapshot, passed >= window.unwrap_or_default());
        if passed >= long {
            return Ok(snapshot);
        }
        sleep(PACE.min(long - passed)).await;
    }
}

/// Checks until the conditions hold. Only the last sample counts.
async fn look_within(
    args: &CheckArgs,
    target: Option<&Target>,
    checks: &mut Checks,
    long: Duration,
) -> Result<Snapshot, Failure> {
    let query = checks.query(args.window, &args.filter);
    let begin = Instant::now();
    loop {
        let passed = begin.elapsed();
        checks.forget();
        let snapshot = match source::connect(target, source::PATIENCE).await {
            Ok(connection) => armed(&connection, &query).await,
            Err(failure) => Err(failure),
        };
        match snapshot {
            Ok(snapshot) => {
                checks.look(&snapshot, true);
                if checks.hold() || passed >= long {
                    return Ok(snapshot);
                }
            }
            Err(Failure::Target(_)) if passed < long => {}
            Err(failure) => return Err(failure),
        }
        sleep(PACE.min(long - passed)).await;
    }
}

/// A snapshot of an armed process: a disarmed one can neither pass nor fail.
async fn armed(connection: &Connection, query: &Query) -> Result<Snapshot, Failure> {
    let snapshot = connection.snapshot(query).await?;
    match snapshot.process.accounting {
        Accounting::Armed => Ok(snapshot),
        Accounting::Disarmed => {
            let why = source::disarmed(&snapshot).unwrap_or_default();
            Err(Failure::Target(format!("nothing can be checked: {why}")))
        }
    }
}
