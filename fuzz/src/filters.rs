//! Filters and limits: any text is parsed or refused, and what is parsed can be asked about any
//! row.

use turbowish_model::query::{Budget, Condition, Filter, Query, Rows, Selection};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{Context, Row};
use turbowish_model::snapshot::{
    AwaitRow, CounterRow, ProcRow, ResourceRow, Snapshot, StackRow, TaskRow,
};

/// Parses the input as a filter and as a limit of every table, and applies it to rows.
pub fn filters(input: &[u8]) {
    let Ok(text) = core::str::from_utf8(input) else {
        return;
    };
    let snapshot = snapshot();
    of::<ProcRow>(text, &snapshot);
    of::<TaskRow>(text, &snapshot);
    of::<ResourceRow>(text, &snapshot);
    of::<AwaitRow>(text, &snapshot);
    of::<Alert>(text, &snapshot);
    of::<CounterRow>(text, &snapshot);
    whole(text, snapshot);
}

fn of<R: Row>(text: &str, snapshot: &Snapshot) {
    let context = Context::of(snapshot);
    if let Ok(filter) = Filter::<R>::parse(text) {
        for row in &R::page(snapshot).rows {
            let kept = filter.keeps(row, &context);
            assert_eq!(kept, filter.keeps(row, &context), "a filter has no memory");
            assert!(kept || !filter.keeps_all());
        }
    }
    if let Ok(condition) = Condition::<R>::parse(text) {
        for row in &R::page(snapshot).rows {
            let _ = condition.judge(row, &context);
        }
    }
}

/// The way of a query through the server: the filter, and the input's first line as the column to
/// sort by.
fn whole(text: &str, mut snapshot: Snapshot) {
    let rows = Rows {
        filter: text.to_owned(),
        sort: text.lines().next().unwrap_or_default().to_owned(),
        ..Rows::default()
    };
    let query = Query {
        procs: Some(rows.clone()),
        tasks: Some(rows),
        ..Query::default()
    };
    if let Ok(selection) = Selection::parse(&query) {
        let before = snapshot.procs.rows.len();
        let applied = selection.apply(&mut snapshot, &Budget::unlimited());
        assert_eq!(applied, Ok(()), "there is no limit");
        assert!(snapshot.procs.rows.len() <= before);
    }
}

fn snapshot() -> Snapshot {
    let mut snapshot = Snapshot {
        window_ns: 10_000_000_000,
        ..Snapshot::default()
    };
    let names = ["kv::conn::serve", "Überlänge ß", "", "a\u{1b}[31mb"];
    for (nth, name) in names.into_iter().enumerate() {
        let nth = nth as u64;
        snapshot.procs.rows.push(ProcRow {
            proc: name.to_owned(),
            file: "src/conn.rs".to_owned(),
            running_ns: nth << (nth * 20),
            ..ProcRow::default()
        });
        snapshot.tasks.rows.push(TaskRow {
            id: nth,
            name: name.to_owned(),
            stack: vec![StackRow::default(); usize::try_from(nth).unwrap_or_default()],
            ..TaskRow::default()
        });
        snapshot.resources.rows.push(ResourceRow {
            name: name.to_owned(),
            ..ResourceRow::default()
        });
        snapshot.awaits.rows.push(AwaitRow::default());
        snapshot.counters.rows.push(CounterRow::default());
    }
    snapshot
}
