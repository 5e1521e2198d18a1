//! Settings of the program and of its environment. The environment overrides the program; a bad
//! value costs one line on stderr.

use std::path::{Path, PathBuf};

use turbowish_model::diagnose::alert::Limits;
use turbowish_model::event::{EventClasses, UnknownClass};
use turbowish_model::snapshot::units;

use crate::hot::task;

/// Whether accounting is armed from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Armed from the start.
    On,
    /// Everything is ready; accounting is disarmed until `arm`.
    Disarmed,
    /// Nothing is started and nothing can switch it on.
    Off,
}

/// Destination of the report at exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Report {
    /// No report.
    #[default]
    None,
    /// To stderr.
    Text,
    /// To stderr, and completely to a file as JSON.
    File(PathBuf),
}

/// Where the latest states of the process are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RecordIn {
    /// Nowhere: nothing is recorded.
    Nothing,
    /// In memory, and beside the socket.
    #[default]
    Memory,
    /// In memory, and in a file.
    File(PathBuf),
}

/// What is recorded, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordSettings {
    pub(crate) to: RecordIn,
    /// Bytes of the recording in memory, at most.
    pub(crate) bytes: usize,
    pub(crate) classes: EventClasses,
}

/// Bytes of the recording in memory, if nothing else is set.
pub(crate) const RECORD_BYTES: usize = 64 << 20;

/// Settings of the program.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) name: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) listen: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) report: Report,
    pub(crate) read_only: bool,
    pub(crate) max_tasks: u64,
    pub(crate) max_clients: usize,
    pub(crate) max_rows: u32,
    pub(crate) wakers: bool,
    pub(crate) heartbeat: bool,
    pub(crate) record: RecordSettings,
    /// Limits of the alert rules that the program sets by type.
    pub(crate) limits: Limits,
    /// Names and values of limits given as text; they override `limits`.
    pub(crate) limit_texts: Vec<(String, String)>,
}

impl Settings {
    pub(crate) const fn new() -> Self {
        Self {
            name: None,
            mode: Mode::On,
            listen: None,
            token: None,
            report: Report::None,
            read_only: false,
            max_tasks: task::DEFAULT_LIMIT,
            max_clients: 16,
            max_rows: 10_000,
            wakers: true,
            heartbeat: false,
            record: RecordSettings {
                to: RecordIn::Memory,
                bytes: RECORD_BYTES,
                classes: EventClasses::DEFAULT,
            },
            limits: Limits::new(),
            limit_texts: Vec::new(),
        }
    }
}

/// Values of the environment variables.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    mode: Option<String>,
    listen: Option<String>,
    report: Option<String>,
    token: Option<String>,
    wakers: Option<String>,
    heartbeat: Option<String>,
    limits: Option<String>,
    record: Option<String>,
    record_bytes: Option<String>,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            mode: get("TURBOWISH"),
            listen: get("TURBOWISH_LISTEN"),
            report: get("TURBOWISH_REPORT"),
            token: get("TURBOWISH_TOKEN"),
            wakers: get("TURBOWISH_WAKERS"),
            heartbeat: get("TURBOWISH_HEARTBEAT"),
            limits: get("TURBOWISH_LIMITS"),
            record: get("TURBOWISH_RECORD"),
            record_bytes: get("TURBOWISH_RECORD_BYTES"),
        }
    }

    /// Overrides the program's settings. Returns lines to print.
    pub(crate) fn apply(self, settings: &mut Settings) -> Vec<String> {
        let mut lines = Vec::new();
        match self.mode.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None => {}
            Some("on" | "1" | "true") => settings.mode = Mode::On,
            Some("off" | "0" | "false") => settings.mode = Mode::Off,
            Some("disarmed" | "paused") => settings.mode = Mode::Disarmed,
            Some(other) => lines.push(format!(
                "TURBOWISH={other} is not on, disarmed or off; it is ignored"
            )),
        }
        if self.listen.is_some() {
            settings.listen = self.listen;
        }
        if self.token.is_some() {
            settings.token = self.token;
        }
        let switches = [
            ("TURBOWISH_WAKERS", self.wakers, &mut settings.wakers),
            (
                "TURBOWISH_HEARTBEAT",
                self.heartbeat,
                &mut settings.heartbeat,
            ),
        ];
        for (name, said, switch) in switches {
            match said.as_deref() {
                None => {}
                Some("on" | "1" | "true") => *switch = true,
                Some("off" | "0" | "false") => *switch = false,
                Some(other) => {
                    lines.push(format!(
                        "{name}={other} is not one of on, off; it is ignored"
                    ));
                }
            }
        }
        for limit in self.limits.iter().flat_map(|limits| limits.split(',')) {
            match limit.split_once('=') {
                Some((name, value)) => {
                    let limit = (name.trim().to_owned(), value.trim().to_owned());
                    settings.limit_texts.push(limit);
                }
                None => lines.push(format!(
                    "TURBOWISH_LIMITS: {limit:?} is not NAME=VALUE; it is ignored"
                )),
            }
        }
        match self.report.as_deref() {
            None => {}
            Some("0" | "off" | "no" | "false") => settings.report = Report::None,
            Some("1" | "on" | "yes" | "true") => settings.report = Report::Text,
            Some(path) => settings.report = Report::File(PathBuf::from(path)),
        }
        let (to, budget) = (self.record.as_deref(), self.record_bytes.as_deref());
        lines.extend(apply_recording(to, budget, &mut settings.record));
        lines
    }
}

/// Overrides the settings of the recording. Returns lines to print.
fn apply_recording(
    to: Option<&str>,
    budget: Option<&str>,
    settings: &mut RecordSettings,
) -> Vec<String> {
    let mut lines = Vec::new();
    match to {
        None => {}
        Some("0" | "off" | "no" | "false") => settings.to = RecordIn::Nothing,
        Some("1" | "on" | "yes" | "true") => settings.to = RecordIn::Memory,
        Some(text) => match classes_and_file(text) {
            Ok((classes, to)) => {
                settings.classes = classes.unwrap_or(settings.classes);
                settings.to = to;
            }
            Err(why) => lines.push(format!("TURBOWISH_RECORD={text}: {why}; it is ignored")),
        },
    }
    if let Some(text) = budget {
        let bytes = units::parse_bytes(text).and_then(|bytes| usize::try_from(bytes).ok());
        match bytes {
            Some(bytes) => settings.bytes = bytes,
            None => lines.push(format!(
                "TURBOWISH_RECORD_BYTES={text} is not a number of bytes, such as 64MiB; it is ignored"
            )),
        }
    }
    lines
}

/// Reads `polls,waits`, `FILE.tw`, or both: `polls,waits,FILE.tw`. Otherwise says why not.
fn classes_and_file(text: &str) -> Result<(Option<EventClasses>, RecordIn), String> {
    let is_file = |text: &str| text.contains('/') || text.ends_with(".tw");
    let file = |text: &str| RecordIn::File(PathBuf::from(text));
    if let Some((list, last)) = text.rsplit_once(',')
        && is_file(last)
        && let Ok(classes) = EventClasses::parse(list)
    {
        return Ok((Some(named(classes)?), file(last)));
    }
    if is_file(text) {
        return Ok((None, file(text)));
    }
    let unknown = |why: UnknownClass| format!("{why}; a file ends in .tw or has a / in it");
    let classes = EventClasses::parse(text).map_err(unknown)?;
    Ok((Some(named(classes)?), RecordIn::Memory))
}

/// These classes, if there are any.
fn named(classes: EventClasses) -> Result<EventClasses, String> {
    if classes == EventClasses::NONE {
        return Err("it names no class of events; off records nothing".to_owned());
    }
    Ok(classes)
}

/// Replaces each `%p` in the path with the process ID.
pub(crate) fn with_pid(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.replace("%p", &std::process::id().to_string()).into(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Environment, EventClasses, Mode, RECORD_BYTES, RecordIn, Report, Settings};

    fn check(mode: &str, report: &str, expected: (Mode, Report), lines: usize) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let environment = Environment {
            mode: some(mode),
            report: some(report),
            ..Environment::default()
        };
        let mut settings = Settings {
            mode: Mode::Disarmed,
            report: Report::Text,
            ..Settings::new()
        };
        assert_eq!(environment.apply(&mut settings).len(), lines);
        assert_eq!((settings.mode, settings.report), expected);
    }

    #[test]
    fn the_environment_wins_over_the_program() {
        check("", "", (Mode::Disarmed, Report::Text), 0);
        check("on", "0", (Mode::On, Report::None), 0);
        check("OFF", "1", (Mode::Off, Report::Text), 0);
        check(
            "paused",
            "a/b.json",
            (Mode::Disarmed, Report::File(PathBuf::from("a/b.json"))),
            0,
        );
        check("perhaps", "", (Mode::Disarmed, Report::Text), 1);
    }
    #[test]
    fn the_recording_goes_where_the_environment_says() {
        let file = |path: &str| RecordIn::File(PathBuf::from(path));
        for (record, bytes, expected, lines) in [
            ("", "", (RecordIn::Memory, RECORD_BYTES), 0),
            ("off", "4096", (RecordIn::Nothing, 4_096), 0),
            ("on", "64MiB", (RecordIn::Memory, 64 << 20), 0),
            ("x.tw", "10MB", (file("x.tw"), 10_000_000), 0),
            ("/a/%p.tw", "3 KiB", (file("/a/%p.tw"), 3 << 10), 0),
            ("0", "12B", (RecordIn::Nothing, 12), 0),
            ("1", "much", (RecordIn::Memory, RECORD_BYTES), 1),
            ("1", "-1", (RecordIn::Memory, RECORD_BYTES), 1),
            ("1", "99999999999GiB", (RecordIn::Memory, RECORD_BYTES), 1),
            ("1", "MiB", (RecordIn::Memory, RECORD_BYTES), 1),
        ] {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let environment = Environment {
                record: some(record),
                record_bytes: some(bytes),
                ..Environment::default()
            };
            let mut settings = Settings::new();
            assert_eq!(environment.apply(&mut settings).len(), lines, "{bytes}");
            let record = settings.record;
            assert_eq!((record.to, record.bytes), expected);
            assert_eq!(record.classes, EventClasses::DEFAULT);
        }
    }

    #[test]
    fn the_recording_has_the_classes_that_the_environment_names() {
        let file = |path: &str| RecordIn::File(PathBuf::from(path));
        let check = |text: &str, classes: &str, to: RecordIn| {
            let environment = Environment {
                record: Some(text.to_owned()),
                ..Environment::default()
            };
            let mut settings = Settings::new();
            let lines = environment.apply(&mut settings);
            assert_eq!(settings.record.classes.text(), classes, "{text}");
            assert_eq!(settings.record.to, to, "{text}");
            lines
        };
        let all = EventClasses::DEFAULT.text();
        let none = Vec::<String>::new();
        assert_eq!(check("polls,waits", "polls,waits", RecordIn::Memory), none);
        assert_eq!(check("calls", "calls", RecordIn::Memory), none);
        assert_eq!(check("user,/a/b.tw", "user", file("/a/b.tw")), none);
        assert_eq!(check("/a,b/c", &all, file("/a,b/c")), none);
        assert_eq!(check("plls/x", &all, file("plls/x")), none);
        let lines = check("polls,plls", &all, RecordIn::Memory);
        let expected = "TURBOWISH_RECORD=polls,plls: \"plls\" is no class of events; they are states, polls, waits, user, calls; a file ends in .tw or has a / in it; it is ignored";
        assert_eq!(lines, [expected]);
        for nothing in [",", " ", ", ,", ",x.tw", " ,/a/b.tw"] {
            let expected = format!(
                "TURBOWISH_RECORD={nothing}: it names no class of events; off records nothing; it is ignored"
            );
            assert_eq!(check(nothing, &all, RecordIn::Memory), [expected]);
        }
    }
}
