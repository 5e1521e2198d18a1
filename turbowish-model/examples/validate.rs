//! Reports what cannot have happened in a stream of events, event by event and rule by rule.

use std::io::{self, Write};
use std::process::ExitCode;

use turbowish_testing::event_file::{self, Stream};
use turbowish_testing::names::Names;
use turbowish_testing::validate::Validator;

const HELP: &str = "\
Reports what cannot have happened in the stream of events in FILE.

Usage: validate FILE

Prints a line for every event that is not coherent with those before it: which one, its time and thread, the rule, what it
is about. Then, for each rule that was broken, how often, and `N events, M reports`. docs/validator.md lists the rules and
the fields of each event.

FILE is JSON: {\"format\": \"turbowish-events/1\", \"events\": [...]}, or a file of occupancy vectors, whose streams are taken one by
one. Times are unsigned 64-bit integers.

Exit code: 0 no reports, 1 reports, 2 FILE cannot be read or is not in the format.

Example:
  cargo run -p turbowish-model --example validate -- turbowish-model/tests/occupancy-vectors.json
";
const TRY_HELP: &str = "try `validate --help`";

const REPORTS: u8 = 1;
const UNUSABLE: u8 = 2;

/// Beyond so many lines of a stream, reports are only counted.
const LINES: u64 = 1000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [file] = &arguments[..] else {
        let given = arguments.len();
        return refuse(&format!(
            "one FILE is needed, {given} were given; {TRY_HELP}"
        ));
    };
    if file == "--help" || file == "-h" {
        return match io::stdout().write_all(HELP.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(UNUSABLE),
        };
    }
    if file.to_string_lossy().starts_with('-') {
        let option = file.display();
        return refuse(&format!("{option}: there is no such option; {TRY_HELP}"));
    }
    let streams = match std::fs::read_to_string(file) {
        Ok(text) => event_file::read(&text, &mut Names::default()),
        Err(error) => Err(error.to_string()),
    };
    match streams {
        Ok(streams) => print(&streams),
        Err(error) => refuse(&format!("{}: {error}", file.display())),
    }
}

fn refuse(error: &str) -> ExitCode {
    eprintln!("validate: {error}");
    ExitCode::from(UNUSABLE)
}

fn print(streams: &[Stream]) -> ExitCode {
    let mut text = String::new();
    let broken: u64 = streams
        .iter()
        .map(|stream| validate(stream, &mut text))
        .sum();
    // The reader of stdout may have closed it: the exit code says it all the same.
    _ = io::stdout().write_all(text.as_bytes());
    if broken > 0 {
        ExitCode::from(REPORTS)
    } else {
        ExitCode::SUCCESS
    }
}

/// Writes what there is to say of one stream; returns how many reports that are.
fn validate(stream: &Stream, text: &mut String) -> u64 {
    let name = stream.name.as_ref();
    let place = name.map_or_else(String::new, |name| format!("{name}: "));
    let mut validator = Validator::default();
    let mut reports = 0;
    for event in &stream.events {
        validator.event(event, &mut |report| {
            reports += 1;
            if reports <= LINES {
                text.push_str(&format!("{place}{report}\n"));
            }
        });
    }
    if reports > LINES {
        let more = reports - LINES;
        text.push_str(&format!("{place}and {more} more\n"));
    }
    for (rule, count) in validator.broken() {
        text.push_str(&format!("{place}{} {}: {}\n", count, rule.id, rule.text));
    }
    if validator.unseen() > 0 {
        let unseen = validator.unseen();
        text.push_str(&format!(
            "{place}{unseen} events were not looked at: too many threads\n"
        ));
    }
    let events = validator.events();
    let of =
        |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let (events, told) = (of(events, "event"), of(reports, "report"));
    text.push_str(&format!("{place}{events}, {told}\n"));
    reports
}
