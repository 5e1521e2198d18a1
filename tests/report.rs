//! Where the report goes: whatever stands at its path, the program ends, loses nothing that was
//! there, and says what went wrong.
#![cfg(all(target_os = "linux", feature = "enabled"))]

mod program;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{Left, Program, SIGTERM, terminate};
use serde_json::Value;

const EARLIER: &str = "{\"schema\":1,\"process\":{\"name\":\"earlier\"},\"at_unix_ns\":1}\n";

fn program() -> Program {
    Program::example("ways-to-end", &["return"])
}

fn to(program: Program, path: &Path) -> Program {
    program.env("TURBOWISH_REPORT", path.to_str().expect("text"))
}

/// It ended well and told the report as text, with this before it or in it.
fn check(left: &Left, said: &str) {
    assert!(left.status.success(), "{}\n{}", left.status, left.stderr);
    assert!(left.stderr.contains(said), "{}", left.stderr);
    assert!(left.stderr.contains("ways_to_end::work"), "{}", left.stderr);
}

fn check_json(text: &str) {
    let report: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(report["process"]["name"], "ways-to-end");
}

fn fifo(folder: &Path) -> PathBuf {
    let path = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    path
}

/// One who reads and writes has not to wait for another.
fn both_ends(path: &Path) -> File {
    let file = File::options().read(true).write(true).open(path);
    file.expect("it is there")
}

#[test]
fn a_fifo_that_nobody_reads() {
    let program = program();
    let path = fifo(program.folder.path());
    check(&to(program, &path).run(), "no process reads from it");
}

#[test]
fn a_fifo_with_a_reader() {
    let program = program();
    let path = fifo(program.folder.path());
    let reader = both_ends(&path);
    check(&to(program, &path).run(), "full report: ");
    let mut text = String::new();
    BufReader::new(reader).read_line(&mut text).expect("text");
    check_json(&text);
}

#[test]
fn a_fifo_whose_reader_does_not_read() {
    let program = program();
    let path = fifo(program.folder.path());
    let mut reader = both_ends(&path);
    reader.write_all(&[0; 65_536]).expect("it holds so much");
    check(&to(program, &path).run(), "no process reads from it");
}

#[test]
fn stderr_that_nobody_reads() {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(&[0; 65_536]).expect("it holds so much");
    let left = program().stderr(writer).run();
    assert!(left.status.success(), "{}", left.status);
    assert_eq!(left.proc("ways_to_end::work")["calls"], 1);
    drop(reader);
}

#[test]
fn a_pipe() {
    for (path, of) in [("/dev/stderr", true), ("/dev/fd/1", false)] {
        let left = to(program(), Path::new(path)).run();
        check(&left, "full report: ");
        let text = if of { &left.stderr } else { &left.stdout };
        check_json(text.lines().next().expect("a line"));
    }
}

#[test]
fn a_terminal() {
    let controller =
        rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY)
            .expect("a terminal");
    rustix::pty::grantpt(&controller).expect("it is ours");
    rustix::pty::unlockpt(&controller).expect("it is ours");
    let name = rustix::pty::ptsname(&controller, Vec::new()).expect("its name");
    let path = PathBuf::from(name.into_string().expect("text"));
    // Open all the time, so that the end of the program is not that of the terminal.
    let mut terminal = both_ends(&path);
    let screen = std::thread::spawn(move || {
        let lines = BufReader::new(File::from(controller)).lines();
        let lines = lines.map(|line| line.expect("text"));
        lines.take_while(|line| line != "end").collect::<Vec<_>>()
    });
    check(&to(program(), &path).run(), "full report: ");
    terminal.write_all(b"end\n").expect("it is open");
    check_json(&screen.join().expect("it does not panic").concat());
}

#[test]
fn what_cannot_be_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing/report.json");
    let cases = [
        ("/dev/full", "No space left on device"),
        (missing.to_str().expect("text"), "No such file or directory"),
        // Nobody may make a file in there, root neither.
        ("/sys/report.json", "ermission denied"),
        (folder.path().to_str().expect("text"), "is not a report"),
        ("/dev/null/report.json", "Not a directory"),
    ];
    for (path, said) in cases {
        check(&to(program(), Path::new(path)).run(), said);
    }
}

#[test]
fn a_file_that_is_cut_off_leaves_the_earlier_one() {
    let program = Program::example_under(&["prlimit", "--fsize=1000"], "ways-to-end", &["return"]);
    let path = program.folder.path().join("report.json");
    fs::write(&path, EARLIER).expect("written");
    let left = program.run();
    check(&left, "File too large");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), EARLIER);
    assert_eq!(parts(left.folder.path()), 0);
}

/// What is left of reports that are not whole.
fn parts(folder: &Path) -> usize {
    let names = fs::read_dir(folder).expect("it is there");
    let names = names.map(|entry| entry.expect("readable").file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".part"))
        .count()
}

/// In a name space of its own, so that nothing stays mounted: three pages, of which the earlier
/// report and a filler take two or three.
#[test]
fn a_full_disk_leaves_the_earlier_report() {
    let namespace = [&["unshare", "-rm"][..], &["unshare", "-m"]];
    let works = |words: &&&[&str]| {
        let script = "mount -t tmpfs none /mnt";
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["sh", "-c", script]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let Some(namespace) = namespace.iter().find(works) else {
        // The limit of a file's size, above, is the same to the program.
        eprintln!("no file system could be mounted here: a full disk was not tried");
        return;
    };
    for filler in ["4096", "8192"] {
        let script = format!(
            "mount -t tmpfs -o size=12k none /mnt && printf %s '{}' >/mnt/report.json && head -c {filler} /dev/zero >/mnt/filler || exit 9
             TURBOWISH_REPORT=/mnt/report.json \"$@\"; echo \"ended $?\"; ls -A /mnt; cat /mnt/report.json",
            EARLIER.trim_end()
        );
        let under = [*namespace, &["sh", "-c", &*script, "sh"][..]].concat();
        let left = Program::example_under(&under, "ways-to-end", &["large"]).run();
        check(&left, "No space left on device");
        let expected = format!("ended 0\nfiller\nreport.json\n{}", EARLIER.trim_end());
        assert_eq!(left.stdout, expected);
    }
}

#[test]
fn only_its_user_may_read_it() {
    let left = program().run();
    check(&left, "full report: ");
    let report = fs::metadata(left.folder.path().join("report.json")).expect("it is there");
    assert_eq!(report.permissions().mode() & 0o777, 0o600);
}

#[test]
fn processes_that_share_a_path_lose_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    fs::write(&path, EARLIER).expect("written");
    let start = |path: &Path| {
        let program = to(Program::example("sigterm", &["multi-thread", "none"]), path);
        let mut running = program.start();
        assert!(running.until("ready"));
        running
    };
    let check = |path: &str, names: &dyn Fn(u32) -> Vec<String>| {
        let path = folder.path().join(path);
        let running: Vec<_> = (0..3).map(|_| start(&path)).collect();
        running.iter().for_each(|one| terminate(one.pid()));
        for one in running {
            let pid = one.pid();
            let left = one.left();
            assert_eq!(left.status.signal(), Some(SIGTERM), "{}", left.stderr);
            let mut own = names(pid).into_iter().map(|name| folder.path().join(name));
            let is_own = |path: &PathBuf| {
                let text = fs::read_to_string(path).unwrap_or_default();
                let report: Value = serde_json::from_str(&text).unwrap_or_default();
                report["process"]["pid"] == pid
                    && left
                        .stderr
                        .contains(&format!("full report: {}", path.display()))
            };
            assert!(own.any(|path| is_own(&path)), "{}", left.stderr);
        }
    };
    check("report.json", &|pid| {
        vec!["report.json".to_owned(), format!("report.{pid}.json")]
    });
    check("own-%p.json", &|pid| vec![format!("own-{pid}.json")]);
}

/// Each write to a socket of this kind is a message of its own.
#[test]
fn a_line_on_stderr_is_one_write() {
    let (reader, writer) = UnixDatagram::pair().expect("a pair");
    let program = program()
        .env("TURBOWISH", "perhaps")
        .env("TURBOWISH_LIMITS", "no\u{1b}[2J,none=1")
        .env("TURBOWISH_HEARTBEAT", "perhaps")
        .env("TURBOWISH_REPORT", "/sys/report.json")
        .stderr(OwnedFd::from(writer));
    assert!(program.run().status.success());
    reader.set_nonblocking(true).expect("a socket");
    let mut buffer = vec![0; 1 << 16];
    let mut writes = Vec::new();
    while let Ok(length) = reader.recv(&mut buffer) {
        writes.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
    }
    assert!(writes.len() >= 5, "{writes:?}");
    for write in &writes {
        assert!(
            write.starts_with("turbowish: ") && write.ends_with('\n'),
            "{writes:?}"
        );
        assert!(!write.contains('\u{1b}'), "{writes:?}");
    }
    let (report, lines) = writes.split_last().expect("some");
    assert!(report.ends_with("to watch it live: turbowish top\n"));
    assert!(
        lines.iter().all(|line| line.lines().count() == 1),
        "{writes:?}"
    );
}

#[test]
fn the_name_of_a_task_may_be_of_any_length() {
    let left = Program::example("ways-to-end", &["long-name"]).run();
    assert_eq!(left.status.code(), Some(5), "{}", left.status);
    assert!(left.stderr.contains(&"n".repeat(70_000)));
    assert_eq!(left.proc("ways_to_end::forever")["live"], 1);
}

#[test]
fn the_head_says_what_the_table_says_although_the_runtime_is_gone() {
    for beginning in ["then-current-thread", "then-multi-thread"] {
        let program = Program::example("sigterm", &[beginning, "tokio"]);
        let left = program.run_until_ready(|pid, _| terminate(pid));
        assert_eq!(left.status.code(), Some(7), "{}", left.stderr);
        let head = left.stderr.split("in polls ").nth(1).expect("a head");
        let share = head.split('%').next().expect("a share");
        let sum = left.stderr.split("total in polls").nth(1).expect("a sum");
        assert_eq!(
            sum.split_whitespace().next(),
            Some(share),
            "{}",
            left.stderr
        );
        assert!(!left.stderr.contains("of 0%"), "{}", left.stderr);
    }
}
