//! The view of counters, and its tab.

use turbowish_model::snapshot::{CounterRow, MetricKind, Page, Snapshot, Spot};

use super::fixture::{arrives, attached, kv, press, screen, until};
use super::screens::{LARGE, MIDDLE, SMALL, check};
use crate::tui::state::{State, View};

/// A server that counts, and that knows how many clients it has.
fn counting() -> Snapshot {
    let row = |name: &str, proc: Option<&str>, line| CounterRow {
        name: name.to_owned(),
        proc: proc.map(str::to_owned),
        at: Spot {
            file: "src/conn.rs".to_owned(),
            line,
            column: 9,
        },
        ..CounterRow::default()
    };
    let rows = vec![
        CounterRow {
            kind: MetricKind::Counter,
            updates: 824_000,
            added: Some(824_000),
            total: Some(61_900_000),
            ..row("commands", Some("kv::conn::serve"), 73)
        },
        CounterRow {
            kind: MetricKind::Gauge,
            updates: 16,
            value: Some(50),
            min: Some(0),
            max: Some(64),
            ..row("clients", None, 160)
        },
    ];
    let total = rows.len() as u64;
    Snapshot {
        counters: Page {
            rows,
            total,
            matched: total,
        },
        ..kv()
    }
}

fn console(size: (u16, u16)) -> State {
    let mut state = attached(size);
    until(&mut state, 1);
    arrives(&mut state, counting());
    state
}

#[test]
fn counters_have_a_view() {
    for size in [SMALL, MIDDLE, LARGE] {
        let mut state = console(size);
        press(&mut state, "6");
        check("counters", &state);
    }
}

#[test]
fn only_a_program_that_counts_has_the_tab() {
    let mut state = attached(SMALL);
    assert!(!screen(&state).contains("6 Counters"));
    press(&mut state, "5 Tab");
    assert_eq!(state.view, View::Procs);
    press(&mut state, "S-Tab");
    assert_eq!(state.view, View::Alerts);
    press(&mut state, "6");
    let shown = screen(&state);
    assert!(shown.contains("no counter or gauge was used"), "{shown}");
    let mut state = console(SMALL);
    press(&mut state, "5 Tab");
    assert_eq!(state.view, View::Counters);
}

#[test]
fn a_counter_leads_to_its_function_if_it_has_one() {
    let opened = |keys: &str| {
        let mut state = console(SMALL);
        press(&mut state, keys);
        state.record.is_some()
    };
    assert!(opened("6 Enter"));
    assert!(!opened("6 j Enter"));
    let mut state = console(SMALL);
    press(&mut state, "6 / c l i Enter");
    assert!(screen(&state).contains("clients  gauge  src/conn.rs:160:9  outside any"));
}
