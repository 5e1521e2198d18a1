//! Tense of the texts of alerts. A rule writes each text once, with both forms of the words that
//! differ; the detector prints the first ones while the pitfall is present, the second ones after
//! that. A fix that makes sense only while it is present has no second form.

use alloc::format;
use alloc::string::String;

use super::words;
use crate::snapshot::alert::Alert;

/// Signs around and between two forms: no source text and hardly any name contains them.
const OPEN: char = '\u{2}';
const BETWEEN: char = '\u{1f}';
const CLOSE: char = '\u{3}';

/// Both forms of a word, for a text with names in it: `tense("holds", "held")`.
pub(super) fn tense(now: &str, then: &str) -> String {
    format!("{OPEN}{now}{BETWEEN}{then}{CLOSE}")
}

/// Reads `[holds|held]` in a template as both forms of a word. Other brackets are kept.
pub(super) fn marked(template: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('[') {
        let (before, inside) = rest.split_at(open);
        text += before;
        let forms = inside[1..].split_once(']');
        let forms = forms.and_then(|(forms, after)| Some((forms.split_once('|')?, after)));
        rest = match forms {
            Some(((now, then), after)) => {
                text += &tense(now, then);
                after
            }
            None => {
                text.push('[');
                &inside[1..]
            }
        };
    }
    text + rest
}

/// The text with one form of each word.
fn told(text: &str, is_now: bool) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(word) = TensedWord::first(rest) {
        told += word.before;
        told += if is_now { word.now } else { word.then };
        rest = word.after;
    }
    told + rest
}

/// A word with two forms, what is before it, and what is after it.
struct TensedWord<'t> {
    before: &'t str,
    now: &'t str,
    then: &'t str,
    after: &'t str,
}

impl<'t> TensedWord<'t> {
    /// The first one in a text.
    fn first(text: &'t str) -> Option<Self> {
        let (first, second) = text.split_once(BETWEEN)?;
        let (before, now) = first.rsplit_once(OPEN)?;
        let (then, after) = second.split_once(CLOSE)?;
        Some(Self {
            before,
            now,
            then,
            after,
        })
    }
}

/// Puts the texts of an alert into the tense that suits it: the present as long as the last scan
/// has seen the pitfall. `{for}` becomes the time for which it was present, with `+` if it still
/// is.
pub(super) fn tell(alert: &mut Alert) {
    let is_now = alert.holds;
    let steps = alert.steps.iter_mut().map(|step| &mut step.how);
    let texts = [&mut alert.title, &mut alert.summary, &mut alert.why];
    for text in texts.into_iter().chain(&mut alert.fixes).chain(steps) {
        *text = told(text, is_now);
    }
    alert.fixes.retain(|fix| !fix.is_empty());
    // Replaced last: names in a title may contain braces.
    let open = if is_now { "+" } else { "" };
    let length = format!("{}{open}", words::time(alert.held_ns));
    alert.title = alert.title.replacen("{for}", &length, 1);
}

#[cfg(test)]
mod tests {
    use super::{marked, tell, told};
    use crate::snapshot::alert::Alert;

    #[test]
    fn a_text_has_a_form_for_each_tense() {
        let check = |template: &str, now: &str, then: &str| {
            let text = marked(template);
            let found = (told(&text, true), told(&text, false));
            assert_eq!((found.0.as_str(), found.1.as_str()), (now, then));
        };
        check("", "", "");
        check("one task", "one task", "one task");
        check("[is|was] held", "is held", "was held");
        check("it [holds|held], [is|was]", "it holds, is", "it held, was");
        check("[attach|]", "attach", "");
        check(
            "Box<[u8]> [is|was] large",
            "Box<[u8]> is large",
            "Box<[u8]> was large",
        );
        check("[a", "[a", "[a");
        check("a|b]", "a|b]", "a|b]");
    }

    #[test]
    fn signs_in_a_name_are_part_of_it() {
        for text in [
            "\u{2}",
            "\u{1f}",
            "\u{3}\u{1f}\u{2}",
            "a\u{1f}b\u{3}",
            "\u{2}a\u{1f}b",
        ] {
            assert_eq!(
                (told(text, true).as_str(), told(text, false).as_str()),
                (text, text)
            );
        }
    }

    #[test]
    fn an_alert_is_told_as_it_is_or_as_it_was() {
        let alert = Alert {
            title: marked("lock {for}: a [holds|held] it"),
            fixes: [marked("[look at it now|]"), "drop it".into()].into(),
            held_ns: 1_500_000_000,
            holds: true,
            ..Alert::default()
        };
        let check = |holds, title: &str, fixes: &[&str]| {
            let mut alert = Alert {
                holds,
                ..alert.clone()
            };
            tell(&mut alert);
            assert_eq!(alert.title, title);
            assert_eq!(alert.fixes, fixes);
        };
        check(
            true,
            "lock 1.50 s+: a holds it",
            &["look at it now", "drop it"],
        );
        check(false, "lock 1.50 s: a held it", &["drop it"]);
    }
}
