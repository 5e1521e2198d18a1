//! `top` without a terminal: one snapshot as plain text, without colour or bars, with names in
//! full.

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::column::{self, Column, Context, Style, Unit};
use turbowish_model::snapshot::report;
use turbowish_model::snapshot::text_table::{TextTable, aligned};
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Accounting, ProcRow, Snapshot, Table};

use crate::footer::{counted, window};
use crate::text::printed;

/// Width of the text where none is given, in columns.
pub(crate) const COLUMNS: usize = 100;

/// The columns as printed, and the order in which they are omitted when space is short (0: never).
const CHOICE: [(&str, u8); 10] = [
    ("proc", 0),
    ("run", 0),
    ("incl", 2),
    ("calls", 0),
    ("run_p50", 0),
    ("run_p99", 0),
    ("hold_p50", 1),
    ("hold_p99", 0),
    ("longest", 0),
    ("where", 3),
];

/// The query for [`text`]: procs of the window.
pub(crate) fn query(window_ns: Option<u64>, rows: Rows) -> Query {
    Query {
        window_ns,
        procs: Some(rows),
        ..Query::default()
    }
}

/// The columns to use: `COLUMNS`, else [`COLUMNS`].
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok();
    asked
        .and_then(|text| text.parse().ok())
        .filter(|columns| *columns > 0)
        .unwrap_or(COLUMNS)
}

/// The snapshot as text, at most `width` wide where names allow it. `sort` is the key of the
/// column by which the rows are sorted, empty for the table's own order.
pub(crate) fn text(snapshot: &Snapshot, sort: &str, width: usize) -> String {
    let mut lines = vec![
        process(snapshot),
        polls(snapshot),
        tasks(snapshot),
        alerts(snapshot),
        String::new(),
    ];
    if snapshot.procs.total == 0 {
        lines.push("No function is annotated, or none has run: occupancy is unknown.".to_owned());
        lines.push("Do: write #[turbowish::instrument] on an async fn.".to_owned());
    } else {
        lines.extend(table(snapshot, width));
        lines.push(footer(snapshot, sort));
    }
    lines.push(String::new());
    printed(&lines)
}

/// `kv pid 4242, up 12m31s, armed, window 10 s, 2026-11-20 17:04:31`
fn process(snapshot: &Snapshot) -> String {
    let process = &snapshot.process;
    let accounting = match process.accounting {
        Accounting::Armed => "armed".to_owned(),
        Accounting::Disarmed => {
            format!("DISARMED since {}", local(process.accounting_since_unix_ns))
        }
    };
    format!(
        "{} pid {}, up {}, {accounting}, {}, {}",
        process.name,
        process.pid,
        units::duration(process.uptime_ns, Micro::Unicode),
        window(snapshot),
        local(snapshot.at_unix_ns),
    )
}

/// Local time minus UTC, in seconds.
pub(crate) fn utc_offset_s() -> i64 {
    i64::from(jiff::Zoned::now().offset().seconds())
}

/// A wall-clock time in the local time zone: `2026-11-20 17:04:31`.
pub(crate) fn local(unix_ns: u64) -> String {
    jiff::Timestamp::from_nanosecond(unix_ns.into()).map_or_else(
        |_| units::UNKNOWN.to_owned(),
        |time| {
            time.to_zoned(jiff::tz::TimeZone::system())
                .strftime("%Y-%m-%d %H:%M:%S")
                .to_string()
        },
    )
}

/// The same without the day: `17:04:31`.
pub(crate) fn clock(unix_ns: u64) -> String {
    let local = local(unix_ns);
    let clock = local.split_once(' ').map(|(_, clock)| clock.to_owned());
    clock.unwrap_or(local)
}

/// The same with milliseconds: `17:04:31.207`.
pub(crate) fn clock_ms(unix_ns: u64) -> String {
    format!("{}.{:03}", clock(unix_ns), unix_ns / 1_000_000 % 1_000)
}

/// `in polls 227.4% of 400% (w0 61.2 w1 58.7), covered 55 of 57 tasks, lost 0`
fn polls(snapshot: &Snapshot) -> String {
    let share = |busy| units::share(units::ppb(busy, snapshot.window_ns));
    let workers = snapshot.workers.iter().enumerate();
    let each: Vec<String> = workers
        .map(|(at, worker)| format!("w{at} {}", share(worker.busy_ns)))
        .collect();
    let each = if each.is_empty() {
        String::new()
    } else {
        format!(" ({})", each.join(" "))
    };
    let all = snapshot
        .process
        .runtime_tasks
        .map_or(units::UNKNOWN.to_owned(), |n| n.to_string());
    let unpolled = match report::unpolled(snapshot) {
        0 => String::new(),
        n => format!(" (up to {n} not polled since accounting was switched on)"),
    };
    format!(
        "{}{each}, covered {} of {all} tasks{unpolled}, {}",
        report::in_polls(snapshot),
        report::covered(snapshot),
        report::lost_in_full(snapshot),
    )
}

/// `tasks 55: polling 2, ready 3, waiting 50; overhead ~1.4%`
fn tasks(snapshot: &Snapshot) -> String {
    let states = &snapshot.tasks_by_state;
    let ready = states
        .ready
        .map_or_else(String::new, |n| format!("ready {n}, "));
    let paused = match states.paused {
        0 => String::new(),
        n => format!(", paused {n}"),
    };
    let cost = report::own_cost(snapshot).map_or_else(String::new, |cost| format!("; {cost}"));
    format!(
        "tasks {}: polling {}, {ready}waiting {}{paused}{cost}",
        report::covered(snapshot),
        states.polling,
        states.waiting
    )
}

/// `1 alert, 1 resolved; deadlock 41.2 s+: there, back wait in a cycle (turbowish explain
/// deadlock)`
fn alerts(snapshot: &Snapshot) -> String {
    let alerts = &snapshot.alerts.rows;
    let looks = snapshot.process.accounting == Accounting::Armed;
    let mut counts = column::severity_counts(alerts);
    if counts.is_empty() {
        counts = if looks { "no alerts" } else { "alerts unknown" }.to_owned();
    }
    match alerts.iter().filter(|alert| alert.is_over()).count() {
        0 => {}
        resolved => counts += &format!(", {resolved} resolved"),
    }
    let Some(first) = column::headline(alerts) else {
        return counts;
    };
    let sentence = first.sentence(snapshot.at_unix_ns, Micro::Unicode);
    format!("{counts}; {sentence} ({})", first.pitfall.docs())
}

fn table(snapshot: &Snapshot, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // Places are shortened first, then columns are omitted one by one; names are never cut.
    for (dropped, places) in [
        (0, whole as Shorten),
        (0, short),
        (1, short),
        (2, short),
        (3, short),
    ] {
        lines = text_table(snapshot, dropped, places).lines();
        if lines.iter().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    lines
}

type Shorten = fn(String) -> String;

fn whole(place: String) -> String {
    place
}

/// `..src/conn.rs:88`, shortened from a longer path.
fn short(place: String) -> String {
    match place.rmatch_indices('/').nth(1) {
        Some((at, _)) => format!("..{}", &place[at + 1..]),
        None => place,
    }
}

fn text_table(snapshot: &Snapshot, dropped: u8, places: Shorten) -> TextTable {
    let context = Context::of(snapshot);
    let columns: Vec<Column<ProcRow>> = CHOICE
        .iter()
        .filter(|(_, goes)| *goes == 0 || *goes > dropped)
        .filter_map(|(key, _)| column::find(key))
        .collect();
    let rows = &snapshot.procs.rows;
    let cells = |row| {
        columns.iter().map(move |column| {
            let text = aligned(column, row, &context, Style::default());
            if column.unit == Unit::Place {
                places(text)
            } else {
                text
            }
        })
    };
    let mut text_table = TextTable::of::<ProcRow>(&columns, &[], &context, Style::default());
    rows.iter()
        .for_each(|row| text_table.push(cells(row).collect()));
    text_table
}

/// `6 of 17 procs, sorted by RUN%; all: turbowish query procs`
fn footer(snapshot: &Snapshot, sort: &str) -> String {
    let page = &snapshot.procs;
    let sorted = column::find::<ProcRow>(if sort.is_empty() { "run" } else { sort });
    let sorted = sorted.map_or_else(
        || "worst first".to_owned(),
        |column| format!("sorted by {}", column.title),
    );
    let all = if page.rows.len() as u64 == page.total {
        ""
    } else {
        "; all: turbowish query procs"
    };
    let procs = counted(Table::Procs.name(), page.total);
    format!(
        "{} of {} {procs}, {sorted}{all}",
        page.rows.len(),
        page.total
    )
}
