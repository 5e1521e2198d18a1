//! `turbowish explain`: the page of an alert, and the list of all. The pages are those of `docs`:
//! `explain/pages`, `explain/json.md` and `explain/tables.md` are links to them, and a package
//! holds what they link to.

mod markdown;
mod page;

use std::io::{IsTerminal, stdout};

use rustix::termios::tcgetwinsize;
use turbowish_model::diagnose::alert::{LIMITS, row};
use turbowish_model::snapshot::pitfall::Pitfall;

use self::markdown::PageFormat;
use self::page::Topic;
use crate::failure::{Failure, print_own};
use crate::text;

/// The widest text on a terminal, in columns: longer lines are hard to read.
const WIDEST: usize = 100;
/// Columns of a terminal that does not tell how many it has.
const USUAL: usize = 80;

/// Runs the command: `words` are the name of an alert, in one argument or in several.
///
/// # Errors
/// A name that no alert has; stdout cannot be written to.
pub(crate) fn run(words: &[String]) -> Result<(), Failure> {
    let format = format();
    let name = words.join(" ");
    if name.trim().is_empty() {
        return print_own(&list(format.as_ref().map(|format| format.width)));
    }
    let markdown = match page::find(&name) {
        Ok(Topic::Alert(pitfall)) => page::of(pitfall).to_owned(),
        Ok(Topic::Limits) => limits(),
        Ok(Topic::Json) => concat!(
            include_str!("explain/json.md"),
            "\n",
            include_str!("explain/tables.md")
        )
        .to_owned(),
        Err(near) => return Err(Failure::usage(unknown(&name, &near))),
    };
    match format {
        Some(format) => print_own(&markdown::rendered(&markdown, &format)),
        None => print_own(&markdown),
    }
}

/// The terminal, if stdout is one. Other readers get Markdown.
fn format() -> Option<PageFormat> {
    if !stdout().is_terminal() {
        return None;
    }
    let columns = tcgetwinsize(stdout()).map_or(0, |size| size.ws_col);
    let columns = if columns == 0 { USUAL } else { columns.into() };
    let variable = |name| std::env::var(name).unwrap_or_default();
    Some(PageFormat {
        width: columns.clamp(20, WIDEST),
        bold: variable("NO_COLOR").is_empty() && variable("TERM") != "dumb",
    })
}

/// `no alert deadlok; did you mean deadlock? turbowish explain lists all`
fn unknown(name: &str, near: &[&str]) -> String {
    let meant = match near {
        [] => String::new(),
        near => format!("did you mean {}? ", near.join(", ")),
    };
    format!("no alert {name}; {meant}turbowish explain lists all")
}

/// A line for each alert, the worst first.
fn list(width: Option<usize>) -> String {
    let longest = Pitfall::ALL.iter().map(|pitfall| pitfall.page().len());
    let names = longest.max().unwrap_or(0);
    let mut lines = vec![format!(" #  {:names$}  SEVERITY  MEANING", "ALERT")];
    for (at, pitfall) in Pitfall::ALL.iter().enumerate() {
        let rule = row(*pitfall);
        let severity = rule.severity.word();
        let begin = format!("{:2}  {:names$}  {severity:8} ", at + 1, pitfall.page());
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(begin.len()));
        let indent = " ".repeat(begin.len());
        let mut meaning = pitfall.meaning().to_owned();
        if !rule.also.is_empty() {
            meaning += " ";
            meaning += rule.also;
        }
        for (part, meaning) in text::wrap(&meaning, room).iter().enumerate() {
            let before = if part == 0 { &begin } else { &indent };
            lines.push(format!("{before}{meaning}"));
        }
    }
    lines.push(String::new());
    lines.push("turbowish explain deadlock   the page of an alert, by name or number".to_owned());
    lines.push("turbowish explain limits     the thresholds of all alerts".to_owned());
    lines.push("turbowish explain json       the fields of JSON and CSV".to_owned());
    lines.join("\n") + "\n"
}

/// The thresholds as a page.
fn limits() -> String {
    let mut page =
        "# Thresholds\n\nSet them with `Builder::alert_limit` or `TURBOWISH_LIMITS`.\n\n"
            .to_owned();
    page += "| limit | default | meaning |\n|---|---|---|\n";
    for limit in LIMITS {
        let (key, default, meaning) = (limit.key, limit.default_text(), limit.meaning);
        page += &format!("| `{key}` | {default} | {meaning} |\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{LIMITS, PageFormat, limits, list, markdown, unknown};

    #[test]
    fn the_list_has_each_alert_once() {
        let all = list(None);
        let begin = " #  ALERT                 SEVERITY  MEANING
 1  deadlock              alert     Tasks wait for each other in a cycle.
 2  self-deadlock         alert     A task waits for something that only the task itself could provide.
";
        assert!(all.starts_with(begin), "{all}");
        assert_eq!(all.lines().count(), 1 + 31 + 4);
        let narrow = list(Some(80));
        let wrapped = " 2  self-deadlock         alert     A task waits for something that only the
                                    task itself could provide.
";
        assert!(narrow.contains(wrapped), "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 80), "{narrow}");
    }

    #[test]
    fn all_limits_are_told() {
        let page = limits();
        assert!(page.contains("\n| `clear` | 1s | Time that a condition must be gone"));
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        assert_eq!(rows.count(), LIMITS.len());
        let format = PageFormat {
            width: 80,
            bold: false,
        };
        let shown = markdown::rendered(&page, &format);
        assert!(
            shown.lines().all(|line| line.chars().count() <= 80),
            "{shown}"
        );
    }

    #[test]
    fn a_mistake_names_what_is_meant() {
        assert_eq!(
            unknown("lock", &["deadlock", "lock-convoy"]),
            "no alert lock; did you mean deadlock, lock-convoy? turbowish explain lists all"
        );
        assert_eq!(
            unknown("xyzzy", &[]),
            "no alert xyzzy; turbowish explain lists all"
        );
    }
}
