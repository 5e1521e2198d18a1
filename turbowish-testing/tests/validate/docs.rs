//! The page about the validator lists every rule, as the table has it.

use std::path::Path;

use turbowish_testing::validate::RULES;

#[test]
fn the_page_lists_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/validator.md");
    let page = std::fs::read_to_string(path).expect("docs/validator.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 4)
        .collect();
    let told: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.rsplit_once(" | ").map(|(begin, _)| begin))
        .collect();
    let expected: Vec<String> = RULES
        .iter()
        .map(|row| format!("| `{}` | {}", row.id, row.text))
        .collect();
    assert_eq!(told, expected);
}
