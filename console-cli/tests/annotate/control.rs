//! What is changed is one package or workspace of one repository, and only where version control
//! gives it back.

use std::fs;
use std::os::unix::fs::symlink;

use super::folder::{CLONE, Ended, Folder, clone};

const LIB: &str = "async fn f() {}\n";
const ANNOTATED: &str = "#[::turbowish::instrument]\nasync fn f() {}\n";

fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n")
}

/// A package, committed.
fn package() -> Folder {
    let folder = Folder::of(&[("Cargo.toml", &manifest("a")), ("src/lib.rs", LIB)]);
    folder.commit("");
    folder
}

#[track_caller]
fn check_refused(folder: &Folder, args: &[&str], code: i32, message: &str) {
    let before = folder.files();
    let ended = folder.run_in("", args);
    assert_eq!(ended, (code, String::new(), message.to_owned()), "{args:?}");
    assert!(folder.files() == before, "{args:?}: nothing is written");
}

#[track_caller]
fn check_done((code, _, err): &Ended) {
    assert_eq!((*code, err.as_str()), (0, ""));
}

#[test]
fn a_folder_of_two_repositories_is_no_package() {
    let folder = Folder::of(&[
        ("one/Cargo.toml", &manifest("one")),
        ("one/src/lib.rs", LIB),
        ("two/Cargo.toml", &manifest("two")),
        ("two/src/lib.rs", LIB),
        ("loose.rs", LIB),
    ]);
    folder.commit("one");
    folder.commit("two");
    let message = format!(
        "turbowish: no cargo package or workspace: {}; go to one, or name one: turbowish annotate PATH; in it: one, two\n",
        folder.name()
    );
    for args in [
        &[][..],
        &["."],
        &["--remove"],
        &["--check"],
        &["--dry-run"],
        &["--allow-dirty", "--allow-no-vcs"],
    ] {
        check_refused(&folder, args, 2, &message);
    }
    check_done(&folder.run_in("", &["two"]));
    assert_eq!(folder.read("two/src/lib.rs"), ANNOTATED);
    assert_eq!(folder.read("one/src/lib.rs"), LIB);
}

#[test]
fn uncommitted_changes_are_not_mixed_with_ours() {
    let folder = package();
    folder.write("src/lib.rs", "async fn f() {}\n\n");
    folder.write("new.txt", "");
    let message = |option: &str, files: &str| {
        format!(
            "turbowish: nothing is written: the repository . has uncommitted changes; commit or stash them, or pass {option}\n{files}"
        )
    };
    let dirty = message(
        "--allow-dirty",
        "  src/lib.rs (dirty)\n  new.txt (untracked)\n",
    );
    for args in [
        &[][..],
        &["--allow-staged"],
        &["--allow-no-vcs"],
        &["src/lib.rs"],
    ] {
        check_refused(&folder, args, 1, &dirty);
    }
    folder.git("", &["add", "--all"]);
    let staged = message(
        "--allow-staged",
        "  new.txt (staged)\n  src/lib.rs (staged)\n",
    );
    check_refused(&folder, &[], 1, &staged);
    // Looking at it needs no clean tree.
    let (code, out, _) = folder.run_in("", &["--check"]);
    assert_eq!(
        (code, out.as_str()),
        (1, "src/lib.rs:1:10: async fn a::f is not covered\n")
    );
    check_done(&folder.run_in("", &["--dry-run"]));
    check_done(&folder.run_in("", &["--allow-staged"]));
    assert_eq!(folder.read("src/lib.rs"), format!("{ANNOTATED}\n"));
    // What changes nothing is not refused.
    check_done(&folder.run_in("", &[]));
    let (code, _, err) = folder.run_in("", &["--remove"]);
    assert_eq!(code, 1, "{err}");
    check_done(&folder.run_in("", &["--remove", "--allow-dirty"]));
    assert_eq!(folder.read("src/lib.rs"), "async fn f() {}\n\n");
}

#[test]
fn without_version_control_it_asks_for_a_word() {
    let folder = Folder::of(&[("Cargo.toml", &manifest("a")), ("src/lib.rs", LIB)]);
    let message = |what: &str| {
        format!(
            "turbowish: nothing is written: {what}, so the change could not be undone; commit first, or pass --allow-no-vcs\n"
        )
    };
    let none = message("Cargo.toml and 1 more are under no version control");
    check_refused(&folder, &[], 1, &none);
    check_refused(&folder, &["--allow-dirty"], 1, &none);
    check_done(&folder.run_in("", &["--allow-no-vcs"]));
    assert_eq!(folder.read("src/lib.rs"), ANNOTATED);

    let folder = package();
    folder.write(".gitignore", "/made.rs\n");
    folder.write("made.rs", LIB);
    folder.git("", &["add", "--all"]);
    folder.git("", &["commit", "--quiet", "--message=more"]);
    let ignored = message("made.rs is ignored by git");
    check_refused(&folder, &["made.rs"], 1, &ignored);
}

#[test]
fn a_member_of_a_workspace_is_done_alone() {
    let folder = Folder::of(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n",
        ),
        ("crates/a/Cargo.toml", &manifest("a")),
        ("crates/a/src/lib.rs", LIB),
        ("crates/b/Cargo.toml", &manifest("b")),
        ("crates/b/src/lib.rs", LIB),
    ]);
    folder.commit("");
    let before = folder.files();
    let plan = "\
package b
src/lib.rs: 1 async fn
Cargo.toml: add turbowish = { path = \"CLONE\" } to [dependencies]
annotated 1 async fn in 1 file
next: in the program that uses this, start main with
        let _turbowish = turbowish::init();
      and let a console attach, in its Cargo.toml:
        turbowish = { path = \"CLONE\", features = [\"server\"] }
      while it runs: turbowish
"
    .replace("CLONE", &clone());
    let (code, out, err) = folder.run_in("crates/b", &["--dry-run"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("dry run, nothing is written\n{plan}"));
    assert!(folder.files() == before);
    let (code, out, err) = folder.run_in("crates/b", &[]);
    assert_eq!((code, out, err), (0, plan, String::new()));
    assert_eq!(folder.read("crates/a/src/lib.rs"), LIB);
    assert_eq!(folder.read("crates/b/src/lib.rs"), ANNOTATED);
    // From a folder of it, it is the same package.
    let (_, out, _) = folder.run_in("crates/a/src", &["--dry-run"]);
    assert!(out.contains("package a\nlib.rs: 1 async fn\n"), "{out}");
    // The workspace itself is all of its members.
    let (_, out, _) = folder.run_in("", &["--allow-dirty"]);
    assert!(
        out.starts_with("2 packages: a, b\ncrates/a/src/lib.rs: 1 async fn\n"),
        "{out}"
    );
}

#[test]
fn another_repository_is_not_entered() {
    let folder = Folder::of(&[
        ("origin/Cargo.toml", &manifest("sub")),
        ("origin/src/lib.rs", LIB),
        (
            "main/Cargo.toml",
            "[workspace]\nmembers = [\"a\", \"sub\"]\nresolver = \"3\"\n",
        ),
        ("main/a/Cargo.toml", &manifest("a")),
        ("main/a/src/lib.rs", LIB),
        ("main/a/src/nested/more.rs", LIB),
    ]);
    folder.commit("origin");
    folder.commit("main/a/src/nested");
    folder.git("main", &["init", "--quiet"]);
    folder.git("main", &["submodule", "--quiet", "add", "../origin", "sub"]);
    folder.write("main/.gitignore", "/a/src/nested\n");
    folder.commit("main");
    let (code, out, err) = folder.run_in("main", &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let listed = "\
package a
a/src/lib.rs: 1 async fn
a/Cargo.toml: add turbowish = { path = \"CLONE\" } to [dependencies]
a/src/nested: left alone, not in this repository
sub: left alone, not in this repository
annotated 1 async fn in 1 file
";
    assert!(out.starts_with(&listed.replace("CLONE", &clone())), "{out}");
    for path in [
        "main/sub/src/lib.rs",
        "main/a/src/nested/more.rs",
        "origin/src/lib.rs",
    ] {
        assert_eq!(folder.read(path), LIB, "{path}");
    }
    // Nor is one left on the way up to a manifest.
    let (code, _, err) = folder.run_in("main/a/src/nested", &[]);
    assert_eq!(code, 2);
    assert!(
        err.starts_with("turbowish: no cargo package or workspace: "),
        "{err}"
    );
    // Whoever names it means it.
    check_done(&folder.run_in("main", &["sub"]));
    assert_eq!(folder.read("main/sub/src/lib.rs"), ANNOTATED);
}

#[test]
fn links_out_of_the_tree_are_not_followed() {
    let folder = Folder::of(&[
        ("elsewhere/shared.rs", LIB),
        ("elsewhere/package/Cargo.toml", &manifest("linked")),
        ("elsewhere/package/src/lib.rs", LIB),
        (
            "main/Cargo.toml",
            &format!("{}\n[workspace]\nmembers = [\"linked\"]\n", manifest("a")),
        ),
        ("main/src/lib.rs", LIB),
        ("main/inside.rs", LIB),
    ]);
    let main = folder.path().join("main");
    symlink("../../elsewhere/shared.rs", main.join("src/shared.rs")).unwrap();
    symlink("../../elsewhere", main.join("src/folder")).unwrap();
    symlink("../inside.rs", main.join("src/inside.rs")).unwrap();
    symlink("../elsewhere/package", main.join("linked")).unwrap();
    folder.commit("main");
    for args in [&["--dry-run"][..], &[], &["--remove", "--allow-dirty"]] {
        let (code, out, err) = folder.run_in("main", args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        let outside = format!("{}/elsewhere/package", folder.name());
        for left in [outside.as_str(), "src/shared.rs"] {
            let line = format!("\n{left}: left alone, not in this repository\n");
            assert!(out.contains(&line), "{args:?}: {out}");
        }
        for path in ["elsewhere/shared.rs", "elsewhere/package/src/lib.rs"] {
            assert_eq!(folder.read(path), LIB, "{args:?}: {path}");
        }
        let inside = if args.is_empty() { ANNOTATED } else { LIB };
        assert_eq!(folder.read("main/inside.rs"), inside, "{args:?}");
    }
    // A manifest that is a link would be written where it leads.
    let linked = folder.path().join("by-link");
    fs::create_dir_all(linked.join("src")).unwrap();
    fs::write(linked.join("src/lib.rs"), LIB).unwrap();
    symlink("../elsewhere/package/Cargo.toml", linked.join("Cargo.toml")).unwrap();
    folder.commit("by-link");
    let before = folder.files();
    for args in [&[][..], &["src"]] {
        let (code, out, err) = folder.run_in("by-link", args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        assert!(
            out.contains(": left alone, not in this repository\n"),
            "{out}"
        );
    }
    assert!(folder.files() == before);
    // Without version control the workspace is the bound.
    fs::remove_dir_all(main.join(".git")).unwrap();
    check_done(&folder.run_in("main", &["--allow-no-vcs"]));
    assert_eq!(folder.read("main/src/lib.rs"), ANNOTATED);
    assert_eq!(folder.read("elsewhere/shared.rs"), LIB);
}

#[test]
fn what_users_wrote_is_not_removed() {
    let dependency = "\n[dependencies]\nturbowish = { path = \"/x\" }\n";
    let folder = Folder::of(&[
        ("Cargo.toml", &(manifest("a") + dependency)),
        (
            "src/lib.rs",
            "use turbowish::instrument;\n\n#[turbowish::instrument]\nasync fn by_hand() {}\n\n#[instrument(name = \"x\")]\nasync fn imported() {}\n\nasync fn left() {}\n",
        ),
    ]);
    let before = folder.files();
    let (_, out, _) = folder.run(&[]);
    assert!(
        out.contains("annotated 1 async fn in 1 file; 2 covered before\n"),
        "{out}"
    );
    folder.check(
        &["--remove"],
        "\
package a
src/lib.rs: 1 attribute
removed 1 attribute from 1 file
kept 2 attributes that annotate did not write: src/lib.rs:3:1, src/lib.rs:6:1
",
    );
    assert!(folder.files() == before);
}

#[test]
fn the_dependency_comes_from_where_it_is_told() {
    let add = |args: &[&str]| {
        let folder = Folder::of(&[("Cargo.toml", &manifest("a")), ("src/main.rs", LIB)]);
        let (code, out, err) = folder.run(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        let manifest = folder.read("Cargo.toml");
        let line = manifest.lines().last().unwrap().to_owned();
        (line, out)
    };
    for (args, dependency, with_server) in [
        (
            &["--git", "https://x/y"][..],
            "turbowish = { git = \"https://x/y\" }",
            "turbowish = { git = \"https://x/y\", features = [\"server\"] }",
        ),
        (
            &["--version", "0.1"],
            "turbowish = \"0.1\"",
            "turbowish = { version = \"0.1\", features = [\"server\"] }",
        ),
        (
            &["--clone", &clone()],
            "turbowish = { path = \"/path/to/turbowish\" }",
            "turbowish = { path = \"/path/to/turbowish\", features = [\"server\"] }",
        ),
    ] {
        let (line, out) = add(args);
        assert_eq!(line, format!("{dependency} # turbowish annotate"));
        assert!(out.contains(&format!("add {dependency} to")), "{out}");
        assert!(out.contains(&format!("        {with_server}\n")), "{out}");
    }
    assert!(add(&[]).0.contains(CLONE));
    let folder = package();
    let message = "turbowish: src is not a clone of TurboWish\n";
    check_refused(&folder, &["--clone", "src"], 2, message);
    let (code, _, _) = folder.run_in("", &["--git", "x", "--version", "1"]);
    assert_eq!(code, 2);
}
