//! docs/json.md describes every field that is printed, and no other.

use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{Table, TableVisitor};

const DOCS: &str = include_str!("../../docs/json.md");

struct Documented;

impl TableVisitor for Documented {
    type Output = ();

    fn visit<R: Record>(self) {
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
}

#[test]
fn the_page_lists_the_fields_in_their_order() {
    Table::ALL.iter().for_each(|table| table.visit(Documented));
}
