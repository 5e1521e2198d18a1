//! Sanitizing of text from the program: characters that control a terminal are replaced by escapes.

use alloc::borrow::Cow;
use alloc::string::String;

/// The text on one line, with escapes such as `\n` and `\u{1b}` in place of characters that control
/// a terminal or reverse text.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_unprintable)
}

/// Same as [`line()`], but keeps line ends.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c != '\n' && is_unprintable(c))
}

fn replaced(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&bad) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' if bad(c) => shown.extend(c.escape_debug()),
            c if bad(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys a character, reverses the text after it, or shows nothing for it:
/// controls, direction marks, and zero-width characters that make different names look the same.
/// The joiners that scripts and emoji need are not among them.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        let check = |text: &str, on_one: &str, on_many: &str| {
            assert_eq!((&*line(text), &*lines(text)), (on_one, on_many));
        };
        check("größe 日本 \\n", "größe 日本 \\n", "größe 日本 \\n");
        check("a\nb\tc", "a\\nb\\tc", "a\nb\\tc");
        check(
            "\u{1b}[2Jx\u{7}\u{9b}",
            "\\u{1b}[2Jx\\u{7}\\u{9b}",
            "\\u{1b}[2Jx\\u{7}\\u{9b}",
        );
        check("ab\u{202e}cd", "ab\\u{202e}cd", "ab\\u{202e}cd");
        check(
            "a\u{feff}\u{e0041}",
            "a\\u{feff}\\u{e0041}",
            "a\\u{feff}\\u{e0041}",
        );
        check("👩\u{200d}🚒", "👩\u{200d}🚒", "👩\u{200d}🚒");
        check("", "", "");
    }
}
