//! A task of a real server is paused, looked at with a debugger, and goes on.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use super::monitor::Host;
use super::scripts::Demo;

/// Long enough for a loaded machine; no test waits for its end.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server under load, and one of its connections.
struct Stage {
    host: Host,
    demo: Demo,
    pid: String,
    task: String,
}

impl Stage {
    fn new() -> Self {
        let host = Host::empty();
        let demo = Demo::start(&host, "0");
        let pid = demo.pid();
        let mut stage = Self {
            host,
            demo,
            pid,
            task: String::new(),
        };
        let is_served = |row: &Value| row["polls"].as_u64() > Some(10);
        let found = until("a connection that is served", || {
            stage.tasks("task:conn:*").into_iter().find(is_served)
        });
        stage.task = found["name"].as_str().unwrap().to_owned();
        stage
    }

    fn tasks(&self, filter: &str) -> Vec<Value> {
        let args = [
            "query", "tasks", &self.pid, "-o", "json", "--filter", filter,
        ];
        // The server may not be there yet, or too busy to answer at once.
        let output = self.host.run(&args);
        let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let rows = document.and_then(|document| document["tasks"].as_array().cloned());
        rows.unwrap_or_default()
    }

    /// The connection, when it is so.
    fn when(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let is_it = |row: &Value| row["name"] == *self.task && is_so(row);
        until(what, || self.tasks("task:conn:*").into_iter().find(is_it))
    }

    /// What a command prints that the server finds time to answer.
    fn stdout(&self, args: &[&str]) -> String {
        until("an answer", || {
            let output = self.host.run(args);
            let why = String::from_utf8(output.stderr).unwrap();
            let is_busy = output.status.code() == Some(3);
            assert!(is_busy || output.status.success(), "{args:?}: {why}");
            (!is_busy).then(|| String::from_utf8(output.stdout).unwrap())
        })
    }

    /// What `resume` prints; nothing if the task went on though the answer came too late.
    fn resume(&self, task: &str) -> Option<String> {
        let mut late = false;
        until("the end of a pause", || {
            let output = self.host.run(&["resume", &self.pid, task]);
            let (code, stdout, stderr) = ended(&output);
            match code {
                Some(0) => Some(Some(stdout)),
                Some(3) => {
                    late = true;
                    None
                }
                _ => {
                    assert!(late && stderr.contains("not paused"), "{stderr}");
                    Some(None)
                }
            }
        })
    }

    /// `turbowish debug` with a program of ours in place of the debugger.
    fn debug(&self, script: &str) -> Command {
        let folder = self.host.path().join("bin");
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("gdb");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = self.host.command();
        command
            .env("PATH", format!("{}:{path}", folder.display()))
            .args(["debug", "--gdb", &self.pid, &self.task]);
        command
    }
}

/// Asks until there is an answer.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        std::thread::yield_now();
    }
}

fn is_paused(row: &Value) -> bool {
    row["state"] == "paused"
}

#[test]
fn a_paused_task_is_not_polled_though_it_is_woken_and_others_are() {
    let stage = Stage::new();
    let (pid, task) = (&*stage.pid, &*stage.task);
    let paused = loop {
        let text = stage.stdout(&["pause", pid, task, "--keep"]);
        let start = format!("{task} is paused");
        assert!(text.starts_with(&start), "{text}");
        let paused = stage.when("a paused task that was woken", |row| {
            is_paused(row) && row["pause"]["woken"] == true
        });
        // A task that was paused while it waited for a lock is given it, and keeps it from all
        // others.
        let uses = |what: &str| paused[what].as_array().is_none_or(|all| !all.is_empty());
        if !uses("waits_on") && !uses("holds") {
            break paused;
        }
        stage.resume(&paused["id"].to_string());
        stage.when("a task that goes on", |row| !is_paused(row));
    };
    assert_eq!(paused["pause"]["by"], "turbowish pause");
    assert_eq!(paused["pause"]["left_ns"], Value::Null);
    let tree = stage.stdout(&["tree", pid, "--filter", "state:paused"]);
    assert!(tree.starts_with(&format!("{task}  paused ")), "{tree}");
    assert!(tree.contains("\n1 of "), "{tree}");
    let record = stage.stdout(&["query", "task", pid, task]);
    let expected = "\n  paused by turbowish pause until it is resumed; it was woken";
    assert!(record.contains(expected), "{record}");
    // So long that each of the others was polled meanwhile.
    let others = |rows: &[Value]| -> Vec<(String, u64)> {
        let others = rows.iter().filter(|row| row["name"] != *task);
        let polls = others.map(|row| (row["name"].to_string(), row["polls"].as_u64().unwrap()));
        polls.collect()
    };
    let before = others(&stage.tasks("task:conn:*"));
    until("other tasks that are polled", || {
        let now = others(&stage.tasks("task:conn:*"));
        let goes_on = |(name, polls): &(String, u64)| {
            let same = now.iter().find(|(other, _)| other == name);
            same.is_none_or(|(_, now)| now > polls)
        };
        before.iter().all(goes_on).then_some(())
    });
    let still = stage.when("the task", is_paused);
    assert_eq!(still["polls"], paused["polls"]);
    let id = paused["id"].to_string();
    if let Some(text) = stage.resume(&id) {
        assert_eq!(text, format!("{task} resumed; it was woken\n"));
    }
    stage.when("a task that goes on", |row| {
        row["pause"] == Value::Null && row["polls"].as_u64() > paused["polls"].as_u64()
    });
    let (code, why) = stage.host.failure(&["resume", pid, task]);
    let expected = "turbowish: the task is not paused (any more)\n";
    assert_eq!((code, &*why), (Some(1), expected));
    let text = stage.stdout(&["pause", pid, task, "--for", "1s"]);
    assert!(text.contains(" is paused for 1.00 s"), "{text}");
    stage.when("a task that goes on by itself", |row| {
        row["pause"] == Value::Null && row["polls"].as_u64() > paused["polls"].as_u64()
    });
    stage.demo.end();
}

fn ended(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_task_is_paused_as_long_as_its_debugger_runs() {
    let stage = Stage::new();
    // What it is given, that the task is paused, and its exit code.
    let mut command = stage.debug("printf '%s\\n' \"$@\"; read word; exit 7");
    let mut child = command
        .args(["--", "-batch", "-ex", "bt"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let paused = stage.when("a paused task", is_paused);
    let by = format!("turbowish debug pid {}", child.id());
    assert_eq!(paused["pause"]["by"], *by);
    drop(child.stdin.take());
    let (code, stdout, stderr) = ended(&child.wait_with_output().unwrap());
    assert_eq!(code, Some(7), "{stderr}");
    let told = format!("turbowish: {}  ", stage.task);
    assert!(stderr.starts_with(&told), "{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[..3], ["-q", "-p", &stage.pid]);
    assert_eq!(lines[lines.len() - 3..], ["-batch", "-ex", "bt"]);
    let address = paused["pause"]["address"].as_u64().unwrap();
    let set = format!("set $task = (void *) {address:#x}");
    assert!(address > 0 && lines.contains(&&*set), "{stdout}");
    stage.when("a task that goes on", |row| {
        row["pause"] == Value::Null && row["polls"].as_u64() > paused["polls"].as_u64()
    });

    // The client is killed, and cannot say anything any more.
    let mut child = stage
        .debug("echo $$; exec sleep 600")
        .args(["--lease", "2s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    stage.when("a paused task", is_paused);
    child.kill().unwrap();
    child.wait().unwrap();
    stage.when("a task whose lease is over", |row| {
        row["pause"] == Value::Null && row["polls"].as_u64() > paused["polls"].as_u64()
    });
    let debugger = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
    kill_process(debugger, Signal::KILL).unwrap();
    stage.demo.end();
}

#[test]
fn gdb_prints_a_backtrace_and_the_task_goes_on() {
    if let Err(cause) = Command::new("gdb").arg("--version").output() {
        println!("not tested: gdb does not start: {cause}");
        return;
    }
    let stage = Stage::new();
    let args = ["debug", "--gdb", &stage.pid, &stage.task];
    let batch = ["--", "-nx", "-batch", "-ex", "print $task", "-ex", "bt"];
    let output = stage.host.command().args(args).args(batch).output();
    let (code, stdout, stderr) = ended(&output.unwrap());
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(stdout.contains("\n#0 "), "{stdout}\n{stderr}");
    assert!(stdout.contains("\n$1 = ("), "{stdout}\n{stderr}");
    let told = format!("$task: {}, 0x", stage.task);
    assert!(stdout.contains(&told), "{stdout}");
    let row = stage.when("a task that goes on", |row| row["pause"] == Value::Null);
    stage.when("a task that is polled", |now| {
        now["polls"].as_u64() > row["polls"].as_u64()
    });
    stage.demo.end();
}

/// The console on a terminal, as somebody sits before it.
struct Console {
    keys: std::fs::File,
    child: std::process::Child,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Console {
    fn on_path(stage: &Stage, path: &str) -> Self {
        let (ours, theirs) = super::terminal();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).unwrap();
        let child = stage
            .host
            .command()
            .args(["top", &stage.pid])
            .env("TERM", "xterm")
            .env("PATH", path)
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let screen = Arc::<Mutex<Vec<u8>>>::default();
        let (drawn, mut end) = (screen.clone(), ours.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = end.read(&mut bytes) {
                drawn.lock().unwrap().extend(&bytes[..read]);
            }
        });
        Self {
            keys: ours,
            child,
            screen,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// What was drawn so far is not looked for any more.
    fn forget(&self) {
        self.screen.lock().unwrap().clear();
    }

    /// Its exit code, when it has ended.
    fn ends(&mut self) -> Option<i32> {
        until("the end of the console", || self.child.try_wait().unwrap()).code()
    }

    /// Waits until words were drawn. Only where nothing was drawn before are they sent as one.
    fn sees(&self, words: &str) {
        until(words, || {
            let drawn = self.screen.lock().unwrap();
            let text = String::from_utf8_lossy(&drawn);
            text.contains(words).then_some(())
        });
    }
}

/// The console lends a debugger its terminal, and asks what becomes of what it has paused.
#[test]
fn a_console_pauses_debugs_and_asks_when_it_is_left() {
    let stage = Stage::new();
    stage.debug("echo attached; read word; echo read $word");
    let path = format!("{}:/usr/bin:/bin", stage.host.path().join("bin").display());
    for (answer, by_then) in [("k", true), ("r", false)] {
        let mut console = Console::on_path(&stage, &path);
        console.sees("LIVE");
        console.press("2py");
        let by = format!("console pid {}", console.child.id());
        let paused = until("a task that the console has paused", || {
            let mut rows = stage.tasks("state:paused").into_iter();
            rows.find(|row| row["pause"]["by"] == *by)
        });
        let left = paused["pause"]["left_ns"].as_u64().unwrap();
        assert!(left <= 60_000_000_000, "{left}");
        console.press("q");
        console.press(answer);
        assert_eq!(console.ends(), Some(0));
        let is_it = |row: &Value| row["id"] == paused["id"];
        let row = until("the task", || stage.tasks("").into_iter().find(is_it));
        assert_eq!(row["pause"] != Value::Null, by_then, "{row}");
        if by_then {
            assert_eq!(row["pause"]["left_ns"], Value::Null, "kept");
            stage.resume(&row["id"].to_string());
        }
    }
    let mut console = Console::on_path(&stage, &path);
    console.sees("LIVE");
    console.press("2Dg");
    console.sees("attached");
    until("a task that the debugger has", || {
        let mut rows = stage.tasks("state:paused").into_iter();
        rows.find(|row| {
            let by = row["pause"]["by"].as_str();
            by.is_some_and(|by| by.starts_with("turbowish debug pid "))
        })
    });
    // Keys are the debugger's.
    console.forget();
    console.press("quux\n");
    console.sees("read quux");
    // The whole screen is drawn anew, and keys are the console's.
    console.sees("LIVE");
    console.press("q");
    assert_eq!(console.ends(), Some(0));
    stage.demo.end();
}

#[test]
fn what_cannot_be_paused_or_debugged_says_why() {
    let host = Host::with_kv();
    for (args, code, expected) in [
        (
            &["pause", "4242", "conn:51022"][..],
            3,
            "the script cannot be touched",
        ),
        (
            &["pause", "conn:5"],
            1,
            "no task conn:5 in kv 4242; did you mean conn:51022?",
        ),
        (
            &["debug", "--gdb", "127.0.0.1:6680", "serve-1"],
            2,
            "127.0.0.1:6680 is reached over TCP, and debuggers attach only to processes of their own host: run this there, with the process ID",
        ),
    ] {
        let expected = format!("turbowish: {expected}\n");
        assert_eq!(host.failure(args), (Some(code), expected), "{args:?}");
    }
    let output = host
        .command()
        .env("PATH", host.path())
        .args(["debug", "--gdb", "4242", "conn:51022"])
        .output()
        .unwrap();
    let (code, _, stderr) = ended(&output);
    let expected =
        "turbowish: gdb is not installed or not in PATH: install the package gdb, or try --lldb\n";
    assert_eq!((code, &*stderr), (Some(1), expected));
    for args in [
        &["pause"][..],
        &["pause", "serve-1", "--for", "1s", "--keep"],
        &["debug", "serve-1"],
        &["debug", "--gdb", "--lldb", "serve-1"],
        &["debug", "--gdb", "serve-1", "--lease", "1ms"],
    ] {
        assert_eq!(host.failure(args).0, Some(2), "{args:?}");
    }
}

/// How often the task of [`stuck_program`] yields before it does not come out of its poll.
const STUCK: &str = "TURBOWISH_TEST_STUCK";

/// Nobody is told when it returns, since it does not.
fn block() {
    loop {
        std::thread::sleep(Duration::from_secs(600));
    }
}

#[turbowish::instrument]
async fn stuck_in_a_poll(yields: u32) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
    block();
}

/// What the next test starts as another process; without its variable it is nothing.
#[test]
fn stuck_program() {
    let Ok(yields) = std::env::var(STUCK) else {
        return;
    };
    let yields = yields.parse().unwrap();
    let _turbowish = turbowish::init();
    // It ends with whoever has started it.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let task = tokio::spawn(stuck_in_a_poll(yields));
        task.await.unwrap();
    });
}

/// Whatever threads there are, `bt` shows the poll; in its first poll, too, where a task cannot be
/// paused.
#[test]
fn gdb_stands_in_the_thread_that_polls_the_task() {
    if let Err(cause) = Command::new("gdb").arg("--version").output() {
        println!("not tested: gdb does not start: {cause}");
        return;
    }
    for yields in ["1", "0"] {
        let host = Host::empty();
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pauses::stuck_program", "--nocapture"])
            .env(STUCK, yields)
            .env("TURBOWISH_RUNTIME_DIR", host.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = program.id().to_string();
        let row = until("a task that is polled", || {
            let output = host.run(&["query", "tasks", &pid, "-o", "json"]);
            let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
            let rows = document.and_then(|document| document["tasks"].as_array().cloned());
            let mut rows = rows.unwrap_or_default().into_iter();
            rows.find(|row| {
                row["state"] == "polling" && row["stack"][0]["since_ns"].as_u64() > Some(50_000_000)
            })
        });
        assert_ne!(
            row["os_thread_id"].as_u64(),
            Some(u64::from(program.id())),
            "{row}"
        );
        let task = row["name"].as_str().unwrap();
        let args = [
            "debug", "--gdb", &pid, task, "--", "-nx", "-batch", "-ex", "bt",
        ];
        let (code, stdout, stderr) = ended(&host.run(&args));
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
        let backtrace = stdout.rsplit_once("\n#0 ").unwrap_or_default().1;
        assert!(backtrace.contains("stuck_in_a_poll"), "{stdout}\n{stderr}");
        let told = "the debugger attaches without a pause";
        assert_eq!(stderr.contains(told), yields == "0", "{stderr}");
        drop(program.stdin.take());
        program.wait().unwrap();
    }
}
