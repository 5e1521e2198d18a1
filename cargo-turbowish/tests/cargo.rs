//! `cargo-turbowish` as cargo runs it. What it writes and prints is tested with `turbowish
//! annotate`, which is the same library.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const LIB: &str = "pub async fn f() {}\n\npub async fn g() {}\n";
const ANNOTATED: &str = "#[::turbowish::instrument]\npub async fn f() {}\n\n#[::turbowish::instrument]\npub async fn g() {}\n";

/// The folder that the program was built from.
fn clone() -> String {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    clone.canonicalize().unwrap().display().to_string()
}

/// A package, under no version control.
fn package() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let manifest = "[package]\nname = \"a\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.path().join("src/lib.rs"), LIB).unwrap();
    folder
}

fn lib(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("src/lib.rs")).unwrap()
}

/// Exit code, stdout and stderr.
fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    ended(
        Command::new(env!("CARGO_BIN_EXE_cargo-turbowish"))
            .args(args)
            .current_dir(folder),
    )
}

fn ended(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_package_is_annotated_checked_and_restored() {
    let folder = package();
    let (code, out, err) = run(folder.path(), &["turbowish", "annotate", "--check"]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "src/lib.rs:1:14: async fn a::f is not covered\nsrc/lib.rs:3:14: async fn a::g is not covered\n"
    );
    assert_eq!(err, "cargo-turbowish: 2 of 2 async fns are not covered\n");
    assert_eq!(lib(&folder), LIB, "nothing changes");

    let annotate = ["turbowish", "annotate", "--allow-no-vcs"];
    let (code, out, err) = run(folder.path(), &annotate);
    assert_eq!((code, err.as_str()), (0, ""));
    let clone = clone();
    let expected = format!(
        "\
package a
src/lib.rs: 2 async fns
Cargo.toml: add turbowish = {{ path = \"{clone}\" }} to [dependencies]
annotated 2 async fns in 1 file
next: in the program that uses this, start main with
        let _turbowish = turbowish::init();
      and let a console attach, in its Cargo.toml:
        turbowish = {{ path = \"{clone}\", features = [\"server\"] }}
      while it runs: turbowish
"
    );
    assert_eq!(out, expected);
    assert_eq!(lib(&folder), ANNOTATED);

    let check = run(folder.path(), &["turbowish", "annotate", "--check"]);
    let covered = "2 async fns in 1 file, none uncovered\n".to_owned();
    assert_eq!(check, (0, covered, String::new()));

    let (code, _, err) = run(folder.path(), &[&annotate[..], &["--remove"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(lib(&folder), LIB, "every byte is back");
}

#[test]
fn cargo_finds_it_on_the_path() {
    let folder = package();
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-turbowish"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let (code, out, err) = ended(
        Command::new(env!("CARGO"))
            .args(["turbowish", "annotate", "--check", "--exclude", "g"])
            .env("PATH", path)
            .current_dir(folder.path()),
    );
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "src/lib.rs:1:14: async fn a::f is not covered\nleft out: 1 by --include and --exclude\n"
    );
    assert_eq!(err, "cargo-turbowish: 1 of 1 async fn is not covered\n");
}

#[test]
fn help_names_what_is_typed() {
    let folder = package();
    let (code, help, err) = run(folder.path(), &["turbowish", "--help"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(help.contains("Usage: cargo turbowish <COMMAND>"), "{help}");
    assert!(
        help.contains("\n  cargo turbowish annotate --dry-run "),
        "{help}"
    );

    let (code, short, _) = run(folder.path(), &["turbowish", "annotate", "-h"]);
    assert_eq!(code, 0);
    let examples = "
Examples:
  cargo turbowish annotate                      every async fn of the package or workspace
                                                here, and the dependency
  cargo turbowish annotate --dry-run            what that would change
  cargo turbowish annotate --blocks             the same by attributes on impl, trait, mod
  cargo turbowish annotate --exclude tests --exclude 'db::Db::get'
                                                not in modules and folders named tests,
                                                not this method
  cargo turbowish annotate --include src/net --include '**::handle_*'
                                                only this folder, and functions of that name
  cargo turbowish annotate --check              a lint: exit code 1 if it finds something
  cargo turbowish annotate --remove             remove what it has added
";
    assert!(short.ends_with(examples), "{short}");

    let (code, long, _) = run(folder.path(), &["turbowish", "annotate", "--help"]);
    assert_eq!(code, 0);
    assert!(
        long.contains("\nPatterns:\n  src/net, **/conn.rs "),
        "{long}"
    );
    assert!(
        long.contains("\nExamples:\n  cargo turbowish annotate --dry-run\n"),
        "{long}"
    );
    assert!(long.contains("\nExit codes: 0 done,"), "{long}");

    let version = format!("cargo-turbowish {}\n", env!("CARGO_PKG_VERSION"));
    for args in [&["--version"][..], &["turbowish", "--version"]] {
        let shown = run(folder.path(), args);
        assert_eq!(shown, (0, version.clone(), String::new()));
    }
}

#[test]
fn mistakes_have_an_exit_code_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let (code, out, err) = run(folder.path(), &["turbowish", "annotate"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        err,
        format!(
            "cargo-turbowish: no cargo package or workspace: {}; go to one, or name one: cargo turbowish annotate PATH\n",
            here.display()
        )
    );
    for args in [&["turbowish"][..], &["turbowish", "anotate"], &[]] {
        let (code, out, err) = run(folder.path(), args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.starts_with("cargo-turbowish: "), "{args:?}: {err}");
        assert!(err.contains("annotate"), "{args:?}: {err}");
    }
}

#[test]
fn it_links_neither_a_runtime_nor_a_screen() {
    let (code, tree, err) = ended(
        Command::new(env!("CARGO"))
            .args(["tree", "--quiet", "--offline", "--package=cargo-turbowish"])
            .args(["--edges=normal", "--prefix=none", "--format={p}"])
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    );
    assert_eq!(code, 0, "{err}");
    let names: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(names.contains(&"turbowish-model"));
    for name in [
        "tokio",
        "tonic",
        "ratatui",
        "turbowish-wire",
        "turbowish-runtime",
    ] {
        assert!(!names.contains(&name), "{name}");
    }
}
