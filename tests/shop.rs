//! The shop with known trouble: it does what its page says, for as long as it is asked to.
#![cfg(all(feature = "server", feature = "tokio"))]

mod program;

use program::Program;

#[test]
fn it_serves_and_leaves_tasks_behind() {
    let left = Program::example("shop", &["3"]).run();
    assert!(left.status.success(), "{}", left.stderr);
    assert!(left.stderr.contains(" queries"), "{}", left.stderr);
    let calls = |proc: &str, field: &str| {
        let row = left.proc(&format!("shop::requests::{proc}"));
        row[field]
            .as_u64()
            .unwrap_or_else(|| panic!("{field} of {row}"))
    };
    let handled = calls("handle", "calls");
    assert!(handled >= 40, "{handled}");
    // A price is watched for each fortieth request, and no such call has returned.
    assert!(calls("watch_price", "calls") > handled / 80);
    assert_eq!(calls("watch_price", "ready"), 0);
}

#[test]
fn a_wrong_time_is_refused() {
    let left = Program::example("shop", &["soon"]).run();
    assert_eq!(left.status.code(), Some(2));
    assert!(left.stderr.contains("Usage: shop [SECONDS]"));
}
