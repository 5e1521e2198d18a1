//! Analysis of awaited expressions: whether an await point awaits a resource itself, or a wrapper
//! that may end earlier.

use crate::snapshot::Place;
use crate::snapshot::Spot;

/// Whether the future awaited at `place` is the very call made at `asked`, as `Location::caller()`
/// reports it: at the name of a method.
///
/// `self.db.lock()` is, if `asked` is the position of `lock`. `timeout(second, self.db.lock())` is
/// not: it may end without the lock. `false` where the text does not tell.
#[must_use]
pub fn asks_directly(place: &Place, asked: &Spot) -> bool {
    if asked.file != place.file || !(place.line..=place.end_line).contains(&asked.line) {
        return false;
    }
    let Some(name) = last_call(&place.expr) else {
        return false;
    };
    // `tx.send_timeout(…)` may end without the channel.
    if !METHODS.contains(&&place.expr[name..name_end(&place.expr, name)]) {
        return false;
    }
    if asked.line != place.line || place.line != place.end_line {
        // The text may have a different layout than the source, so only the name is compared.
        return true;
    }
    let before = place.expr[..name].chars().count() as u32;
    place.column + before == asked.column
}

/// The method or function whose closing bracket ends the text.
pub(crate) fn last_method(text: &str) -> Option<&str> {
    let name = last_call(text)?;
    Some(&text[name..name_end(text, name)])
}

/// Whether the expression is a call of a method that waits for a resource, with nothing around it.
#[must_use]
pub fn awaits_a_resource(expr: &str) -> bool {
    last_method(expr).is_some_and(|method| METHODS.contains(&method))
}

/// Whether the expression is a call that waits for a timer of tokio's kind, with nothing around it.
pub(crate) fn awaits_a_timer(expr: &str) -> bool {
    last_method(expr).is_some_and(|method| matches!(method, "sleep" | "sleep_until" | "tick"))
}

/// Whether the expression is a call that waits for an item of a channel, with nothing around it.
pub(crate) fn awaits_an_item(expr: &str) -> bool {
    last_method(expr).is_some_and(|method| matches!(method, "recv" | "recv_many"))
}

/// Whether the expression is a call that waits for a notification, with nothing around it.
pub(crate) fn awaits_a_notice(expr: &str) -> bool {
    last_method(expr) == Some("notified")
}

/// Methods that wait for a resource.
const METHODS: &[&str] = &[
    "acquire",
    "acquire_many",
    "acquire_many_owned",
    "acquire_owned",
    "changed",
    "closed",
    "get_or_init",
    "get_or_try_init",
    "lock",
    "lock_owned",
    "notified",
    "read",
    "read_owned",
    "recv",
    "recv_many",
    "reserve",
    "reserve_many",
    "reserve_owned",
    "send",
    "wait",
    "wait_for",
    "write",
    "write_owned",
];

/// Start of the name of the call whose closing bracket ends the text.
fn last_call(text: &str) -> Option<usize> {
    let text = text.trim_end();
    if !text.ends_with(')') || text.contains(['"', '\'']) && !quotes_are_sound(text) {
        return None;
    }
    let mut depth = 0_u32;
    let open = text.char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let head = text[..open].trim_end();
    let name = head.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    (name.len() < head.len()).then_some(name.len())
}

/// Whether no bracket is inside a literal, so that brackets can be counted.
fn quotes_are_sound(text: &str) -> bool {
    let mut inside = false;
    for c in text.chars() {
        match c {
            '"' => inside = !inside,
            '(' | ')' | '\\' if inside => return false,
            // A character or a lifetime: not worth distinguishing.
            '\'' => return false,
            _ => {}
        }
    }
    !inside
}

fn name_end(text: &str, start: usize) -> usize {
    text[start..]
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(text.len(), |len| start + len)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{Spot, asks_directly};
    use crate::snapshot::Place;

    /// Places `expr` in column 9 of line 5 and asks at `method` in it.
    fn check(expr: &str, method: &str, lines: u32, expected: bool) {
        let place = Place {
            file: "a.rs".to_string(),
            line: 5,
            column: 9,
            end_line: 5 + lines,
            end_column: 0,
            expr: expr.to_string(),
        };
        let at = expr.find(method).expect("it is in there");
        let asked = Spot {
            file: "a.rs".to_string(),
            line: 5 + lines,
            column: 9 + expr[..at].chars().count() as u32,
        };
        assert_eq!(asks_directly(&place, &asked), expected, "{expr}");
        let elsewhere = Spot { line: 99, ..asked };
        assert!(!asks_directly(&place, &elsewhere), "{expr}");
    }

    #[test]
    fn the_outermost_call_is_asked() {
        check("self.db.lock()", "lock", 0, true);
        check("tx.send(f(1, (2, 3)))", "send", 0, true);
        check("tx.send(\"a\")", "send", 0, true);
        check("self.naïve.lock()", "lock", 0, true);
        check("self\n.db\n.lock()", "lock", 2, true);
    }

    #[test]
    fn what_is_wrapped_is_not() {
        check("timeout(second, self.db.lock())", "lock", 0, false);
        check("timeout(second,\nself.db.lock())", "lock", 1, false);
        check("self.db.lock().fuse()", "lock", 0, false);
        check("Box::pin(db.lock())", "lock", 0, false);
        check("db.lock", "lock", 0, false);
        check("tx.send_timeout(1, second)", "send_timeout", 0, false);
        check("tx\n.send_timeout(1, second)", "send_timeout", 1, false);
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        check("tx.send(\")\")", "send", 0, false);
        check("tx.send(')')", "send", 0, false);
        check("", "", 0, false);
        check(")", ")", 0, false);
        check("((a)", "a", 0, false);
    }
}
