//! A task that is suspended inside a macro is shown there, and not at the await point that it passed before.
#![cfg(feature = "enabled")]

mod program;

use program::{Left, Program};
use serde_json::Value;

const SOURCE: &str = include_str!("../examples/hidden-awaits.rs");

/// The first and the last line of what begins with `first` and goes to the end of `last`.
fn lines(first: &str, last: &str) -> (usize, usize) {
    let begin = SOURCE.find(first).expect("the example");
    let end = begin + SOURCE[begin..].find(last).expect("the example") + last.len() - 1;
    let line = |at: usize| SOURCE[..at].matches('\n').count() + 1;
    (line(begin), line(end))
}

#[track_caller]
fn check(left: &Left, proc: &str, expr: &str, (line, end_line): (usize, usize)) {
    let path = format!("hidden_awaits::stuck::{proc}");
    let report = left.report.as_ref().expect("a report");
    let rows = |table: &str| report[table].as_array().expect("a table").clone();
    let stacks: Vec<Value> = rows("tasks")
        .iter()
        .map(|task| task["stack"].clone())
        .filter(|stack| stack[0]["proc"] == path.as_str())
        .collect();
    assert_eq!(stacks.len(), 1, "{report}");
    let place = &stacks[0][0];
    assert_eq!(place["expr"], expr, "{place}");
    assert_eq!(
        (&place["line"], &place["end_line"]),
        (&line.into(), &end_line.into()),
        "{place}"
    );
    let waiting: Vec<Value> = rows("awaits")
        .into_iter()
        .filter(|row| row["proc"] == path.as_str() && row["now"] != 0)
        .collect();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(
        (&waiting[0]["expr"], &waiting[0]["line"]),
        (&expr.into(), &line.into())
    );
}

#[test]
fn a_task_stands_in_the_macro_that_hides_its_await() {
    let left = Program::example("hidden-awaits", &[]).run();
    assert!(left.status.success(), "{}", left.stderr);
    for (proc, expr, first, last) in [
        (
            "in_select",
            "tokio::select! {..}",
            "tokio::select!",
            "\n        }",
        ),
        ("in_join", "tokio::join!(..)", "tokio::join!", ";"),
        ("in_own", "twice!(..)", "twice!(", ","),
        ("in_assert", "assert!(..)", "assert!", ";"),
        ("in_condition", "matches!(..)", "matches!", "{"),
    ] {
        check(&left, proc, expr, lines(first, last));
    }
}
