//! A task that is suspended among the arguments of a macro is shown at the await that it passed
//! last, or at the macro.
#![cfg(feature = "enabled")]

mod program;

use program::{Left, Program};
use serde_json::Value;

const SOURCE: &str = include_str!("../examples/hidden-awaits.rs");

/// Line and column, from 1, of the first and of the last character of `text`, which stands inside
/// `function`.
fn ends(function: &str, text: &str) -> [usize; 4] {
    let inside = SOURCE
        .find(&format!("fn {function}("))
        .expect("the example");
    let begin = inside + SOURCE[inside..].find(text).expect("the example");
    let place = |at: usize| {
        let line = SOURCE[..at].matches('\n').count() + 1;
        (line, at - SOURCE[..at].rfind('\n').expect("a line"))
    };
    let ((line, column), (end_line, end_column)) = (place(begin), place(begin + text.len() - 1));
    [line, column, end_line, end_column]
}

/// The task of `function` stands in its `depth`th proc at `text`, which is shown as `expr`.
#[track_caller]
fn check(left: &Left, function: &str, (depth, text, expr): (usize, &str, &str)) {
    let path = format!("hidden_awaits::{function}");
    let function = function.rsplit("::").next().expect("a name");
    let report = left.report.as_ref().expect("a report");
    let rows = |table: &str| report[table].as_array().expect("a table").clone();
    let stacks: Vec<Value> = rows("tasks")
        .iter()
        .map(|task| task["stack"].clone())
        .filter(|stack| stack[0]["proc"] == path.as_str())
        .collect();
    assert_eq!(stacks.len(), 1, "{report}");
    let place = &stacks[0][depth];
    assert_eq!(place["expr"], expr, "{place}");
    let found = ["line", "column", "end_line", "end_column"].map(|key| place[key].clone());
    assert_eq!(found, ends(function, text).map(Value::from), "{place}");
    let waiting: Vec<Value> = rows("awaits")
        .into_iter()
        .filter(|row| row["proc"] == place["proc"] && row["now"] != 0)
        .collect();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(
        (&waiting[0]["expr"], &waiting[0]["line"]),
        (&expr.into(), &ends(function, text)[0].into())
    );
}

#[test]
fn a_task_stands_at_the_await_or_in_the_macro_that_hides_it() {
    let left = Program::example("hidden-awaits", &[]).run();
    assert!(left.status.success(), "{}", left.stderr);
    let hang = (0, "hang(&arrivals).await", "hang(&arrivals)");
    let second = "second(&mut times, &arrivals)";
    for (function, place) in [
        (
            "in_select",
            (
                0,
                "tokio::select! {
            _ = hang(&arrivals) => {}
            _ = std::future::pending::<()>() => {}
        }",
                "tokio::select! {..}",
            ),
        ),
        ("in_branch", hang),
        (
            "behind_branch",
            (
                0,
                "tokio::select! {
            _ = stands(&arrivals, number().await) => {}
        }",
                "tokio::select! {..}",
            ),
        ),
        ("in_arm", hang),
        (
            "in_join",
            (
                0,
                "tokio::join!(hang(&arrivals), earlier())",
                "tokio::join!(..)",
            ),
        ),
        ("in_own", (0, "twice!(hang(&arrivals))", "twice!(..)")),
        ("in_assert", hang),
        ("in_message", hang),
        ("in_format", hang),
        ("in_condition", (0, &format!("{second}.await"), second)),
        ("in_closure", (1, hang.1, hang.2)),
        ("above_tracing", hang),
    ] {
        check(&left, &format!("stuck::{function}"), place);
    }
    for (function, place) in [
        ("traced::above_tracing_too", hang),
        ("traced::below_tracing", hang),
    ] {
        check(&left, function, place);
    }
}
