//! Combinator: the kind of an await point that polls several futures, derived from its text alone.

use super::expression::last_method;

/// The kind of an await point that polls several futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combinator {
    /// `join!`: all must end.
    Join,
    /// `try_join!`: all must end, or one with an error.
    TryJoin,
    /// `select!`: one must end.
    Select,
    /// The futures of a stream, taken as they end.
    Unordered,
    /// Another combinator.
    Several,
}

/// Methods that consume a stream.
const STREAM: &[&str] = &[
    "collect",
    "concat",
    "count",
    "fold",
    "for_each",
    "for_each_concurrent",
    "next",
    "select_next_some",
    "try_collect",
    "try_concat",
    "try_fold",
    "try_for_each",
    "try_for_each_concurrent",
    "try_next",
];

/// Functions that may end before a future that they borrow.
const LENT: &[&str] = &["select", "timeout", "timeout_at"];

impl Combinator {
    /// The kind of an await point whose text shows that it polls several futures, or borrows one;
    /// `None` otherwise.
    #[must_use]
    pub fn from_expr(expr: &str) -> Option<Self> {
        let path = expr.trim_start();
        let end = path.find(|c: char| !(c.is_alphanumeric() || "_: ".contains(c)))?;
        let name = path[..end].rsplit(':').next().unwrap_or_default().trim();
        if path[end..].starts_with('!') {
            return match name {
                "join" => Some(Self::Join),
                "try_join" => Some(Self::TryJoin),
                "select" | "select_biased" => Some(Self::Select),
                _ => None,
            };
        }
        let lent = ["&mut ", ".as_mut()"];
        let lends = lent.iter().any(|lent| path[end..].contains(lent));
        let is_call = path[end..].starts_with('(') && LENT.contains(&name);
        (is_call && lends).then_some(Self::Several)
    }

    /// The kind of an await point that is known to poll several futures.
    #[must_use]
    pub fn of(expr: &str) -> Self {
        let is_stream = || last_method(expr).is_some_and(|method| STREAM.contains(&method));
        match Self::from_expr(expr) {
            Some(guess) => guess,
            None if is_stream() => Self::Unordered,
            None => Self::Several,
        }
    }

    /// The word used in trees and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Join => "join!",
            Self::TryJoin => "try_join!",
            Self::Select => "select!",
            Self::Unordered => "stream",
            Self::Several => "several",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Combinator;

    #[test]
    fn the_text_alone_tells_macros_and_futures_that_are_lent() {
        let check = |expr, expected| assert_eq!(Combinator::from_expr(expr), expected, "{expr}");
        check("tokio::join!(..)", Some(Combinator::Join));
        check("try_join!(..)", Some(Combinator::TryJoin));
        check("futures::select_biased! {..}", Some(Combinator::Select));
        check("timeout(second, &mut reply)", Some(Combinator::Several));
        check("future::select(a.as_mut(), b)", Some(Combinator::Several));
        check("timeout(second, reply)", None);
        check("read(&mut buffer)", None);
        check("futures::future::join(a, b)", None);
        check("println!(..)", None);
        check("wait(!flag)", None);
        check("", None);
    }

    #[test]
    fn a_known_fork_is_named_by_what_takes_its_items() {
        let check = |expr, expected| assert_eq!(Combinator::of(expr), expected, "{expr}");
        check("adds.next()", Combinator::Unordered);
        check(
            "stream::iter(0..9).map(|n| f(n)).buffered(2).collect()",
            Combinator::Unordered,
        );
        check("futures::future::join(a, b)", Combinator::Several);
        check("tokio::select! {..}", Combinator::Select);
        check("", Combinator::Several);
    }
}
