//! Tests of reports that are written beside other reports.

use std::fs;
use std::io;
use std::path::Path;

use super::{Temporary, beside, replace};
use crate::settings::with_pid;

fn report(name: &str, at: u64) -> String {
    format!(
        "{{\"schema\":1,\"process\":{{\"name\":\"{name}\",\"command\":\"x,\\\"at_unix_ns\\\":999,\"}},\"at_unix_ns\":{at},\"window_ns\":5}}\n"
    )
}

fn put(path: &Path, name: &str, begun: u64, at: u64) -> io::Result<String> {
    let written = replace(path, report(name, at).as_bytes(), begun, || {})?;
    assert_eq!(fs::read_to_string(&written)?, report(name, at));
    let written = written.file_name().expect("a name");
    Ok(written.to_string_lossy().into_owned())
}

/// Names of the files in the folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn an_earlier_report_is_replaced_and_a_sibling_s_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let pid = std::process::id();
    // Start time of the process, time of the report, and expected name.
    let check = |name: &str, begun: u64, at: u64, expected: &str| {
        assert_eq!(put(&path, name, begun, at).expect("written"), expected);
    };
    check("first", 100, 200, "report.json");
    check("next", 201, 300, "report.json");
    check("sibling of next", 250, 310, &format!("report.{pid}.json"));
    check(
        "the same in a container",
        260,
        320,
        &format!("report.{pid}-2.json"),
    );
    check("later", 400, 500, "report.json");
    let expected = [
        format!("report.{pid}-2.json"),
        format!("report.{pid}.json"),
        "report.json".to_owned(),
    ];
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn of_many_that_end_together_none_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    put(&path, "earlier", 1, 2).expect("written");
    let together = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (path, together) = (&path, &together);
            scope.spawn(move || {
                together.wait();
                put(path, &format!("n{n}"), 10, 20 + n).expect("written");
            });
        }
    });
    let mut left: Vec<String> = names(folder.path())
        .iter()
        .map(|name| fs::read_to_string(folder.path().join(name)).expect("a report"))
        .collect();
    left.sort();
    let expected: Vec<String> = (0..8).map(|n| report(&format!("n{n}"), 20 + n)).collect();
    assert_eq!(left, expected);
}

#[test]
fn a_renamed_file_takes_no_other_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let first = Temporary::write(&path, b"first", || {}).expect("written");
    first.rename(&path).expect("renamed");
    let second = Temporary::write(&path, b"second", || {}).expect("written");
    assert_eq!(first.path, second.path, "the name is free again");
    drop(first);
    assert_eq!(fs::read(&second.path).expect("it is there"), b"second");
}

#[test]
fn what_is_no_report_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        assert!(put(&path, "new", 1, 2).is_err(), "{name}");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
    };
    check("empty.json", "");
    check("other.json", "{\"schema\":1}");
    #[cfg(unix)]
    {
        let path = folder.path().join("report.json");
        put(&path, "aim of a link", 1, 2).expect("written");
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert!(put(&link, "new", 3, 4).is_err());
    }
}

#[cfg(unix)]
#[test]
fn only_its_user_may_read_it() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report");
    put(&path, "first", 1, 2).expect("written");
    let mode = || {
        fs::metadata(&path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("they are ours");
    put(&path, "second", 3, 4).expect("written");
    assert_eq!(mode(), 0o600);
}

#[test]
fn the_name_holds_the_process() {
    let pid = std::process::id();
    let check = |path: &str, expected: String| {
        assert_eq!(with_pid(Path::new(path)), Path::new(&expected));
    };
    check("a/%p.json", format!("a/{pid}.json"));
    check("a%p/%p%", format!("a{pid}/{pid}%"));
    check("report.json", "report.json".to_owned());
    let check = |path: &str, expected: String| {
        assert_eq!(beside(Path::new(path), 1), Path::new(&expected));
    };
    check("a/b.tar.json", format!("a/b.tar.{pid}.json"));
    check("b", format!("b.{pid}"));
    check(".b", format!(".b.{pid}"));
}
