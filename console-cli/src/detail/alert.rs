//! `turbowish query alert`: the choice of the alert, and its problem view as text.

use std::path::PathBuf;

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::json::{self, Options};
use turbowish_model::snapshot::units::Micro;
use turbowish_model::snapshot::{Snapshot, Table};
use turbowish_wire::client::Target;

use super::problem::source::Roots;
use super::problem::{self, AlertContext};
use super::{ask, is_called};
use crate::args::{Format, QueryArgs};
use crate::failure::{Failure, print};
use crate::plain_text;
use crate::recording::is_recording;
use crate::source;
use crate::text::printed;

/// The argument that selects the first alert.
const WORST: &str = "worst";

/// Prints one alert in full, or all of that name.
///
/// # Errors
/// A mistake on the command line, no answer, or no alert of that name.
pub(super) fn run(args: &QueryArgs, token: Option<&str>) -> Result<(), Failure> {
    if args.format == Format::Csv || !args.columns.is_empty() {
        return Err(Failure::usage(
            "an alert in full has no columns: turbowish query alerts --format csv",
        ));
    }
    let (target, name) = meant(args, token)?;
    let origin = source::origin(target, &args.past, token)?;
    let everything = Some(Rows::default());
    let query = Query {
        window_ns: args.window.0,
        tasks: everything.clone(),
        resources: everything.clone(),
        alerts: everything,
        ..Query::default()
    };
    let mut snapshot = ask(origin, &query)?;
    choose(&mut snapshot, name)?;
    if args.format == Format::Json {
        let shape = Options::default();
        return print(&json::document(&snapshot, &[Table::Alerts], &shape));
    }
    if snapshot.alerts.rows.is_empty() {
        return print("no alerts\n");
    }
    let own = snapshot.process.pid.to_string();
    let subject = target.or(args.past.from.as_deref()).unwrap_or(&own);
    let alerts = snapshot.alerts.rows.iter();
    let told: Vec<String> = alerts
        .map(|alert| text(alert, &snapshot, subject, &args.source.source))
        .collect();
    print(&told.join("\n"))
}

/// The process and the name; of one word alone, whichever it is.
fn meant<'a>(
    args: &'a QueryArgs,
    token: Option<&str>,
) -> Result<(Option<&'a str>, &'a str), Failure> {
    Ok(match (args.target.as_deref(), args.name.as_deref()) {
        (target, Some(name)) => (target, name),
        (Some(word), None) if args.past.from.is_some() => (None, word),
        (Some(word), None) if is_recording(word) => (Some(word), WORST),
        (Some(word), None) if Target::parse(word, token).is_none() => {
            let is_process = word != WORST && source::runtime()?.block_on(source::is_named(word));
            match is_process {
                true => (Some(word), WORST),
                false => (None, word),
            }
        }
        (target, None) => (target, WORST),
    })
}

/// Leaves the alerts of that name.
fn choose(snapshot: &mut Snapshot, name: &str) -> Result<(), Failure> {
    let there = &snapshot.alerts.rows;
    if name == WORST {
        snapshot.alerts.rows.truncate(1);
    } else if there.iter().any(|alert| is_named(alert, name)) {
        snapshot.alerts.rows.retain(|alert| is_named(alert, name));
    } else {
        let mut titles: Vec<&str> = there.iter().map(|alert| alert.pitfall.title()).collect();
        titles.dedup();
        let hint = if titles.is_empty() {
            "there are no alerts".to_owned()
        } else {
            format!("there are: {}", titles.join(", "))
        };
        let process = &snapshot.process;
        return Err(Failure::Local(format!(
            "no alert {name} in {} {}; {hint}",
            process.name, process.pid
        )));
    }
    snapshot.alerts.matched = snapshot.alerts.rows.len() as u64;
    Ok(())
}

/// By what it is, however that is written, or by somebody who is part of it.
fn is_named(alert: &Alert, name: &str) -> bool {
    let plain = name.replace(['-', '_'], " ").to_lowercase();
    let mut parties = alert.parties.iter();
    alert.pitfall.title() == plain || parties.any(|party| is_called(&party.name, name))
}

/// `subject` is the process or the recording, as a command takes it.
fn text(alert: &Alert, snapshot: &Snapshot, subject: &str, folders: &[PathBuf]) -> String {
    let began = alert.began_at(snapshot.at_unix_ns);
    let ago = alert.ended_ago(snapshot.at_unix_ns);
    let clock = plain_text::local(began);
    let roots = Roots {
        named: folders,
        pid: Some(snapshot.process.pid),
    };
    let source = problem::source::lines(alert, roots);
    // Its end: states are recorded when an alert is raised, and once a second.
    let end = plain_text::clock_ms(began.saturating_add(alert.lasted_ns()));
    let around = AlertContext {
        // The present rows do not show what an alert was that is over.
        tasks: if ago.is_some() {
            &[]
        } else {
            &snapshot.tasks.rows
        },
        resources: if ago.is_some() {
            &[]
        } else {
            &snapshot.resources.rows
        },
        ended_ago_ns: ago,
        noticed_later: None,
        past: ago.map(|_| format!("turbowish top {subject} --at {end}")),
        utc_offset_s: plain_text::utc_offset_s(),
        began: clock.split_once(' ').map(|(_, time)| time.to_owned()),
        source: &source,
        micro: Micro::Unicode,
        room: plain_text::width(),
        cuts: false,
    };
    let told = problem::lines(alert, &around);
    let mut lines: Vec<String> = told
        .iter()
        .map(|line| {
            let line = line.text();
            line.strip_prefix(' ').unwrap_or(&line).to_owned()
        })
        .collect();
    lines.splice(0..0, [alert.title.clone(), String::new()]);
    lines.push(String::new());
    printed(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The console opens at its end; an active alert is in the present.
    #[test]
    fn an_alert_that_is_over_ends_with_the_command_for_its_time() {
        const AT: u64 = 1_795_194_271_207_000_000;
        let told = |ended_unix_ns| {
            let alert = Alert {
                began_unix_ns: AT - 1_500_000_000,
                held_ns: 1_500_000_000,
                ended_unix_ns,
                last_unix_ns: ended_unix_ns,
                ..Alert::default()
            };
            text(&alert, &Snapshot::default(), "x.tw", &[])
        };
        let over = told(Some(AT));
        let lines: Vec<&str> = over.lines().collect();
        let more = lines.iter().position(|line| line.starts_with("MORE  "));
        let past = lines[more.expect("a page") + 1];
        let expected = format!("PAST  turbowish top x.tw --at {}", plain_text::clock_ms(AT));
        assert_eq!(past, expected);
        assert!(expected.ends_with(".207"));
        assert!(!told(None).contains("PAST"));
    }
}
