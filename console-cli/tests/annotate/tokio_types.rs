//! `--check` finds what of tokio is used though TurboWish has it: all of that, and nothing else.

use std::collections::BTreeSet;

use super::folder::Folder;

/// What the runtime exports, as it is written there.
const SYNC: &str = include_str!("../../../turbowish-runtime/src/sync.rs");
const TIME: &str = include_str!("../../../turbowish-runtime/src/time.rs");

fn check(text: &str) -> (i32, String, String) {
    let folder = Folder::of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nedition = \"2024\"\n",
        ),
        ("src/lib.rs", text),
    ]);
    folder.run(&["--check"])
}

#[test]
fn each_use_is_shown_with_what_to_write() {
    let text = "use tokio::sync::{Mutex, mpsc};\nuse tokio::time;\n\n#[turbowish::instrument]\nasync fn f() {\n    tokio::spawn(g());\n    tokio::select! {\n        _ = time::sleep(d) => {}\n    }\n}\n";
    assert_eq!(
        check(text),
        (
            1,
            "\
src/lib.rs:1:19: tokio::sync::Mutex is not observed; use turbowish::sync::Mutex
src/lib.rs:1:26: tokio::sync::mpsc is not observed; use turbowish::sync::mpsc
src/lib.rs:6:5: tokio::spawn is not observed; use turbowish::spawn
src/lib.rs:8:13: tokio::time::sleep is not observed; use turbowish::time::sleep
turbowish::sync, turbowish::time and turbowish::spawn behave like tokio's; they need the feature \"tokio\" of turbowish
"
            .to_owned(),
            "turbowish: 4 uses of tokio that TurboWish does not observe\n".to_owned()
        )
    );
}

#[test]
fn patterns_leave_them_out() {
    let folder = Folder::of(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/lib.rs", "mod b;\nuse tokio::sync::Mutex;\n"),
        ("src/b.rs", "use tokio::sync::Mutex;\n"),
    ]);
    let (_, out, _) = folder.run(&["--check", "--exclude", "src/b.rs"]);
    assert!(
        out.starts_with("src/lib.rs:2:18: ") && !out.contains("src/b.rs"),
        "{out}"
    );
    let (_, out, _) = folder.run(&["--check", "--include", "b"]);
    assert!(
        out.starts_with("src/b.rs:1:18: ") && !out.contains("lib.rs"),
        "{out}"
    );
}

/// The names in `pub use from::{…}` of a module.
fn exported(module: &str, from: &str) -> BTreeSet<String> {
    let uses = module.split("pub use ").skip(1);
    let uses = uses.filter_map(|text| text.split(';').next()?.strip_prefix(from));
    let names = uses.flat_map(|path| {
        let names = path.rsplit("::").next().unwrap_or(path);
        names.trim_matches(['{', '}']).split(',').map(str::trim)
    });
    names
        .filter(|name| !["", "*"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// The modules that a module has.
fn modules(module: &str) -> BTreeSet<String> {
    let lines = module
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    lines
        .map(|name| name.trim_end_matches([';', ' ', '{']).to_owned())
        .collect()
}

#[test]
fn all_that_the_runtime_wraps_is_known() {
    let wrapped = [
        ("sync", exported(SYNC, "self::")),
        ("sync", modules(SYNC)),
        ("time", exported(TIME, "self::")),
    ];
    let same = [("sync", exported(SYNC, "tokio::sync::"))];
    assert!(
        wrapped
            .iter()
            .chain(&same)
            .all(|(_, names)| names.len() > 3),
        "{wrapped:?} {same:?}"
    );
    for (expected, lists) in [(true, &wrapped[..]), (false, &same[..])] {
        for (module, names) in lists {
            for name in names {
                let (_, out, _) = check(&format!("use tokio::{module}::{name};\n"));
                let line = format!(
                    "tokio::{module}::{name} is not observed; use turbowish::{module}::{name}\n"
                );
                assert_eq!(out.contains(&line), expected, "{module}::{name}: {out}");
            }
        }
    }
}
