//! Formatting of names, places and numbers in the texts of alerts.

use alloc::format;
use alloc::string::String;

use super::tense::marked;
use crate::account::resource::Role;
use crate::snapshot::Place;
use crate::snapshot::Spot;
use crate::snapshot::units::{self, Micro};

/// Replaces each `{name}` by its value; `None` if a name has no value. `[holds|held]` stands for
/// both forms of a word, see [`tense`](super::tense).
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
    let template = marked(template);
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = &*template;
    while let Some(open) = rest.find('{') {
        let close = open + rest[open..].find('}')?;
        let name = &rest[open + 1..close];
        let value = values.iter().find(|(key, _)| *key == name)?.1;
        text += &rest[..open];
        text += value;
        rest = &rest[close + 1..];
    }
    text += rest;
    Some(text)
}

pub(super) fn time(ns: u64) -> String {
    units::duration(ns, Micro::Unicode)
}

/// A threshold without trailing zeros: `10ms`.
pub(super) fn threshold(ns: u64) -> String {
    const MS: u64 = 1_000_000;
    if ns < units::SECOND && ns.is_multiple_of(MS) {
        format!("{}ms", ns / MS)
    } else {
        time(ns)
    }
}

/// `1 task`, `3 tasks`
pub(super) fn many(n: u64, one: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {one}{s}", units::count(n))
}

/// File name and line: `conn.rs:88`.
pub(super) fn line(file: &str, line: u32) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!("{name}:{line}")
}

/// `conn.rs:88`, or a text that says it is unknown.
pub(super) fn place(place: Option<&Place>) -> String {
    place.map_or_else(
        || String::from("an unknown place"),
        |place| line(&place.file, place.line),
    )
}

/// `, taken at conn.rs:84`; empty if unknown.
pub(super) fn taken(spot: Option<&Spot>) -> String {
    spot.map_or_else(String::new, |spot| {
        format!(", taken at {}", line(&spot.file, spot.line))
    })
}

/// The last word of a path: `kv::snapshot::write` gives `write`. Closures and blocks keep the name
/// of their function.
pub(super) fn last(path: &str) -> &str {
    let ends = path.rsplit("::");
    ends.into_iter()
        .find(|end| !end.starts_with(['{', '<']))
        .unwrap_or(path)
}

/// An expression on one line, shortened if too long: `self.db.lock()`.
pub(super) fn brief(expr: &str) -> String {
    const LONGEST: usize = 40;
    let mut text = String::new();
    for word in expr.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text += word;
    }
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}..", &text[..cut]),
        None => text,
    }
}

/// The verb for a role: `sends`.
pub(super) const fn does(role: Role) -> &'static str {
    match role {
        Role::Lock | Role::Write => "locks",
        Role::Read => "reads",
        Role::Acquire => "acquires",
        Role::Send => "sends",
        Role::Receive => "receives",
        Role::Wait => "waits",
    }
}

#[cfg(test)]
mod tests {
    use super::{brief, fill, last, line, many};

    #[test]
    fn templates_take_values_or_are_left_out() {
        let check = |template, expected: Option<&str>| {
            assert_eq!(
                fill(template, &[("a", "1"), ("b", "x")]).as_deref(),
                expected
            );
        };
        check("", Some(""));
        check("no names", Some("no names"));
        check("{a}, {b} and {a}", Some("1, x and 1"));
        check("{c}", None);
        check("{a", None);
    }

    #[test]
    fn names_are_short() {
        assert_eq!(last("kv::snapshot::write"), "write");
        assert_eq!(last("kv::run::{async block#0}"), "run");
        assert_eq!(last("main"), "main");
        assert_eq!(line("src/a/conn.rs", 8), "conn.rs:8");
        assert_eq!(line("src\\conn.rs", 8), "conn.rs:8");
        assert_eq!(brief("self\n    .db\n    .lock()"), "self .db .lock()");
        assert_eq!(brief(&"é".repeat(41)).chars().count(), 42);
        assert_eq!(many(1, "task"), "1 task");
        assert_eq!(many(0, "task"), "0 tasks");
    }
}
