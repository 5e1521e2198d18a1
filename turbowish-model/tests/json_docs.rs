//! docs/json.md describes every field that is printed, and no other.

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{AwaitRow, CounterRow, ProcRow, ResourceRow, TaskRow};

const DOCS: &str = include_str!("../../docs/json.md");

fn check<R: Record>() {
    let heading = format!("\n## `{}`\n", R::TABLE);
    let section = DOCS.split(&heading).nth(1).expect("a section of the table");
    let section = section.split("\n## ").next().expect("its text");
    let documented: Vec<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let printed: Vec<&str> = R::fields().iter().map(|field| field.name).collect();
    assert_eq!(documented, printed, "{}", R::TABLE);
}

#[test]
fn the_page_lists_the_fields_in_their_order() {
    check::<ProcRow>();
    check::<TaskRow>();
    check::<ResourceRow>();
    check::<AwaitRow>();
    check::<Alert>();
    check::<CounterRow>();
}
