//! The slowest calls of a proc: where their time went, in a sentence and a table.

use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::report::one_line;
use turbowish_model::snapshot::slowest::{AWAIT, NOT_RECORDED};
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Place, ProcRow, SlowestRow};

use super::DetailContext;
use super::rich_line::{RichLine, aligned, shrink};

/// Parts that are shown, the largest first.
const SHOWN: usize = 6;
/// Of so many millionths of the time a part is shown.
const LEAST_PPM: u64 = 500;

fn parts<'a>(row: &ProcRow, beside: &DetailContext<'a>) -> Vec<&'a SlowestRow> {
    let own = beside.slowest.iter().filter(|part| part.proc == row.proc);
    let mut parts: Vec<&SlowestRow> = own.collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.time_ns));
    parts
}

/// `slowest 13 of 1084 calls, 1.25 s or longer: 98.2% at db.rs:41:9-33 self.db.lock()`
pub(super) fn sentence(row: &ProcRow, beside: &DetailContext<'_>) -> Option<RichLine> {
    let parts = parts(row, beside);
    let most = parts.first()?;
    let mut text = format!(
        " {} of {} calls, {} or longer: ",
        units::count(most.calls),
        units::count(most.ended),
        beside.time(most.from_ns)
    );
    if most.recorded < most.calls {
        let recorded = units::count(most.recorded);
        text = format!("{text}{recorded} recorded, ");
    }
    if most.recorded > 0 {
        let share = units::share(most.share_ppm.saturating_mul(1_000));
        let at = match most.part.as_str() {
            AWAIT => format!("at {} {}", short(&most.place), expression(most)),
            NOT_RECORDED => format!("{NOT_RECORDED}, {}", most.why_not_recorded()),
            part => part.to_owned(),
        };
        text = format!("{text}{share}% {at}");
    } else {
        text += &of_all(row, beside);
    }
    Some(RichLine::default().label("  slowest").say(text))
}

/// Of no slowest call it is known where it was: where all calls waited most, and the table that
/// tells it.
fn of_all(row: &ProcRow, beside: &DetailContext<'_>) -> String {
    let own = beside.awaits.iter().filter(|point| point.proc == row.proc);
    let waits = own.filter(|point| point.waited_ns > 0);
    let most = waits.max_by_key(|point| (point.idle.is_empty(), point.waited_ns));
    most.map_or_else(
        || "no await is known at which its calls waited".to_owned(),
        |most| {
            let share = units::share(most.share_ppm.saturating_mul(1_000));
            let at = short(&most.place);
            let expr = one_line(&most.place.expr);
            format!("all calls waited {share}% at {at} {expr}, see AWAITS")
        },
    )
}

/// `db.rs:41`: the table below has the folders and columns.
fn short(place: &Place) -> String {
    let name = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{name}:{}", place.line)
}

fn expression(part: &SlowestRow) -> String {
    match part.part.as_str() {
        NOT_RECORDED => part.why_not_recorded().to_owned(),
        _ => one_line(&part.place.expr).to_string(),
    }
}

/// What the slowest calls did, and what all calls did.
pub(super) fn table(row: &ProcRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let parts = parts(row, beside);
    let mut shown = parts
        .into_iter()
        .filter(|part| part.recorded > 0 && part.share_ppm >= LEAST_PPM)
        .peekable();
    if shown.peek().is_none() {
        return Vec::new();
    }
    let titles = [
        "  SLOWEST CALLS",
        "EXPRESSION",
        "TIME",
        "%",
        "ALL%",
        "WAITS",
        "WAIT p50",
    ];
    let mut rows = vec![
        titles
            .map(|title| RichLine::default().label(title))
            .to_vec(),
    ];
    rows.extend(shown.take(SHOWN).map(|part| cells(part, beside)));
    if let Some(room) = beside.room {
        shrink(&mut rows, 1, room);
    }
    aligned(rows, &[2, 3, 4, 5, 6])
}

fn cells(part: &SlowestRow, beside: &DetailContext<'_>) -> Vec<RichLine> {
    let share = |ppm: u64| units::share(ppm.saturating_mul(1_000));
    let at = match part.part.as_str() {
        AWAIT => beside.place(&part.place),
        part => part.to_owned(),
    };
    let all = part
        .all_ppm
        .map_or_else(|| units::UNKNOWN.to_owned(), share);
    // How many waits of all calls there were, and what a call that waits there usually waits.
    let mut points = beside.awaits.iter();
    let point = points.find(|point| point.proc == part.proc && point.place == part.place);
    let waits = point.map(|point| point.await_wait.n);
    let usual = point.and_then(|point| point.await_wait.percentile(Percentile::whole(50)));
    vec![
        format!("  {at}").into(),
        expression(part).into(),
        beside.time(part.time_ns).into(),
        share(part.share_ppm).into(),
        all.into(),
        waits
            .map_or_else(|| units::NO_SAMPLE.to_owned(), units::count)
            .into(),
        usual
            .map_or_else(|| units::NO_SAMPLE.to_owned(), |ns| beside.time(ns))
            .into(),
    ]
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::AwaitRow;
    use turbowish_model::snapshot::slowest::RUNNING;

    use super::*;

    const MS: u64 = 1_000_000;

    fn part(part: &str, line: u32, time_ms: u64, recorded: u64) -> SlowestRow {
        let place = Place {
            file: String::from(if line > 0 { "src/db.rs" } else { "" }),
            line,
            column: 9,
            end_line: line,
            end_column: 33,
            expr: String::from(if line > 0 { "self.db.lock()" } else { "" }),
        };
        SlowestRow {
            proc: "kv::handle".to_owned(),
            part: part.to_owned(),
            place,
            time_ns: time_ms * MS,
            share_ppm: time_ms * 100,
            all_ppm: (line > 0).then_some(412_000),
            wall_ns: 10_000 * MS,
            recorded,
            calls: 13,
            ended: 1_084,
            from_ns: 1_250 * MS,
        }
    }

    fn lines(rows: &[SlowestRow]) -> Vec<String> {
        let row = ProcRow {
            proc: "kv::handle".to_owned(),
            ..ProcRow::default()
        };
        let beside = DetailContext {
            slowest: rows,
            ..DetailContext::default()
        };
        let all = sentence(&row, &beside).into_iter();
        let all = all.chain(table(&row, &beside));
        all.map(|line| line.text().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_sentence_names_the_largest_part_and_what_is_missing() {
        let rows = [
            part(RUNNING, 0, 120, 13),
            part(AWAIT, 41, 9_830, 13),
            part(NOT_RECORDED, 0, 50, 13),
            part("ready", 0, 1, 13),
        ];
        let expected = [
            "  slowest 13 of 1084 calls, 1.25 s or longer: 98.3% at db.rs:41 self.db.lock()",
            "  SLOWEST CALLS     EXPRESSION                TIME    % ALL% WAITS WAIT p50",
            "  src/db.rs:41:9-33 self.db.lock()          9.83 s 98.3 41.2     -        -",
            "  running                                    120ms  1.2    ?     -        -",
            "  not recorded      calls not followed then 50.0ms  0.5    ?     -        -",
        ];
        assert_eq!(lines(&rows), expected);
    }

    #[test]
    fn calls_that_were_not_recorded_are_said_to_be() {
        let some = lines(&[part(AWAIT, 41, 10_000, 2)]);
        assert!(
            some[0].contains("longer: 2 recorded, 100.0% at "),
            "{some:?}"
        );
        let mut lost = part(NOT_RECORDED, 0, 9_000, 13);
        lost.place.expr = "no room for 12 calls".to_owned();
        let lost = lines(&[lost]);
        assert!(
            lost[0].ends_with("90.0% not recorded, no room for 12 calls"),
            "{lost:?}"
        );
        assert!(
            lost[2].contains("  not recorded  no room for 12 calls "),
            "{lost:?}"
        );
        let none = lines(&[part(NOT_RECORDED, 0, 0, 0)]);
        let slowest = "  slowest 13 of 1084 calls, 1.25 s or longer: 0 recorded, ";
        let expected = format!("{slowest}no await is known at which its calls waited");
        assert_eq!(none, [expected]);
        assert!(lines(&[]).is_empty());
    }

    /// Then the awaits of all calls have the answer.
    #[test]
    fn of_calls_that_were_not_recorded_the_awaits_are_told() {
        let point = |line: u32, waited_ms: u64, share_ppm: u64| AwaitRow {
            proc: "kv::handle".to_owned(),
            place: part(AWAIT, line, 0, 0).place,
            waited_ns: waited_ms * MS,
            share_ppm,
            ..AwaitRow::default()
        };
        let other = AwaitRow {
            proc: "kv::other".to_owned(),
            ..point(7, 9_000, 1_000_000)
        };
        let row = ProcRow {
            proc: "kv::handle".to_owned(),
            ..ProcRow::default()
        };
        let beside = DetailContext {
            slowest: &[part(NOT_RECORDED, 0, 0, 0)],
            awaits: &[other, point(41, 4_120, 912_000), point(47, 400, 88_000)],
            ..DetailContext::default()
        };
        let told = sentence(&row, &beside).expect("a sentence").text();
        assert!(
            told.ends_with(
                "0 recorded, all calls waited 91.2% at db.rs:41 self.db.lock(), see AWAITS"
            ),
            "{told}"
        );
    }
}
