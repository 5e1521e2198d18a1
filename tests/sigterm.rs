//! SIGTERM ends a program as it would without a report, whatever exists when `init` is called, and
//! whoever listens.
#![cfg(all(unix, feature = "enabled"))]

mod program;

use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use program::{Left, Program, SIGINT, SIGTERM, send, terminate};

const BEGINNINGS: [&str; 5] = [
    "current-thread",
    "multi-thread",
    "thread",
    "then-current-thread",
    "then-multi-thread",
];

/// Who listens, and whether it is for SIGTERM.
const HANDLERS: [(&str, bool); 5] = [
    ("none", false),
    ("hangup", false),
    ("hook-before", true),
    ("hook-after", true),
    ("tokio", true),
];

#[derive(Clone, Copy, Debug)]
enum Report {
    Off,
    Stderr,
    File,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    beginning: &'static str,
    handler: &'static str,
    listens: bool,
    report: Report,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for beginning in BEGINNINGS {
            for (handler, listens) in HANDLERS {
                for report in [Report::Off, Report::Stderr, Report::File] {
                    all.push(Self {
                        beginning,
                        handler,
                        listens,
                        report,
                    });
                }
            }
        }
        all
    }

    fn program(&self) -> Program {
        let program = Program::example("sigterm", &[self.beginning, self.handler]);
        match self.report {
            Report::Off => program.env("TURBOWISH_REPORT", "0"),
            Report::Stderr => program.env("TURBOWISH_REPORT", "1"),
            Report::File => program,
        }
    }

    /// What is wrong with the end of this program.
    fn wrong(&self) -> Option<String> {
        let mut running = self.program().start();
        if !running.until("ready") {
            return Some(self.told("it did not start", &running.left()));
        }
        terminate(running.pid());
        if self.listens && running.until("closing") {
            // Whoever listens has got it; a second one must not cost them their shutdown.
            terminate(running.pid());
        }
        let left = running.left();
        let as_expected = match self.listens {
            true => left.status.code() == Some(7) && left.stdout.ends_with("bye\n"),
            false => left.status.signal() == Some(SIGTERM),
        };
        if !as_expected {
            return Some(self.told("it ended otherwise", &left));
        }
        let calls = if self.listens { 2 } else { 1 };
        let report_is_right = match self.report {
            Report::Off => left.stderr.is_empty() && left.report.is_none(),
            Report::Stderr => is_text(&left) && left.report.is_none(),
            Report::File => is_text(&left) && left.proc("sigterm::work")["calls"] == calls,
        };
        (!report_is_right).then(|| self.told("the report is not right", &left))
    }

    fn told(&self, what: &str, left: &Left) -> String {
        format!("{self:?}: {what}: {}\n{}", left.status, left.stderr)
    }
}

/// One report, and nothing else.
fn is_text(left: &Left) -> bool {
    left.stderr.starts_with("turbowish: sigterm pid ")
        && left.stderr.matches("in polls").count() == 2
        && left.stderr.ends_with("to watch it live: turbowish top\n")
}

/// Several at a time, each in processes of its own. Panics with all that is wrong.
fn check<T: Sync>(cases: &[T], wrong: impl Fn(&T) -> Option<String> + Sync) {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wrong = wrong(case);
                    found.lock().expect("no panic under it").extend(wrong);
                }
            });
        }
    });
    let found = found.into_inner().expect("no panic under it");
    assert!(
        found.is_empty(),
        "{} wrong:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn a_program_ends_as_it_would_without_us() {
    check(&Case::all(), Case::wrong);
}

#[test]
fn ctrl_c_is_not_listened_for() {
    check(&BEGINNINGS, |beginning| {
        // A shell that starts this test in the background makes it ignore SIGINT, and its children.
        let program = Program::example_under(
            &["env", "--default-signal=INT"],
            "sigterm",
            &[beginning, "none"],
        );
        let left = program.run_until_ready(|pid, _| send(SIGINT, pid));
        let quiet = left.stderr.is_empty() && left.report.is_none();
        (left.status.signal() != Some(SIGINT) || !quiet)
            .then(|| format!("{beginning}: {} {}", left.status, left.stderr))
    });
}

/// The stacks of threads are asked to be larger than any memory, so none can be started.
#[test]
fn sigterm_is_not_lost_if_no_thread_can_be_started() {
    for beginning in ["current-thread", "then-current-thread"] {
        let program = Program::example("sigterm", &[beginning, "none"])
            .env("RUST_MIN_STACK", "4611686018427387904");
        let left = program.run_until_ready(|pid, _| terminate(pid));
        assert_eq!(left.status.signal(), Some(SIGTERM), "{}", left.stderr);
        let said = left.stderr.contains("turbowish: no report at SIGTERM: ");
        assert!(said, "{}", left.stderr);
        // Who ends by itself has its report all the same.
        let program = Program::example("sigterm", &[beginning, "hook-after"])
            .env("RUST_MIN_STACK", "4611686018427387904");
        let left = program.run_until_ready(|pid, _| terminate(pid));
        assert_eq!(left.status.code(), Some(7), "{}", left.stderr);
        assert_eq!(left.proc("sigterm::work")["calls"], 2);
    }
}
