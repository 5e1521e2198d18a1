//! The table of alerts and its pages say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use turbowish_model::diagnose::alert::{LIMITS, Limit, LimitRow, Measure, TABLE};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn row(limit: Limit) -> &'static LimitRow {
    &LIMITS[limit as usize]
}

fn line(row: &LimitRow) -> String {
    let default = row.default_text();
    format!("| `{}` | {default} | {} |", row.key, row.meaning)
}

#[test]
fn rows_stand_where_their_pitfalls_say() {
    for (at, row) in TABLE.iter().enumerate() {
        assert_eq!(row.pitfall as usize, at, "{}", row.pitfall.id());
        let page = row.pitfall.id().replace('_', "-");
        assert_eq!(row.pitfall.page(), page);
        assert_eq!(row.pitfall.docs(), format!("turbowish explain {page}"));
        assert!(
            !row.why.is_empty() && !row.fixes.is_empty() && !row.limits.is_empty(),
            "{}",
            row.pitfall.id()
        );
    }
    let ids: BTreeSet<&str> = TABLE.iter().map(|row| row.pitfall.id()).collect();
    assert_eq!(ids.len(), TABLE.len());
    let keys: BTreeSet<&str> = LIMITS.iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), LIMITS.len());
}

#[test]
fn each_alert_has_its_page() {
    let mut pages = BTreeSet::from(["README.md".to_owned()]);
    for alert in TABLE {
        let name = format!("{}.md", alert.pitfall.page());
        let path = root().join("docs/alerts").join(&name);
        let page = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut lines = page.lines();
        assert_eq!(
            lines.next(),
            Some(format!("# {}", alert.pitfall.title()).as_str())
        );
        let head: Vec<&str> = lines.skip(1).take_while(|line| !line.is_empty()).collect();
        let head = head.join(" ");
        assert!(
            head.starts_with(&format!(
                "`{}`, {}; ",
                alert.pitfall.id(),
                alert.severity.word()
            )),
            "{head}"
        );
        let stay = if alert.lingers { "`linger`" } else { "`clear`" };
        assert!(head.contains(stay), "{name}: {head}");
        if let Some(hold) = alert.hold {
            let hold = row(hold);
            let text = format!("raised after {} (`{}`)", hold.default_text(), hold.key);
            assert!(head.contains(&text), "{name}: {head}");
        }
        let headings: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("## "))
            .collect();
        let expected = [
            "## In the console",
            "## How to fix it",
            "## What the detector knows",
            "## Thresholds",
        ];
        assert_eq!(headings, expected, "{name}");
        let limits: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        let expected: Vec<String> = alert.limits.iter().map(|limit| line(row(*limit))).collect();
        assert_eq!(limits, expected, "{name}");
        pages.insert(name);
    }
    let folder = fs::read_dir(root().join("docs/alerts")).expect("the folder");
    let found: BTreeSet<String> = folder
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(found, pages);
}

#[test]
fn the_first_page_lists_all() {
    let page = fs::read_to_string(root().join("docs/alerts/README.md")).expect("the page");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ["))
        .collect();
    assert_eq!(rows.len(), TABLE.len());
    for (row, alert) in rows.iter().zip(TABLE) {
        let name = alert.pitfall.page();
        let begin = format!(
            "| [{}]({name}.md) | `{}` | {} | ",
            alert.pitfall.title(),
            alert.pitfall.id(),
            alert.severity.word()
        );
        assert!(row.starts_with(&begin), "{row}");
    }
    let limits: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let expected: Vec<String> = LIMITS.iter().map(line).collect();
    assert_eq!(limits, expected);
    // Each threshold is some alert's, or everybody's.
    let used: BTreeSet<Limit> = TABLE
        .iter()
        .flat_map(|row| row.limits.iter().copied())
        .collect();
    for row in LIMITS {
        assert!(used.contains(&row.limit), "{} is nobody's", row.key);
    }
}

#[test]
fn the_compiled_out_facade_has_the_same_limits() {
    let path = root().join("src/off/alert_limit.rs");
    let source = fs::read_to_string(&path).expect("the source");
    let (_, variants) = source.split_once("enum AlertLimit {").expect("the enum");
    let found: Vec<&str> = variants.lines().map(str::trim).collect();
    let expected: Vec<String> = LIMITS
        .iter()
        .flat_map(|row| {
            let value = match row.measure {
                Measure::Time => "Duration",
                Measure::Count => "u64",
                Measure::Percent => "Percent",
                Measure::Bytes => "Bytes",
            };
            [
                format!("/// `{}`", row.key),
                format!("{:?}({value}),", row.limit),
            ]
        })
        .collect();
    assert_eq!(found[1..found.len() - 1], expected);
}
