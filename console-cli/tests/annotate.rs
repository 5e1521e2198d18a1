//! `turbowish annotate` on folders as users have them: what it prints, what it writes, and how it
//! ends.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use folder::Folder;

#[path = "annotate/control.rs"]
mod control;
#[path = "annotate/folder.rs"]
mod folder;
#[path = "annotate/tokio_types.rs"]
mod tokio_types;

const DOCS: &str = include_str!("../../docs/annotate.md");

fn program() -> Folder {
    Folder::of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a-server\"\n\n[dependencies]\ntokio = \"1\"  # the runtime\n",
        ),
        (
            "src/main.rs",
            "//! A server.\n\nmod conn;\n\n#[tokio::main]\nasync fn main() {\n\tconn::serve().await;\n}\n",
        ),
        (
            "src/conn.rs",
            "pub async fn serve() {}\r\n\r\nimpl Conn {\r\n    /// Reads.\r\n    async fn read(&self) {}\r\n}\r\n\r\ncfg_net! { async fn hidden() {} }\r\n",
        ),
        ("src/plain.rs", "fn none() {}\n"),
        ("tests/whole.rs", "#[tokio::test]\nasync fn works() {}\n"),
        ("build.rs", "async fn nobody() {}\n"),
        ("target/debug/out.rs", "async fn nobody() {}\n"),
        (".hidden/x.rs", "async fn nobody() {}\n"),
    ])
}

#[test]
fn a_program_is_annotated_and_told_what_it_lacks() {
    let folder = program();
    let before = folder.files();
    let shown = "\
package a-server
src/conn.rs: 2 async fns
src/main.rs: 1 async fn
Cargo.toml: add turbowish = { path = \"/path/to/turbowish\" } to [dependencies]
annotated 3 async fns in 2 files
src/conn.rs:8:1: out of reach: 1 async fn inside cfg_net!
next: start main (src/main.rs:6:10) with
        let _turbowish = turbowish::init();
      and let a console attach, in Cargo.toml:
        turbowish = { path = \"/path/to/turbowish\", features = [\"server\"] }
      while it runs: turbowish
";
    folder.check(&[], shown);
    assert!(DOCS.contains(&format!("$ turbowish annotate\n{shown}```\n")));
    assert_eq!(
        folder.read("src/main.rs"),
        "//! A server.\n\nmod conn;\n\n#[::turbowish::instrument]\n#[tokio::main]\nasync fn main() {\n\tconn::serve().await;\n}\n"
    );
    assert_eq!(
        folder.read("src/conn.rs"),
        "#[::turbowish::instrument]\r\npub async fn serve() {}\r\n\r\nimpl Conn {\r\n    /// Reads.\r\n    #[::turbowish::instrument]\r\n    async fn read(&self) {}\r\n}\r\n\r\ncfg_net! { async fn hidden() {} }\r\n"
    );
    assert_eq!(
        folder.read("Cargo.toml"),
        "[package]\nname = \"a-server\"\n\n[dependencies]\ntokio = \"1\"  # the runtime\nturbowish = { path = \"/path/to/turbowish\" } # turbowish annotate\n"
    );
    let after = folder.files();
    folder.check(
        &[],
        "package a-server\nnothing to do: 3 async fns covered\nsrc/conn.rs:10:1: out of reach: 1 async fn inside cfg_net!\n",
    );
    assert_eq!(folder.files(), after, "a second run changes nothing");
    folder.check(
        &["--remove"],
        "\
package a-server
src/conn.rs: 2 attributes
src/main.rs: 1 attribute
Cargo.toml: remove turbowish
removed 3 attributes from 2 files
",
    );
    assert_eq!(folder.files(), before, "every byte is back");
}

#[test]
fn check_lists_and_fails() {
    let folder = program();
    let before = folder.files();
    let (code, out, err) = folder.run(&["--check"]);
    let shown = "\
src/conn.rs:1:14: async fn a_server::conn::serve is not covered
src/conn.rs:5:14: async fn a_server::conn::Conn::read is not covered
src/main.rs:6:10: async fn a_server::main is not covered
src/conn.rs:8:1: out of reach: 1 async fn inside cfg_net!
";
    assert_eq!(out, shown);
    assert_eq!(err, "turbowish: 3 of 3 async fns are not covered\n");
    assert_eq!(code, 1);
    assert!(DOCS.contains(&format!("$ turbowish annotate --check\n{out}{err}```\n")));
    assert_eq!(folder.run(&["--check", "Cargo.toml"]), (code, out, err));
    assert_eq!(folder.files(), before, "nothing changes");

    folder.run(&["--include", "conn"]);
    let (code, _, err) = folder.run(&["--check"]);
    assert_eq!(
        (code, err.as_str()),
        (1, "turbowish: 1 of 3 async fns is not covered\n")
    );
    let reach = "src/conn.rs:10:1: out of reach: 1 async fn inside cfg_net!\n";
    folder.check(
        &["--check", "--exclude", "main"],
        &format!("left out: 1 by --include and --exclude\n{reach}2 async fns in 3 files, none uncovered\n"),
    );
    folder.run(&[]);
    folder.check(
        &["--check"],
        &format!("{reach}3 async fns in 3 files, none uncovered\n"),
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = program();
    let before = folder.files();
    let (code, dry, _) = folder.run(&["--dry-run"]);
    assert_eq!((code, folder.files()), (0, before));
    let (_, wet, _) = folder.run(&[]);
    assert_eq!(dry, format!("dry run, nothing is written\n{wet}"));
}

#[test]
fn blocks_are_preferred_when_asked_for() {
    let folder = program();
    let (code, out, _) = folder.run(&["--blocks", "src/conn.rs"]);
    assert_eq!(code, 0);
    assert!(out.contains("\nsrc/conn.rs: 2 async fns\n"), "{out}");
    assert!(
        folder
            .read("src/conn.rs")
            .contains("\r\n#[::turbowish::instrument]\r\nimpl Conn {\r\n"),
    );
}

#[test]
fn what_is_built_for_tests_needs_a_dependency_for_tests() {
    let folder = program();
    let (code, out, _) = folder.run(&["tests"]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with(
            "package a-server\ntests/whole.rs: 1 async fn\nCargo.toml: add turbowish = { path = \"/path/to/turbowish\" } to [dev-dependencies]\n"
        ),
        "{out}"
    );
    // The program itself then needs one of its own.
    let (_, out, _) = folder.run(&["--all-targets"]);
    assert!(
        out.contains("Cargo.toml: add turbowish = { path = \"/path/to/turbowish\" } to [dependencies]\nannotated 3 async fns in 2 files; 1 covered before\n"),
        "{out}"
    );
    let (_, out, _) = folder.run(&["--all-targets", "--remove"]);
    assert!(out.ends_with("Cargo.toml: remove turbowish\nremoved 4 attributes from 3 files\n"));
    assert!(!folder.read("Cargo.toml").contains("turbowish"));
}

#[test]
fn a_workspace_stands_for_the_sources_of_its_members() {
    let member = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
    let folder = Folder::of(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\", \"odd\"]\nexclude = [\"crates/out\", \"crates/no-package\"]\n\n[workspace.dependencies]\nturbowish = { version = \"0.1\", features = [\"server\"] }\nfar = { path = \"far\" }\n",
        ),
        (
            "crates/a/Cargo.toml",
            &member("a", "\n[dependencies]\nfar.workspace = true\n"),
        ),
        ("crates/a/src/lib.rs", "async fn f() {}\n"),
        ("crates/a/src/fixture/Cargo.toml", &member("fixture", "")),
        ("crates/a/src/fixture/src/lib.rs", "async fn f() {}\n"),
        (
            "crates/b/Cargo.toml",
            &member(
                "b",
                "[lib]\npath = \"code/b.rs\"\n[[bin]]\nname = \"tool\"\npath = \"tool.rs\"\n",
            ),
        ),
        ("crates/b/code/b.rs", "mod c;\nasync fn f() {}\n"),
        ("crates/b/code/c.rs", "async fn f() {}\n"),
        ("crates/b/tool.rs", "async fn main() {}\n"),
        ("crates/b/src/bin/more.rs", "async fn f() {}\n"),
        ("crates/b/tests/t.rs", "async fn f() {}\n"),
        ("crates/out/Cargo.toml", &member("out", "")),
        ("crates/out/src/lib.rs", "async fn f() {}\n"),
        ("crates/no-package/src/lib.rs", "async fn f() {}\n"),
        ("far/Cargo.toml", &member("far", "")),
        ("far/src/lib.rs", "mod target;\n"),
        ("far/src/target/mod.rs", "async fn f() {}\n"),
        ("odd/Cargo.toml", &member("odd", "")),
        ("odd/src/lib.rs", "fn f() {}\n"),
        ("stray/src/lib.rs", "async fn f() {}\n"),
    ]);
    let (code, out, err) = folder.run(&["--check"]);
    assert_eq!(code, 1, "{err}");
    assert_eq!(err, "turbowish: 6 of 6 async fns are not covered\n");
    assert_eq!(
        out,
        "\
crates/a/src/lib.rs:1:10: async fn a::f is not covered
crates/b/code/b.rs:2:10: async fn b::f is not covered
crates/b/code/c.rs:1:10: async fn b::c::f is not covered
crates/b/src/bin/more.rs:1:10: async fn more::f is not covered
crates/b/tool.rs:1:10: async fn tool::main is not covered
far/src/target/mod.rs:1:10: async fn far::target::f is not covered
"
    );
    folder.run(&[]);
    assert_eq!(
        folder.read("crates/a/Cargo.toml"),
        member(
            "a",
            "\n[dependencies]\nfar.workspace = true\nturbowish.workspace = true # turbowish annotate\n"
        )
    );
    assert!(
        folder
            .read("far/Cargo.toml")
            .ends_with("\n[dependencies]\nturbowish.workspace = true # turbowish annotate\n")
    );
    assert_eq!(folder.read("odd/Cargo.toml"), member("odd", ""));
    // A folder of the workspace stands for the members in it; without a path, it is the package
    // around.
    let (_, out, _) = folder.run(&["crates", "--check"]);
    assert_eq!(out, "5 async fns in 5 files, none uncovered\n");
    let (_, out, _) = folder.run_in("crates/b/tests", &["--check"]);
    assert_eq!(out, "4 async fns in 4 files, none uncovered\n");
    let (_, out, _) = folder.run_in("crates/b", &["--check", "tests"]);
    assert_eq!(out, "tests/t.rs:1:10: async fn t::f is not covered\n");
}

#[test]
fn what_is_no_rust_is_left_and_the_rest_is_done() {
    let folder = Folder::of(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/lib.rs", "async fn f() {}\n"),
        ("src/broken.rs", "async fn f() {}\n\nfn g( {}\n"),
        ("src/open.rs", "async fn f() {\n"),
        ("src/newer.rs", "async fn f() {}\n  unheard of;\n"),
        (
            "src/template.rs",
            "{{ no rust, and asynchronously nothing that is looked for }}\n",
        ),
    ]);
    fs::write(
        folder.path().join("src/latin.rs"),
        b"// caf\xe9\nasync fn f() {}\n",
    )
    .unwrap();
    let (code, out, err) = folder.run(&[]);
    assert_eq!(code, 1);
    assert!(out.contains("annotated 1 async fn in 1 file\n"), "{out}");
    insta::assert_snapshot!(err, @r"
    turbowish: src/broken.rs:3:5: left as it is; this version cannot parse it: a bracket or a literal is not closed
    turbowish: src/latin.rs: left as it is; this version cannot parse it: it is not UTF-8
    turbowish: src/newer.rs:2:11: left as it is; this version cannot parse it: expected `!`
    turbowish: src/open.rs:1:14: left as it is; this version cannot parse it: a bracket or a literal is not closed
    turbowish: 4 files could not be read
    ");
    assert!(
        folder
            .read("src/lib.rs")
            .starts_with("#[::turbowish::instrument]\n")
    );
    assert!(folder.read("src/broken.rs").starts_with("async"));
    let (code, _, err) = folder.run(&["--check"]);
    assert_eq!(code, 1, "{err}");
}

#[test]
fn the_dependency_stays_while_something_names_it() {
    let folder = program();
    folder.run(&[]);
    let main = folder.read("src/main.rs");
    let main = main.replace("\tconn", "\tlet _turbowish = turbowish::init();\n\tconn");
    folder.write("src/main.rs", &main);
    folder.check(
        &[],
        "package a-server\nnothing to do: 3 async fns covered\nsrc/conn.rs:10:1: out of reach: 1 async fn inside cfg_net!\n",
    );
    let (code, out, _) = folder.run(&["--remove"]);
    assert_eq!(code, 0);
    assert!(
        out.ends_with("Cargo.toml: keep turbowish, which is still named at src/main.rs:7:19\nremoved 3 attributes from 2 files\n"),
        "{out}"
    );
    assert!(folder.read("Cargo.toml").contains("turbowish"));
}

#[test]
fn a_dependency_that_is_there_is_left_as_it_is() {
    for (dependency, said) in [
        ("turbowish = { path = \"/x\", features = [\"server\"] }", ""),
        (
            "turbowish = { version = \"0.1\", optional = true }",
            "Cargo.toml: turbowish is optional; the attribute needs it in every build\n",
        ),
    ] {
        let manifest = format!("[package]\nname = \"a\"\n[dependencies]\n{dependency}\n");
        let folder = Folder::of(&[("Cargo.toml", &manifest), ("src/lib.rs", "async fn f() {}")]);
        let (code, out, _) = folder.run(&[]);
        assert_eq!((code, folder.read("Cargo.toml")), (0, manifest));
        let expected = format!("package a\nsrc/lib.rs: 1 async fn\n{said}annotated");
        assert!(out.starts_with(&expected), "{out}");
    }
}

#[test]
fn a_dependency_by_another_name_is_refused() {
    let folder = Folder::of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\ntw = { package = \"turbowish\", version = \"0.1\" }\n",
        ),
        ("src/lib.rs", "async fn f() {}\n"),
    ]);
    let before = folder.files();
    let (code, _, err) = folder.run(&[]);
    assert_eq!(
        (code, err.as_str()),
        (
            1,
            "turbowish: Cargo.toml renames turbowish to `tw`; use the name turbowish, which the attribute needs\n"
        )
    );
    assert_eq!(folder.files(), before);
}

#[test]
fn files_keep_what_they_are() {
    let folder = program();
    let conn = folder.path().join("src/conn.rs");
    fs::set_permissions(&conn, fs::Permissions::from_mode(0o640)).unwrap();
    fs::rename(
        folder.path().join("src/main.rs"),
        folder.path().join("real.rs"),
    )
    .unwrap();
    symlink("../real.rs", folder.path().join("src/main.rs")).unwrap();
    // A circle of folders is not walked.
    symlink("..", folder.path().join("src/round")).unwrap();
    let (code, _, err) = folder.run(&[]);
    assert_eq!(code, 0, "{err}");
    let mode = fs::metadata(&conn).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(folder.path().join("src/main.rs").is_symlink());
    assert!(
        folder
            .read("real.rs")
            .contains("#[::turbowish::instrument]")
    );
    let names: Vec<String> = folder.files().into_keys().collect();
    assert!(
        names.iter().all(|name| !name.contains(".turbowish")),
        "{names:?}"
    );
}

#[test]
fn a_file_that_must_not_be_written_is_whole() {
    let folder = program();
    let main = folder.path().join("src/main.rs");
    let text = folder.read("src/main.rs");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, err) = folder.run(&["src/main.rs"]);
    assert_eq!(
        (code, err.as_str()),
        (
            1,
            "turbowish: cannot write src/main.rs, 1 file written before it: it is read-only\n"
        )
    );
    assert_eq!(folder.read("src/main.rs"), text);
}

#[test]
fn a_wrong_command_line_changes_nothing() {
    let folder = program();
    let before = folder.files();
    for args in [
        &["nowhere"][..],
        &["--check", "--remove"],
        &["--check", "--blocks"],
        &["--include", "a::b/c"],
        &["--exclude", ""],
        &["--unheard-of"],
    ] {
        let (code, out, err) = folder.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.starts_with("turbowish: "), "{err}");
    }
    assert_eq!(folder.files(), before);
}

#[test]
fn a_file_without_a_package_is_done_without_one() {
    let folder = Folder::of(&[("a/loose.rs", "async fn f() {}\n"), ("b.rs", "fn f() {}\n")]);
    let (code, out, _) = folder.run(&["--check", "a/loose.rs"]);
    assert_eq!(
        (code, out.as_str()),
        (1, "a/loose.rs:1:10: async fn loose::f is not covered\n")
    );
    let (code, _, _) = folder.run(&["a/loose.rs"]);
    assert_eq!(
        (code, folder.read("a/loose.rs").as_str()),
        (0, "#[::turbowish::instrument]\nasync fn f() {}\n")
    );
    folder.check(&["b.rs"], "no async fn to annotate in 1 file\n");
}

/// The ui-tests build and run these two programs, with the attribute at work and compiled out.
#[test]
fn what_is_left_is_a_program_that_is_tested() {
    let before = include_str!("annotate/program.rs");
    for (args, after) in [
        (
            &["program.rs"][..],
            include_str!("../../ui-tests/pass/annotated_fns.rs"),
        ),
        (
            &["--blocks", "program.rs"],
            include_str!("../../ui-tests/pass/annotated_blocks.rs"),
        ),
    ] {
        let folder = Folder::of(&[("program.rs", before)]);
        let (code, _, err) = folder.run(args);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(
            folder.read("program.rs") == after,
            "{args:?} is not as tested"
        );
        folder.run(&["--remove", "program.rs"]);
        assert!(folder.read("program.rs") == before, "{args:?} does not go");
    }
}
