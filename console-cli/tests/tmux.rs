//! The console in a real terminal: tmux types the keys of somebody who looks around, and reads what
//! stands there.

#![cfg(feature = "demo")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use turbowish_model::snapshot::{ProcRow, Snapshot};
use turbowish_recording::{Compression, Reader, Writer};

/// Longer than anything takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal of 100 columns and 30 lines with a shell in it.
struct Terminal {
    folder: TempDir,
}

impl Terminal {
    /// The terminal, or none where there is no tmux.
    fn open() -> Option<Self> {
        let terminal = Self {
            // A process lets itself be found only in a folder that is closed to others.
            folder: tempfile::Builder::new()
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir()
                .unwrap(),
        };
        let there = Command::new("tmux").arg("-V").output();
        if !there.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: tmux is not installed");
            return None;
        }
        let shell =
            "env -i PATH=\"$PATH\" HOME=\"$HOME\" TERM=screen-256color LANG=C.UTF-8 PS1='$ ' sh";
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            shell,
        ]);
        terminal.until("a prompt", |screen| screen.contains('$'));
        Some(terminal)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    fn tmux(&self, args: &[&str]) -> Output {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(self.socket())
            .args(args)
            .env_remove("TMUX")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {args:?}: {told}");
        output
    }

    fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The screen as soon as it shows what is waited for.
    fn until(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if shows(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < PATIENCE, "{what} never came:\n{screen}");
        }
    }

    /// Keys by tmux's names.
    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// A line for the shell.
    fn run(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.press(&["Enter"]);
    }

    /// The settings of the terminal, as the shell sees them.
    fn settings(&self, name: &str) -> String {
        // As a sum: the line itself would not fit a narrow terminal.
        self.run(&format!(
            "clear; echo sum $(stty -g | cksum); echo told {name}"
        ));
        let told = format!("told {name}");
        let shows = |screen: &str| screen.lines().any(|line| line == told);
        let screen = self.until("the settings", shows);
        let line = screen
            .lines()
            .find(|line| line.starts_with("sum "))
            .unwrap();
        line.to_owned()
    }

    /// The program, with its sockets in a folder of its own.
    fn program(&self, args: &str) -> String {
        let folder = self.folder.path().display();
        format!(
            "TURBOWISH_RUNTIME_DIR={folder} XDG_STATE_HOME={folder}/state VISUAL={folder}/editor {} {args}",
            env!("CARGO_BIN_EXE_turbowish")
        )
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nobody is left to be told if it was gone already.
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(self.socket())
            .arg("kill-server")
            .output();
    }
}

/// How far in one is: words of the breadcrumb below the alert line.
fn depth(screen: &str) -> usize {
    let crumb = screen.lines().nth(2).unwrap_or_default();
    crumb.matches(" > ").count()
}

#[test]
fn somebody_looks_around_and_leaves_the_terminal_as_it_was() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    let before = terminal.settings("before");
    terminal.run(&format!(
        "{}; echo left $?",
        terminal.program("demo --calm --ascii --theme mono")
    ));
    let contains = |text: &'static str| move |screen: &str| screen.contains(text);
    terminal.until("the table", contains("kv::conn::serve"));
    terminal.press(&[">"]);
    terminal.until("another order", contains("INCL%v"));
    terminal.press(&["/"]);
    terminal.tmux(&["send-keys", "-l", "/^kv::db::/ run>0%"]);
    terminal.press(&["Enter"]);
    // A screen may be captured in the middle of a redraw: rows of before stand below the new ones.
    terminal.until("a filter", |screen| {
        let shown = ["/^kv::db::/", "[1 Functions ", " of "];
        shown.iter().all(|text| screen.contains(text)) && !screen.contains(" kv::conn::serve ")
    });
    // On a busy machine, a record has more lines above its first link.
    terminal.tmux(&["resize-window", "-x", "100", "-y", "60"]);
    // Three links deep: a proc, who calls it, and whom that one calls.
    for steps in 1..=3 {
        terminal.press(&["Enter"]);
        terminal.until("a record", |screen| depth(screen) == steps);
        terminal.until("its links", |screen| {
            screen.lines().any(|line| line.starts_with('>'))
        });
    }
    for steps in (0..3).rev() {
        terminal.press(&["H"]);
        terminal.until("the way back", |screen| depth(screen) == steps);
    }
    terminal.until("the table as it was left", |screen| {
        screen.contains("/^kv::db::/") && screen.contains("[1 Functions ")
    });
    terminal.press(&["Escape"]);
    terminal.press(&["!"]);
    terminal.until("the alert, or that there is none", |screen| {
        screen.contains("Alerts > ") || screen.contains("! no alerts")
    });
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    terminal.press(&["2"]);
    terminal.until("the tasks", contains("[2 Tasks "));
    terminal.press(&["q"]);
    let left = terminal.until("the shell", contains("left 0"));
    assert!(
        left.contains("told before"),
        "what stood there is back:\n{left}"
    );
    assert_eq!(terminal.settings("after"), before);
}

/// A key that comes right behind a new size works at once, and not with the next key.
#[test]
fn no_key_is_lost_while_the_terminal_changes_its_size() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    terminal.run(&terminal.program("top --ascii"));
    let is_help = |screen: &str| screen.contains("help: keys");
    let none = "None of your processes";
    terminal.until("the console", |screen| screen.contains(none));
    for _ in 0..100 {
        for (width, key, helps) in [("80", "?", true), ("100", "Escape", false)] {
            terminal.tmux(&["resize-window", "-x", width, "-y", "30"]);
            terminal.press(&[key]);
            // A screen of a new size is empty at first: that the help is away is not enough.
            terminal.until(key, |screen| {
                is_help(screen) == helps && (helps || screen.contains(none))
            });
        }
    }
    // Two keys that the console reads at once are two keys, too.
    terminal.press(&["?"]);
    terminal.until("the help", is_help);
    terminal.press(&["Escape", "?", "?"]);
    terminal.until("its second page", |screen| screen.contains("help: columns"));
    terminal.press(&["Escape", ":"]);
    let is_command_line = |screen: &str| screen.contains(none) && screen.contains("Enter runs");
    terminal.until("the command line", is_command_line);
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    let before = terminal.settings("before");
    let program = terminal.program("top --ascii");
    let pid = terminal.folder.path().join("pid");
    terminal.run(&format!(
        "sh -c 'echo $$ > {}; exec env {program}'; echo left $?",
        pid.display()
    ));
    terminal.until("the console", |screen| {
        screen.contains("None of your processes")
    });
    let id = fs::read_to_string(pid).unwrap();
    let killed = Command::new("kill").args(["-TERM", id.trim()]).status();
    assert!(killed.unwrap().success());
    terminal.until("the shell", |screen| screen.contains("left 143"));
    assert_eq!(terminal.settings("after"), before);
}

/// An editor that says what it is told, and keeps a line that is typed into it.
const EDITOR: &str = "#!/bin/sh
echo \"edit $*\"
read line
echo \"$line\" > \"$0.line\"
";

#[test]
fn the_editor_has_the_terminal_and_what_one_chose_is_found_again() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    let editor = terminal.folder.path().join("editor");
    fs::write(&editor, EDITOR).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
    // The demo's sources are told from the folder of the workspace.
    terminal.run(&format!("cd {}/..", env!("CARGO_MANIFEST_DIR")));
    let before = terminal.settings("before");
    let contains = |text: &'static str| move |screen: &str| screen.contains(text);
    let line = |text: &str| {
        terminal.press(&[":"]);
        terminal.tmux(&["send-keys", "-l", text]);
        terminal.press(&["Enter"]);
    };
    let demo = terminal.program("demo --calm --ascii --theme mono");
    terminal.run(&format!("{demo}; echo left $?"));
    terminal.until("the table", contains("kv::conn::serve"));
    line("proc conn::serve");
    terminal.until("a record", |screen| depth(screen) == 1);
    terminal.press(&["e"]);
    let told = terminal.until("the editor", contains("edit "));
    assert!(told.contains("examples/kv/src/"), "{told}");
    // These are the editor's, and `q` does not end the console.
    terminal.press(&["q", "q", "Enter"]);
    terminal.until("the console again", |screen| depth(screen) == 1);
    let typed = fs::read_to_string(editor.with_extension("line")).unwrap();
    assert_eq!(typed, "qq\n");
    line("sort longest");
    terminal.until("another order", contains("vLONGEST"));
    let file = terminal.folder.path().join("saved.json");
    line(&format!("save {}", file.display()));
    terminal.until("a file", contains("\n saved /"));
    let saved = fs::read_to_string(&file).unwrap();
    assert!(saved.starts_with("{\"schema\":1,"), "{saved}");
    line(&format!("save {}", file.display()));
    terminal.until("that it is there", contains("! not saved: "));
    line("quit");
    terminal.until("the shell", contains("left 0"));
    assert_eq!(terminal.settings("between"), before);
    // A console that neither reads nor keeps anything, and one that does.
    terminal.run(&format!("{demo} --no-state; echo then $?"));
    terminal.until("the table", contains("kv::conn::serve"));
    terminal.until("the first order", contains("RUN%v"));
    terminal.press(&["q"]);
    terminal.until("the shell", contains("then 0"));
    terminal.run(&format!("{demo}; echo again $?"));
    terminal.until("the order chosen before", contains("vLONGEST"));
    terminal.press(&["q"]);
    terminal.until("the shell", contains("again 0"));
    assert_eq!(terminal.settings("after"), before);
}

/// A recording of three states is stepped through.
#[test]
fn a_recording_is_looked_at() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    let mut writer = Writer::begin(Vec::new(), Compression::Deflate).unwrap();
    for second in 0..3 {
        let mut state = Snapshot {
            at_unix_ns: (1_795_194_269 + second) * 1_000_000_000,
            window_ns: 10_000_000_000,
            ..Snapshot::default()
        };
        state.process.name = "kv".to_owned();
        state.procs.rows = vec![ProcRow {
            proc: format!("kv::second::{second}"),
            ..ProcRow::default()
        }];
        state.procs.total = 1;
        state.procs.matched = 1;
        writer.state(&state, 0).unwrap();
    }
    let path = terminal.folder.path().join("x.tw");
    fs::write(&path, writer.end().unwrap()).unwrap();
    let before = terminal.settings("before");
    let top = format!("top {} --ascii --theme mono", path.display());
    terminal.run(&format!("{}; echo left $?", terminal.program(&top)));
    let at = |nth: usize| {
        terminal.until("the state", |screen| {
            let place = format!("(state {} of 3)", nth + 1);
            let proc = format!("kv::second::{nth}");
            screen.contains(&place) && screen.contains(&proc)
        })
    };
    at(2);
    for (key, nth) in [("[", 1), ("{", 0), ("]", 1), (".", 2)] {
        terminal.press(&[key]);
        at(nth);
    }
    terminal.press(&["q"]);
    terminal.until("the end", |screen| screen.contains("left 0"));
    assert_eq!(terminal.settings("after"), before);
}

/// What the process keeps is written by a key, and so are its states from then on, whole also when
/// the console ends meanwhile. Both files can be looked at, and a record has its history.
#[test]
fn recordings_are_written_and_looked_at() {
    let Some(terminal) = Terminal::open() else {
        return;
    };
    let contains = |text: &'static str| move |screen: &str| screen.contains(text);
    terminal.run(&format!("cd {}", terminal.folder.path().display()));
    let demo = terminal.program("demo --calm --ascii --theme mono");
    terminal.run(&format!("{demo}; echo left $?"));
    terminal.until("the table", contains("kv::conn::serve"));
    // Until the first state was kept, there is nothing to write.
    terminal.until("a file", |screen| {
        let written = screen.contains("; turbowish top ");
        if !written {
            terminal.press(&["P"]);
        }
        written
    });
    // A task that is polled again and again: the end of its history stays in sight.
    terminal.press(&["2", "/"]);
    terminal.tmux(&["send-keys", "-l", "expiry::run"]);
    terminal.press(&["Enter"]);
    terminal.until("one task", |screen| {
        screen.contains("[2 Tasks 1 of ") && screen.contains(" expiry::run")
    });
    terminal.press(&["Enter"]);
    terminal.until("its record", |screen| depth(screen) == 1);
    terminal.press(&["End"]);
    let last_poll = |screen: &str| {
        let at_end = screen.contains(" above (PgUp)");
        let line = screen.lines().rfind(|line| line.contains(" poll "))?;
        at_end.then(|| line.to_owned())
    };
    let screen = terminal.until("its history", |screen| last_poll(screen).is_some());
    let first = last_poll(&screen);
    terminal.until("a newer poll", |screen| {
        last_poll(screen).is_some_and(|line| Some(line) != first)
    });
    terminal.press(&["Home"]);
    terminal.until("its heading", contains("newest last"));
    terminal.press(&["R"]);
    terminal.until("a recording", contains("  REC "));
    terminal.until("a state in it", |screen| screen.contains("KiB "));
    terminal.press(&["q"]);
    let left = terminal.until("the shell", contains("left 0"));
    let told = left.lines().find(|line| line.contains(" lost"));
    let told = told.expect("what is in the file");
    assert!(told.starts_with("turbowish: kv-demo-"), "{told}");
    let files = fs::read_dir(terminal.folder.path()).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let recordings: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "tw"))
        .collect();
    assert!(recordings.len() >= 2, "{recordings:?}");
    for path in recordings {
        let reader = Reader::open(fs::File::open(&path).unwrap()).unwrap();
        assert!(reader.damage().is_none() && !reader.states().is_empty());
    }
}
