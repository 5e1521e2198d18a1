//! No hole in the tables: each public function, method and trait of tokio's sources is named in the
//! table of its module.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Files of tokio's sources, and the table that speaks of them. A free function is written
/// `module::function` there.
const TABLES: &[(&str, &[&str], &str)] = &[
    (
        "barrier",
        &["sync/barrier.rs"],
        include_str!("methods/barrier.rs"),
    ),
    (
        "mutex",
        &["sync/mutex.rs"],
        include_str!("methods/mutex.rs"),
    ),
    (
        "notify",
        &["sync/notify.rs"],
        include_str!("methods/notify.rs"),
    ),
    (
        "once_cell",
        &["sync/once_cell.rs"],
        include_str!("methods/once_cell.rs"),
    ),
    (
        "rwlock",
        &[
            "sync/rwlock.rs",
            "sync/rwlock/owned_read_guard.rs",
            "sync/rwlock/owned_write_guard.rs",
            "sync/rwlock/owned_write_guard_mapped.rs",
            "sync/rwlock/read_guard.rs",
            "sync/rwlock/write_guard.rs",
            "sync/rwlock/write_guard_mapped.rs",
        ],
        include_str!("methods/rwlock.rs"),
    ),
    (
        "semaphore",
        &["sync/semaphore.rs"],
        include_str!("methods/semaphore.rs"),
    ),
    (
        "set_once",
        &["sync/set_once.rs"],
        include_str!("methods/set_once.rs"),
    ),
    (
        "mpsc",
        &["sync/mpsc/bounded.rs", "sync/mpsc/unbounded.rs"],
        include_str!("methods/mpsc.rs"),
    ),
    (
        "oneshot",
        &["sync/oneshot.rs"],
        include_str!("methods/oneshot.rs"),
    ),
    (
        "broadcast",
        &["sync/broadcast.rs"],
        include_str!("methods/broadcast.rs"),
    ),
    (
        "watch",
        &["sync/watch.rs"],
        include_str!("methods/watch.rs"),
    ),
    (
        "time",
        &[
            "time/clock.rs",
            "time/interval.rs",
            "time/sleep.rs",
            "time/timeout.rs",
        ],
        include_str!("methods/time.rs"),
    ),
];

/// Traits that a table does not name: nobody calls the one, and the others are compared one by one.
const UNNAMED: &[&str] = &[
    "Drop",
    "Send",
    "Sync",
    "Unpin",
    "UnwindSafe",
    "RefUnwindSafe",
];

#[test]
fn tables_have_no_hole() {
    let sources = tokio_sources();
    for (module, files, table) in TABLES {
        let mut wanted = BTreeSet::new();
        for file in *files {
            let text = std::fs::read_to_string(sources.join(file)).expect(file);
            wanted.extend(public(module, &text));
        }
        let table = plain(table);
        let missing: Vec<&String> = wanted.iter().filter(|name| !names(&table, name)).collect();
        assert!(wanted.len() > 5, "{module}: {wanted:?}");
        assert!(missing.is_empty(), "{module}: {missing:#?}");
    }
}

/// What `tokio::sync` itself offers by name stands in some table.
#[test]
fn no_name_is_missing() {
    let text = std::fs::read_to_string(tokio_sources().join("sync/mod.rs")).expect("sync/mod.rs");
    let offered = text
        .lines()
        .skip_while(|line| !line.starts_with("cfg_sync! {"))
        .take_while(|line| *line != "}")
        .map(str::trim);
    let names_of = |line: &str| {
        let rest = line
            .strip_prefix("pub use ")
            .or_else(|| line.strip_prefix("pub mod "));
        let last = rest?.rsplit("::").next()?.to_owned();
        Some(last)
    };
    let tables: String = TABLES.iter().map(|(_, _, table)| *table).collect();
    let mut wanted = BTreeSet::new();
    for list in offered.filter_map(names_of) {
        let each = list.split(|c: char| !c.is_alphanumeric() && c != '_');
        wanted.extend(each.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    let missing: Vec<&String> = wanted.iter().filter(|name| !names(&tables, name)).collect();
    assert!(wanted.len() > 30, "{wanted:?}");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `src` of the tokio that this package is built with.
fn tokio_sources() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo's metadata");
    let manifest = tokio_manifest(&metadata).expect("tokio among the dependencies");
    Path::new(manifest).with_file_name("src")
}

fn tokio_manifest(metadata: &Value) -> Option<&str> {
    let find = |list: &'_ Value, key: &str, value: &Value| -> Option<Value> {
        let mut list = list.as_array()?.iter();
        list.find(|entry| entry[key] == *value).cloned()
    };
    let packages = &metadata["packages"];
    let ours = find(packages, "name", &env!("CARGO_PKG_NAME").into())?;
    let node = find(&metadata["resolve"]["nodes"], "id", &ours["id"])?;
    let tokio = find(&node["deps"], "name", &"tokio".into())?;
    let mut packages = packages.as_array()?.iter();
    let tokio = packages.find(|package| package["id"] == tokio["pkg"])?;
    tokio["manifest_path"].as_str()
}

/// The table with `<Type<T> as Trait>` written as `Type as Trait`.
fn plain(table: &str) -> String {
    let one = |line: &str| match line.split_once(" as ") {
        Some((of, what)) => {
            let starts = of
                .split('<')
                .map(|part| part.trim_start_matches([' ', '/']));
            let of = starts.filter(|part| !part.starts_with("let ")).map(word);
            let of = of.into_iter().find(|of| !of.is_empty());
            format!("{} as {what}\n", of.unwrap_or_default())
        }
        None => format!("{line}\n"),
    };
    table.lines().map(one).collect()
}

/// Whether the table has the name, and not just a longer one.
fn names(table: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    table.match_indices(name).any(|(at, _)| {
        let before = table[..at].chars().next_back().is_some_and(word);
        let after = table[at + name.len()..].chars().next().is_some_and(word);
        !before && !after
    })
}

/// What a source offers, as `module::function`, `Type::method`, `Type as Trait`.
fn public(module: &str, text: &str) -> BTreeSet<String> {
    let types = public_types(text);
    let mut found = BTreeSet::new();
    // The type whose `impl` block the line is in, if it is a public one.
    let mut inside: Option<String> = None;
    let mut derives = Vec::new();
    for line in text.lines().take_while(|line| !is_test(line)) {
        let code = line.trim_start();
        if let Some(list) = code.strip_prefix("#[derive(") {
            derives = list.trim_end_matches(")]").split(", ").collect();
        } else if let Some(name) = type_name(code) {
            if types.contains(&name) {
                found.extend(derives.iter().map(|what| implements(&name, what)));
            }
            derives.clear();
        }
        if let Some(head) = line.strip_prefix("impl") {
            let (what, of) = head_of(head);
            let of = types.contains(&of).then_some(of);
            match (what, of) {
                (None, of) => inside = of,
                (Some(what), Some(of)) if !UNNAMED.contains(&what.as_str()) => {
                    found.insert(implements(&of, &what));
                }
                (Some(_), _) => {}
            }
        } else if line == "}" {
            inside = None;
        }
        if let Some(function) = function_name(code) {
            match &inside {
                Some(of) => found.insert(format!("{of}::{function}")),
                None if !line.starts_with(' ') => found.insert(format!("{module}::{function}")),
                None => false,
            };
        }
    }
    found
}

fn is_test(line: &str) -> bool {
    line.starts_with("#[cfg(all(test") || line.starts_with("#[cfg(test)]")
}

fn implements(of: &str, what: &str) -> String {
    format!("{of} as {what}")
}

fn public_types(text: &str) -> BTreeSet<String> {
    text.lines()
        .take_while(|line| !is_test(line))
        .filter_map(|line| type_name(line.trim_start()))
        // They are the same types.
        .filter(|name| !name.ends_with("Error"))
        .collect()
}

/// `pub struct Name` or `pub enum Name`.
fn type_name(code: &str) -> Option<String> {
    let rest = code
        .strip_prefix("pub struct ")
        .or_else(|| code.strip_prefix("pub enum "))?;
    Some(word(rest).to_owned())
}

/// `pub`, and nothing narrower, then any of the words that may stand before `fn`.
fn function_name(code: &str) -> Option<&str> {
    let mut rest = code.strip_prefix("pub ")?;
    for before in ["const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(before).unwrap_or(rest);
    }
    rest.strip_prefix("fn ").map(word)
}

/// Trait, if there is one, and type of an `impl`, without their arguments.
fn head_of(head: &str) -> (Option<String>, String) {
    let head = without_arguments(head);
    let head = head.split('{').next().unwrap_or_default();
    let head = head.split(" where ").next().unwrap_or_default().trim();
    let last = |path: &str| {
        path.trim()
            .rsplit("::")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    match head.split_once(" for ") {
        Some((what, of)) => (Some(last(what)), last(of)),
        None => (None, last(head)),
    }
}

/// All that stands between angle brackets is left out.
fn without_arguments(code: &str) -> String {
    let mut depth = 0;
    let mut before = ' ';
    let mut kept = String::new();
    for c in code.chars() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
        before = c;
    }
    kept
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn sources_are_read() {
    let source = "\
#[derive(Debug, Clone)]
pub struct One<T> {
struct Hidden {
impl<T: Fn() -> u8> One<T> {
    pub const fn make() -> Self {
    pub(crate) fn inner() {
    pub async fn wait(&self)
}
impl<'a, T> fmt::Display for One<T>
where
    T: Send,
{
    fn fmt(&self) {
}
impl<T> Drop for One<T> {
impl Hidden {
    pub fn none() {
}
pub fn free() {
pub(super) fn narrow() {
#[cfg(test)]
pub fn test() {
";
    let expected = [
        "One as Clone",
        "One as Debug",
        "One as Display",
        "One::make",
        "One::wait",
        "module::free",
    ];
    let found = public("module", source);
    assert!(found.iter().eq(expected), "{found:?}");
    assert!(names("One::make;", "One::make"));
    assert!(!names("One::makes", "One::make"));
    assert!(!names("NoOne::make", "One::make"));
}
