//! docs/tables.md describes every field that is printed, and no other, and every column.

use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{Table, TableVisitor};

const DOCS: &str = include_str!("../../docs/tables.md");

fn described(line: &str) {
    assert!(
        DOCS.lines().any(|known| known == line),
        "docs/tables.md lacks:\n{line}\n"
    );
}

struct Documented;

impl TableVisitor for Documented {
    type Output = ();

    fn visit<R: Record>(self) {
        let heading = format!("\n### Fields of `{}`\n", R::TABLE);
        let section = DOCS.split(&heading).nth(1).expect("a section of the table");
        let section = section.split("\n## ").next().expect("its text");
        let documented: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        for column in R::columns().iter().filter(|column| !column.is_percentile()) {
            let (key, title, meaning) = (&column.key, &column.title, column.meaning);
            described(&format!("| `{key}` | {title} | {meaning} |"));
        }
        for family in R::families() {
            let (prefix, title, meaning) = (family.prefix, family.title, family.meaning);
            described(&format!("| `{prefix}_pN` | {title}pN | {meaning} |"));
        }
        let printed = R::field_names();
        assert_eq!(documented, printed, "{}", R::TABLE);
    }
}

#[test]
fn the_page_lists_columns_and_fields() {
    Table::ALL.iter().for_each(|table| table.visit(Documented));
}
