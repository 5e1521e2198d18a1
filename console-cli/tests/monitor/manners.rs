//! What each command says of a monitor that does not behave: one line that says what is wrong, and
//! an exit code.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};

use turbowish_wire::VERSION;

use super::{Host, Manner, gate, kv};
use crate::terminal;

/// Commands that ask a monitor once.
const ASK: [&[&str]; 5] = [
    &["query", "procs", "4242"],
    &["query", "tasks", "4242", "-o", "json"],
    &["query", "alert", "4242"],
    &["tree", "4242"],
    &["top", "4242"],
];

/// Each command fails with code 3 and one line, which begins and ends so.
fn check(manner: Manner, begin: &str, end: &str) {
    let host = Host::empty();
    host.start_with(kv(), manner);
    for args in ASK {
        let (code, text) = host.failure(args);
        assert_eq!(code, Some(3), "{manner:?} {args:?}: {text}");
        let line = text.strip_suffix('\n').unwrap_or_default();
        assert!(!line.contains('\n'), "{manner:?} {args:?}: {text}");
        let told = line.strip_prefix("turbowish: ").unwrap_or_default();
        assert!(
            told.starts_with(begin) && told.ends_with(end),
            "{manner:?} {args:?}: {text}"
        );
    }
}

#[test]
fn another_protocol_is_one_line_in_every_command() {
    let later = "kv 4242 speaks protocol 2, this console 1: update turbowish-cli";
    check(Manner::Speaks(2), later, "");
    let earlier = format!(
        "kv 4242 speaks protocol 0, this console 1: update the crate turbowish in it (it has {VERSION})"
    );
    check(Manner::Speaks(0), &earlier, "");
}

#[test]
fn a_silent_monitor_is_not_waited_for() {
    check(
        Manner::Mute,
        "process 4242 does not answer within 1s: it may be stopped",
        "",
    );
}

#[test]
fn what_is_no_monitor_is_a_stranger() {
    let stranger = "process 4242 does not speak the TurboWish protocol (";
    let end = "): is another program there?";
    check(Manner::Garbage, stranger, end);
    check(Manner::HangsUp, stranger, end);
    check(Manner::Cuts(0), stranger, end);
    // In the middle of the greeting.
    check(Manner::Cuts(60), stranger, end);
}

#[test]
fn an_answer_that_cannot_be_read_says_why() {
    check(Manner::Cuts(5000), "kv 4242 is gone (", ")");
    check(
        Manner::Oversize,
        "kv 4242 sends more than the 64 MiB that this console accepts at once",
        "",
    );
    check(
        Manner::Malformed,
        "kv 4242 sent data that this console does not understand (",
        "): update turbowish-cli",
    );
}

/// 60 MB that would take 17 GB once decoded, and the console has one.
#[test]
fn rows_that_take_too_much_memory_are_not_decoded() {
    for rows in [30_000_000, 1_000_000] {
        let host = Host::empty();
        host.start_with(kv(), Manner::Heavy(rows));
        let program = host.command();
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 1048576; exec \"$@\"", "sh"])
            .arg(program.get_program())
            .args(["query", "tasks", "4242"])
            .env("TURBOWISH_RUNTIME_DIR", host.path())
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "turbowish: kv 4242 sends rows that take more than the 256 MiB of memory that this console has for \
             them: ask for fewer rows\n"
        );
        assert_eq!(output.status.code(), Some(3));
    }
}

/// What a program is sent that has taken the port, and what the console says of it.
#[test]
fn a_program_that_has_taken_the_port_is_told_nothing() {
    let host = Host::empty();
    for answer in [&b""[..], b"-ERR unknown command\r\n", &[0x5a; 4096]] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = port.local_addr().unwrap().to_string();
        let heard = std::thread::spawn(move || {
            let (mut stream, _) = port.accept().unwrap();
            let mut heard = vec![0; 42];
            stream.read_exact(&mut heard).unwrap();
            let _ = stream.write_all(answer);
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut heard);
            heard
        });
        let token = "5f2c9a7be01d43865f2c9a7be01d4386";
        let args = ["query", "procs", &address, "--token", token];
        let (code, text) = host.failure(&args);
        assert_eq!(code, Some(3), "{text}");
        let expected = format!("turbowish: {address} does not speak the TurboWish protocol (");
        assert!(text.starts_with(&expected), "{text}");
        let heard = heard.join().unwrap();
        assert!(heard.starts_with(b"turbowish\x01"), "{heard:?}");
        assert_eq!(heard.len(), 42, "its name, a version and a random number");
    }
    let (code, text) = host.failure(&["query", "procs", "127.0.0.1:1"]);
    assert_eq!(code, Some(3), "{text}");
}

#[test]
fn a_slow_monitor_is_waited_for() {
    let host = Host::empty();
    host.start_with(kv(), Manner::Slow);
    let quick = Host::with_kv();
    for args in ASK {
        assert_eq!(host.stdout(args), quick.stdout(args), "{args:?}");
    }
}

#[test]
fn one_that_does_not_behave_leaves_the_others_alone() {
    let host = Host::with_kv();
    host.start_with(gate(), Manner::Garbage);
    let output = host.run(&["ps"]);
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("kv") && stdout.contains("5120"), "{stdout}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("is another program there?"), "{stderr}");
    assert_eq!(
        host.stdout(&["query", "procs", "4242"]),
        Host::with_kv().stdout(&["query", "procs"])
    );
}

/// On a terminal as well, it is told before the screen opens.
#[test]
fn a_screen_is_opened_for_a_monitor_only() {
    for (manner, expected) in [
        (
            Manner::Speaks(7),
            "turbowish: kv 4242 speaks protocol 7, this console 1: update turbowish-cli\n",
        ),
        (
            Manner::Garbage,
            "turbowish: process 4242 does not speak the TurboWish protocol",
        ),
    ] {
        let host = Host::empty();
        host.start_with(kv(), manner);
        let (ours, theirs) = terminal();
        let output = host
            .command()
            .args(["top", "4242"])
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with(expected), "{stderr}");
        assert_eq!(output.status.code(), Some(3));
        drop(ours);
    }
}
