//! Recordings of real processes, which are killed, or have no room for a file.

use std::fs::{self, File, OpenOptions};
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::task::{Context, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use turbowish_model::collect::call_events::CallItem;
use turbowish_model::event::{CallEvent, EventClasses};
use turbowish_recording::{ChunkHeader, ChunkKind, HEADER_BYTES, PollBatch, Reader};
use turbowish_wire::Action;
use turbowish_wire::client::{Connection, Target};
use turbowish_wire::discovery;

use super::monitor::Host;

mod rewind;

const ROLE: &str = "TURBOWISH_TEST_RECORDED";

/// Long enough for a loaded machine; no test waits for its end.
const PATIENCE: Duration = Duration::from_secs(60);

#[turbowish::instrument]
async fn tick() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[turbowish::instrument]
async fn ticks() {
    loop {
        tick().await;
    }
}

/// Names a file in which a thread counts the polls that it has done.
const TOLD: &str = "TURBOWISH_TEST_TOLD";

#[turbowish::instrument]
async fn turns() {
    std::future::pending::<()>().await;
}

/// Polls a task for ever. After each poll its number is in the file, however the process ends.
fn tell(path: &str) {
    let file = File::create(path).unwrap();
    let mut turns = Box::pin(turbowish::TaskBuilder::new().name("turns").task(turns()));
    let mut cx = Context::from_waker(Waker::noop());
    for count in 1_u64.. {
        assert!(turns.as_mut().poll(&mut cx).is_pending());
        file.write_all_at(&count.to_le_bytes(), 0).unwrap();
    }
}

/// How many polls the thread has told of.
fn told(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// What the tests start as another process; without its variable it is nothing.
#[test]
fn recorded_program() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let _turbowish = turbowish::Builder::new().name("recorded").init();
    if let Ok(path) = std::env::var(TOLD) {
        let teller = std::thread::Builder::new().name("teller".into());
        teller.spawn(move || tell(&path)).unwrap();
    }
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(end);
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ticks = turbowish::TaskBuilder::new().name("ticks").task(ticks());
        tokio::select! {
            () = ticks => {}
            _ = ended => {}
        }
    });
}

/// A process that records, unless it is told otherwise.
struct Recorded {
    child: Child,
    folder: PathBuf,
}

impl Recorded {
    fn start(folder: &Path, environment: &[(&str, &str)]) -> Self {
        Self::start_under(&[], folder, environment)
    }

    /// Starts it by another program.
    fn start_under(under: &[&str], folder: &Path, environment: &[(&str, &str)]) -> Self {
        let program = std::env::current_exe().unwrap();
        let words: Vec<_> = under
            .iter()
            .map(AsRef::as_ref)
            .chain([program.as_os_str()])
            .collect();
        let child = Command::new(words[0])
            .args(&words[1..])
            .args(["--exact", "recordings::recorded_program", "--nocapture"])
            .env_remove("TURBOWISH_RECORD")
            .env_remove("TURBOWISH_RECORD_BYTES")
            .env(ROLE, "1")
            .env("TURBOWISH_RUNTIME_DIR", folder)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            child,
            folder: folder.to_owned(),
        }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn segments(&self) -> [PathBuf; 2] {
        discovery::segments(&self.folder, self.pid())
    }

    /// Number of states in its file.
    fn states(&self) -> usize {
        states(&self.segments()[1]).len()
    }

    async fn connect(&self) -> Connection {
        let target = Target::Socket(discovery::socket(&self.folder, self.pid()));
        let begun = Instant::now();
        loop {
            match Connection::connect(&target).await {
                Ok(connection) => return connection,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Ends it in order. Returns what it has printed on stderr.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }
}

/// Times of the states in a file; none if it is not there, or not begun.
fn states(path: &Path) -> Vec<u64> {
    let reader = File::open(path)
        .ok()
        .and_then(|file| Reader::open(file).ok());
    let states = reader.map(|reader| reader.states().to_vec());
    let states = states.unwrap_or_default().into_iter();
    states.map(|state| state.at_unix_ns).collect()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn unix_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_nanos()).unwrap()
}

fn text(output: Output) -> (Option<i32>, String, String) {
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn what_was_recorded_is_there_after_kill_9() {
    let host = Host::empty();
    let mut process = Recorded::start(host.path(), &[]);
    let pid = process.pid().to_string();
    until("three states", || process.states() >= 3);
    process.child.kill().unwrap();
    let killed = unix_ns();
    process.child.wait().unwrap();
    // What the process could not finish.
    let [old, new] = process.segments();
    let before = states(&new);
    let cut = fs::metadata(&new).unwrap().len() - 1;
    let whole = fs::read(&new).unwrap();
    let appended = &whole[whole.len() / 2..];
    OpenOptions::new()
        .append(true)
        .open(&new)
        .unwrap()
        .write_all(&appended[..40])
        .unwrap();
    assert!(!old.exists());

    let line = format!("{pid}  died, recording of ");
    let (code, listed, _) = text(host.run(&["ps"]));
    assert!(code == Some(0) && listed.starts_with(&line), "{listed}");
    assert!(
        listed
            .trim_end()
            .ends_with(&format!("  turbowish recover {pid}")),
        "{listed}"
    );

    let out = host.path().join("x.tw");
    let name = out.to_str().unwrap();
    let told = host.stdout(&["recover", &pid, "-o", name]);
    let count = before.len();
    let begin = format!("{name}: {count} states of process {pid}, 20");
    let first = told.lines().next().unwrap();
    assert!(
        first.starts_with(&begin) && first.ends_with(" 0 lost"),
        "{told}"
    );
    assert_eq!(
        fs::metadata(&out).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let mut reader = Reader::open(File::open(&out).unwrap()).unwrap();
    assert!(reader.damage().is_none(), "{:?}", reader.damage());
    assert_eq!(states(&out), before);
    let last = *before.last().unwrap();
    let age = killed.saturating_sub(last);
    assert!(last <= killed && age < 1_500_000_000, "{age} ns");
    let state = reader.snapshot(count - 1).unwrap();
    assert_eq!(
        (state.process.name.as_str(), state.process.pid),
        ("recorded", process.pid())
    );
    assert!(
        state
            .tasks
            .rows
            .iter()
            .any(|task| task.name.contains("ticks"))
    );

    let (code, stdout, stderr) = text(host.run(&["recover", &pid, "-o", name]));
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(
        stderr.contains("cannot write") && stderr.contains("exists"),
        "{stderr}"
    );
    assert_eq!(states(&out), before);

    // The last one is cut off.
    OpenOptions::new()
        .write(true)
        .open(&new)
        .unwrap()
        .set_len(cut)
        .unwrap();
    let other = host.path().join("y.tw");
    host.stdout(&["recover", &pid, "-o", other.to_str().unwrap()]);
    assert_eq!(states(&other), before[..count - 1]);
}

/// The batches of the thread that has told of its polls.
fn tellers(path: &Path, has_names: bool) -> Vec<PollBatch> {
    let mut reader = Reader::open(File::open(path).unwrap()).unwrap();
    assert!(reader.damage().is_none(), "{:?}", reader.damage());
    let (names, faults) = reader.names().unwrap();
    assert_eq!(faults, 0);
    let batches: Vec<PollBatch> = (0..reader.polls().len())
        .map(|nth| reader.batch(nth).unwrap())
        .collect();
    let most = batches.iter().max_by_key(|batch| batch.next()).unwrap();
    let teller = most.thread;
    assert_eq!(names.thread(teller), has_names.then_some("teller"));
    for poll in batches.iter().filter(|batch| batch.thread == teller) {
        let polls = poll.polls.iter();
        let functions = polls.map(|poll| names.path(poll.path).pop().map(|call| call.proc));
        for function in functions {
            let known = function.and_then(|function| names.proc(function));
            // One that is not named is not another one.
            let path = known.map(|known| known.path.rsplit("::").next().unwrap().to_owned());
            assert_eq!(path.as_deref(), has_names.then_some("turns"));
        }
    }
    let own = batches.into_iter().filter(|batch| batch.thread == teller);
    own.collect()
}

/// Every poll that a thread has told of is there, to the last one, or was overwritten long before
/// the end and is counted.
#[test]
fn the_last_polls_are_there_after_kill_9() {
    let host = Host::empty();
    let path = host.path().join("told");
    let name = path.to_str().unwrap();
    let mut process = Recorded::start(host.path(), &[(TOLD, name)]);
    let pid = process.pid().to_string();
    // The ring was overwritten, and its polls were copied.
    until("many polls", || told(&path) > 100_000);
    until("two states", || process.states() >= 2);
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let told = told(&path);
    let ring = discovery::ring(host.path(), process.pid());
    let mode = fs::metadata(&ring).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let line = format!("{pid}  died, recording of ");
    let (code, listed, _) = text(host.run(&["ps"]));
    assert!(code == Some(0) && listed.starts_with(&line), "{listed}");
    let out = host.path().join("x.tw");
    let lines = host.stdout(&["recover", &pid, "-o", out.to_str().unwrap()]);
    assert!(
        lines.contains(" states of process ") && lines.contains(" polls, "),
        "{lines}"
    );

    let batches = tellers(&out, true);
    let mut next = 0;
    for batch in &batches {
        assert_eq!(
            batch.first,
            next + batch.lost,
            "nothing is missing or there twice"
        );
        next = batch.next();
    }
    // It may have ended one more before it could tell.
    assert!(next == told || next == told + 1, "{next} of {told}");
    let last = batches.last().unwrap();
    let ends = last.polls.windows(2);
    assert!(
        ends.into_iter()
            .all(|two| two[0].end_unix_ns() <= two[1].start_unix_ns)
    );

    // A process that has left nothing else.
    for segment in process.segments() {
        let _ = fs::remove_file(segment);
    }
    let (code, listed, _) = text(host.run(&["ps"]));
    assert!(code == Some(0) && listed.starts_with(&line), "{listed}");
    let alone = host.path().join("y.tw");
    let lines = host.stdout(&["recover", &pid, "-o", alone.to_str().unwrap()]);
    assert!(lines.contains(": 0 states of process "), "{lines}");
    let batches = tellers(&alone, false);
    let [batch] = &batches[..] else {
        panic!("{} batches", batches.len());
    };
    assert_eq!((batch.next(), batch.polls.len()), (next, 8_191));

    // Whatever else is there is said.
    fs::write(&ring, "no rings").unwrap();
    let (code, stderr) = host.failure(&["recover", &pid, "-o", "z.tw"]);
    let is_said = stderr.contains("without the last polls") && stderr.contains("damaged");
    assert!(code == Some(1) && is_said, "{stderr}");
}

/// Without room in the file, polls are kept in memory as before.
#[test]
fn a_ring_that_has_no_room_in_a_file_costs_one_line() {
    let host = Host::empty();
    let mut process = Recorded::start_under(&["prlimit", "--fsize=300000"], host.path(), &[]);
    let mut stderr = process.child.stderr.take().unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "it has ended");
        line.push(byte[0]);
    }
    let ring = discovery::ring(host.path(), process.pid());
    let begin = format!(
        "turbowish: the last polls before a crash may be lost: {}: ",
        ring.display()
    );
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with(&begin), "{line}");
    until("two states", || process.states() >= 2);
    assert!(fs::metadata(&ring).unwrap().len() < 300_000);
    process.child.stderr = Some(stderr);
    assert!(!process.end().contains("the last polls"));
    assert!(!ring.exists());
}

/// Exports a recording in each format.
fn exports(host: &Host, name: &str) {
    let export = |format: &str, out: &Path| {
        let told = host.stdout(&["export", name, format, "-o", out.to_str().unwrap()]);
        assert!(told.contains(" polls, 0 lost, "), "{told}");
    };
    for format in ["--chrome", "--folded", "--folded-waiting"] {
        let out = host.path().join(format);
        export(format, &out);
        let written = fs::read_to_string(out).unwrap();
        assert!(written.contains("recordings::tick"), "{format}: {written}");
    }
    let profile = host.path().join("x.pb.gz");
    export("--pprof", &profile);
    assert!(fs::read(&profile).unwrap().starts_with(&[0x1f, 0x8b]));
    export("--perfetto", &host.path().join("x.pftrace"));
    let trace = host.path().join("x.ctf");
    export("--ctf", &trace);
    let metadata = fs::read_to_string(trace.join("metadata")).unwrap();
    assert!(metadata.contains("recordings::tick"), "{metadata}");
    // What is there is not overwritten.
    let words = ["export", name, "--ctf", "-o", trace.to_str().unwrap()];
    let (code, _, stderr) = text(host.run(&words));
    assert!(code == Some(1) && stderr.contains("exists"), "{stderr}");
    let (code, _, stderr) = text(host.run(&["export", name, "-o", "x"]));
    assert!(code == Some(2) && stderr.contains("--chrome"), "{stderr}");
}

#[test]
fn a_process_that_runs_is_asked_for_its_past() {
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[]);
    let pid = process.pid().to_string();
    until("three states", || process.states() >= 3);
    let out = host.path().join("x.tw");
    let name = out.to_str().unwrap();
    let told = host.stdout(&["snapshot", &pid, "-o", name]);
    let begin = format!("{name}: ");
    let count = states(&out).len();
    assert!(told.starts_with(&begin) && count >= 3, "{told}");
    assert!(
        told.contains(&format!(" states of recorded {pid}, ")),
        "{told}"
    );
    let mode = fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // An instant of the process is the same as that of the file.
    let mut reader = Reader::open(File::open(&out).unwrap()).unwrap();
    let at = reader.states()[1].at_unix_ns;
    let uptime_ns = reader.snapshot(1).unwrap().process.uptime_ns;
    let (seconds, rest) = (at / 1_000_000_000, at % 1_000_000_000);
    let instant = Command::new("date")
        .args([
            "-u",
            "-d",
            &format!("@{seconds}"),
            &format!("+%FT%T.{rest:09}Z"),
        ])
        .output()
        .unwrap();
    let (_, instant, _) = text(instant);
    let instant = instant.trim();
    // Which state it is, is said beside it.
    let of = |words: &[&str]| {
        let (code, stdout, stderr) = text(host.run(words));
        assert!(
            code == Some(0) && stderr.contains(": state 2 of "),
            "{stderr}"
        );
        stdout
    };
    let tasks = |source: &str| {
        of(&[
            "query", "tasks", source, "--at", instant, "--format", "json",
        ])
    };
    let (live, filed) = (tasks(&pid), tasks(name));
    assert!(live.contains(&uptime_ns.to_string()), "{live}");
    assert_eq!(live, filed);
    // Without a screen, the console prints the page of that instant.
    let page = of(&["top", &pid, "--at", instant]);
    assert!(page.contains("recordings::tick"), "{page}");

    // What its task did, of the process and of its file.
    for source in [&*pid, name] {
        let (code, lines, stderr) = text(host.run(&["history", source, "-n", "5"]));
        assert!(
            code == Some(0) && stderr.contains("the last 5 of "),
            "{stderr}"
        );
        assert_eq!(lines.lines().count(), 6, "{lines}");
        assert!(lines.contains("recordings::tick"), "{lines}");
    }
    let (code, _, stderr) = text(host.run(&["history", name, "--task", "nobody"]));
    assert!(
        code == Some(2) && stderr.contains("has nothing of that kind"),
        "{stderr}"
    );
    exports(&host, name);

    // The last second has fewer states, and no file is overwritten.
    let short = host.path().join("y.tw");
    host.stdout(&[
        "snapshot",
        &pid,
        "-o",
        short.to_str().unwrap(),
        "--last",
        "1ms",
    ]);
    assert_eq!(states(&short).len(), 1);
    let (code, _, stderr) = text(host.run(&["snapshot", &pid, "-o", name]));
    assert!(code == Some(1) && stderr.contains("exists"), "{stderr}");
    assert_eq!(states(&out).len(), count);

    let quiet = Recorded::start(host.path(), &[("TURBOWISH_RECORD", "off")]);
    let other = quiet.pid().to_string();
    until("it listens", || {
        discovery::socket(host.path(), quiet.pid()).exists()
    });
    let none = host.path().join("z.tw");
    let words = ["snapshot", &other, "-o", none.to_str().unwrap()];
    let (code, stderr) = host.failure(&words);
    let is_told = stderr.contains("keeps no states") && stderr.contains("TURBOWISH_RECORD=off");
    assert!(code == Some(3) && is_told, "{stderr}");
    assert!(!none.exists());
}

/// What a process records unless it is told otherwise.
const USUAL: &str = "states,polls,waits,user";

/// A recording that the console's command has made of these classes of a process, which records
/// others anyway.
fn of_classes(host: &Host, pid: &str, classes: &str, anyway: &str) -> Reader<File> {
    let out = host.path().join(format!("{classes}.tw"));
    let name = out.to_str().unwrap();
    let words = [
        "record", pid, "--events", classes, "-o", name, "--for", "700ms",
    ];
    let (code, stdout, stderr) = text(host.run(&words));
    assert_eq!((code, &*stdout), (Some(0), ""), "{stderr}");
    let begin = format!("recorded {pid} records {classes} until this ends, and {anyway} anyway");
    assert!(stderr.contains(&begin) && stderr.contains(name), "{stderr}");
    // What it does after the command.
    let last = format!("recorded {pid} goes on recording {anyway}");
    assert!(stderr.trim_end().ends_with(&last), "{stderr}");
    let reader = Reader::open(File::open(&out).unwrap()).unwrap();
    assert!(reader.damage().is_none());
    reader
}

/// A file has the classes that were asked for, which the process records beside its own; those can
/// be changed while it runs.
#[test]
fn classes_of_events_change_while_a_process_runs() {
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[]);
    let pid = process.pid().to_string();
    until("a state", || process.states() >= 1);
    let ring = discovery::ring(host.path(), process.pid());
    let reader = of_classes(&host, &pid, "polls,user", USUAL);
    assert!(!reader.polls().is_empty() && ring.exists());
    assert!(reader.states().is_empty() && reader.calls().is_empty());
    let mut reader = of_classes(&host, &pid, "calls", USUAL);
    assert!(reader.states().is_empty() && reader.polls().is_empty() && ring.exists());
    let items: Vec<_> = reader.recorded_calls().unwrap().0.into_iter().collect();
    let is_end = |item: &&CallItem| {
        let CallItem::Event { event, .. } = item else {
            return false;
        };
        matches!(event.call(), Some((_, CallEvent::PollEnd(_))))
    };
    assert!(items.iter().filter(is_end).count() > 3, "{items:?}");
    assert!(reader.names().unwrap().0.proc(0).is_some());

    let set = |classes: &str, before: &str| {
        let (_, stdout, stderr) = text(host.run(&["record", &pid, "--events", classes]));
        assert_eq!(stdout, "");
        let now = if classes.is_empty() {
            "nothing"
        } else {
            classes
        };
        let told = format!("records {now} from now on; before, it recorded {before}");
        assert!(stderr.contains(&told), "{stderr}");
    };
    set("user", USUAL);
    until("no ring", || !ring.exists());
    let none = process.states();
    let _ = of_classes(&host, &pid, "polls", "user");
    assert_eq!(process.states(), none);
    let reader = of_classes(&host, &pid, "states,waits", "user");
    assert!(!reader.states().is_empty() && reader.polls().is_empty());

    let (code, stderr) = host.failure(&["record", &pid, "--events", "polls,plls"]);
    let told = "\"plls\" is no class of events; they are states, polls, waits, user, calls";
    assert!(code == Some(2) && stderr.contains(told), "{stderr}");
    set("", "user");
    assert_eq!(process.end(), "");
}

/// Whatever ends the command, the process records what it did before; and what another command
/// records goes on.
#[test]
fn a_recorder_of_classes_leaves_the_process_as_it_was() {
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[]);
    let pid = process.pid().to_string();
    until("a state", || process.states() >= 1);
    let begin = |name: &str| {
        let out = host.path().join(name);
        let mut command = host.command();
        let words = ["record", &pid, "--events", "calls", "-o"];
        let child = command.args(words).arg(&out).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        until("the file", || {
            assert_eq!(child.try_wait().unwrap(), None, "it has ended");
            out.exists()
        });
        child
    };
    let recorded = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let socket = discovery::socket(host.path(), process.pid());
            let console = Connection::connect(&Target::Socket(socket)).await.unwrap();
            let none = Action::HoldEvents(EventClasses::NONE);
            let reply = console.controlled(none).await.unwrap();
            reply.recorded_before.unwrap().text()
        })
    };
    let all = format!("{USUAL},calls");
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let [mut one, mut other] = ["one.tw", "other.tw"].map(begin);
        let end = |child: &mut Child| {
            kill_process(Pid::from_child(child), signal).unwrap();
            child.wait().unwrap()
        };
        let is_whole = end(&mut one).success();
        assert_eq!(is_whole, signal == Signal::INT);
        assert_eq!(recorded(), all);
        end(&mut other);
        until("no calls", || recorded() == USUAL);
        for name in ["one.tw", "other.tw"] {
            fs::remove_file(host.path().join(name)).unwrap();
        }
    }
    assert_eq!(process.end(), "");
}

#[test]
fn classes_are_refused_where_nothing_is_recorded() {
    let host = Host::empty();
    let quiet = Recorded::start(host.path(), &[("TURBOWISH_RECORD", "off")]);
    until("it listens", || {
        discovery::socket(host.path(), quiet.pid()).exists()
    });
    let pid = quiet.pid().to_string();
    let out = host.path().join("refused.tw");
    let words = [
        "record",
        &pid,
        "--events",
        "polls",
        "-o",
        out.to_str().unwrap(),
    ];
    let (_, stderr) = host.failure(&words);
    assert!(stderr.contains("nothing is recorded: "), "{stderr}");
    assert!(!out.exists(), "a refusal leaves no file");
    // Nor does it touch the one that is there.
    fs::write(&out, "kept").unwrap();
    let _ = host.failure(&[&words[..], &["--force"]].concat());
    assert_eq!(fs::read_to_string(&out).unwrap(), "kept");
    let (_, stderr) = host.failure(&words);
    assert!(stderr.contains("exists; another name"), "{stderr}");
    let words = ["record", &pid, "--events", "polls", "--for", "1s"];
    let (code, stderr) = host.failure(&words);
    assert!(code == Some(2) && stderr.contains("--out"), "{stderr}");
}

#[test]
fn events_of_calls_are_recovered_after_kill_9() {
    let host = Host::empty();
    let environment = [("TURBOWISH_RECORD", "states,calls")];
    let mut process = Recorded::start(host.path(), &environment);
    let pid = process.pid().to_string();
    let calls = |path: &Path| {
        let reader = File::open(path)
            .ok()
            .and_then(|file| Reader::open(file).ok());
        let has_state = |reader: &Reader<File>| !reader.states().is_empty();
        reader
            .filter(has_state)
            .map_or(0, |reader| reader.calls().len())
    };
    let segment = &process.segments()[1];
    until("events of calls", || calls(segment) > 1);
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let left = calls(segment);
    let out = host.path().join("x.tw");
    host.stdout(&["recover", &pid, "-o", out.to_str().unwrap()]);
    assert_eq!(calls(&out), left);
}

#[test]
fn nothing_is_left_at_an_orderly_end_and_nothing_can_be_recovered() {
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[]);
    let pid = process.pid().to_string();
    until("a state", || process.states() >= 1);
    let mode = fs::metadata(&process.segments()[1])
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(process.end(), "");
    assert_eq!(fs::read_dir(host.path()).unwrap().count(), 0);
    let (code, stderr) = host.failure(&["recover", &pid]);
    assert_eq!(code, Some(3));
    assert!(
        stderr.contains(&format!("process {pid} has left no recording")),
        "{stderr}"
    );
}

/// The chunks that a process has: their bytes, and the time of the first state.
async fn past(connection: &Connection) -> (usize, Option<u64>) {
    let mut past = connection.past(0, 0).await.unwrap();
    let (mut bytes, mut first) = (0, None);
    while let Some(chunks) = past.next().await {
        let chunks = chunks.unwrap();
        let header = ChunkHeader::read(chunks.first_chunk::<HEADER_BYTES>().unwrap());
        let state = header.filter(|header| header.kind == ChunkKind::State);
        first = first.or(state.map(|state| state.at_unix_ns));
        bytes += chunks.len();
    }
    (bytes, first)
}

#[tokio::test]
async fn off_is_off() {
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[("TURBOWISH_RECORD", "off")]);
    let connection = process.connect().await;
    // Long enough for the first state, had there been one.
    while connection
        .snapshot(&Default::default())
        .await
        .unwrap()
        .process
        .uptime_ns
        < 1_500_000_000
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(past(&connection).await, (0, None));
    let files = fs::read_dir(host.path())
        .unwrap()
        .map(|file| file.unwrap().path());
    let socket = discovery::socket(host.path(), process.pid());
    assert_eq!(files.collect::<Vec<_>>(), [socket]);
    assert_eq!(process.end(), "");
}

#[tokio::test]
async fn a_small_budget_is_kept() {
    // Half of it is for states, and one of this program takes five KiB.
    const BUDGET: usize = 16 << 10;
    let host = Host::empty();
    let process = Recorded::start(host.path(), &[("TURBOWISH_RECORD_BYTES", "16KiB")]);
    let connection = process.connect().await;
    let begun = Instant::now();
    let mut seen = None;
    loop {
        let (bytes, first) = past(&connection).await;
        assert!(bytes <= BUDGET, "{bytes}");
        // The oldest one has given way.
        if seen.is_some() && first != seen {
            break;
        }
        seen = first;
        assert!(begun.elapsed() < PATIENCE, "{bytes} bytes");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(process.end(), "");
}

#[tokio::test]
async fn a_named_file_stays_and_its_faults_do_not_stop_the_program() {
    let host = Host::empty();
    let named = host.path().join("run-%p.tw");
    let process = Recorded::start(
        host.path(),
        &[("TURBOWISH_RECORD", named.to_str().unwrap())],
    );
    let path = host.path().join(format!("run-{}.tw", process.pid()));
    until("two states", || states(&path).len() >= 2);
    assert!(!process.segments()[1].exists());
    assert_eq!(process.end(), "");
    assert!(states(&path).len() >= 2);

    let full = [("TURBOWISH_RECORD", "/dev/full")];
    let process = Recorded::start(host.path(), &full);
    let connection = process.connect().await;
    let begun = Instant::now();
    while past(&connection).await.0 == 0 {
        assert!(begun.elapsed() < PATIENCE, "it records in memory");
    }
    let stderr = process.end();
    let begin = "turbowish: not recording to /dev/full: File exists";
    assert!(
        stderr.starts_with(begin) && stderr.lines().count() == 1,
        "{stderr}"
    );
}

/// A write that fails would raise a signal that ends the program.
#[test]
fn a_file_that_may_not_grow_ends_the_recording_and_not_the_program() {
    let host = Host::empty();
    let path = host.path().join("x.tw");
    let named = [("TURBOWISH_RECORD", path.to_str().unwrap())];
    let mut process = Recorded::start_under(&["prlimit", "--fsize=600"], host.path(), &named);
    let mut stderr = process.child.stderr.take().unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "it has ended");
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).unwrap();
    let begin = format!(
        "turbowish: the recording to {} ends here: File too large",
        path.display()
    );
    let first = format!(
        "turbowish: not recording to {}: File too large",
        path.display()
    );
    assert!(
        line.starts_with(&begin) || line.starts_with(&first),
        "{line}"
    );
    process.child.stderr = Some(stderr);
    assert_eq!(process.end(), "");
    assert!(fs::metadata(&path).unwrap().len() <= 600);
}

#[test]
fn a_folder_that_cannot_be_made_costs_one_line() {
    let host = Host::empty();
    let file = host.path().join("file");
    fs::write(&file, "").unwrap();
    let process = Recorded::start(&file.join("below"), &[]);
    let stderr = process.end();
    let begin = "turbowish: no console can attach by process id: the folder ";
    assert!(
        stderr.starts_with(begin) && stderr.lines().count() == 1,
        "{stderr}"
    );
}
