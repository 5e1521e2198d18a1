//! Await points by their source text: whether the call there drops what it awaits, and when.

/// Combinator that drops what it polls before it has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropper {
    /// Drops when another branch is ready.
    Select,
    /// Drops when the time is over.
    Timeout,
}

/// The combinator in an await point's text, if it drops what it polls.
pub(super) fn dropper(text: &str) -> Option<Dropper> {
    if let Some(name) = macro_name(text) {
        return matches!(name, "select" | "select_biased" | "race").then_some(Dropper::Select);
    }
    if text.contains(".timeout(") || text.contains(".timeout_at(") {
        return Some(Dropper::Timeout);
    }
    match called(text)? {
        "select" | "select_all" | "select_ok" | "race" | "or" => Some(Dropper::Select),
        "timeout" | "timeout_at" => Some(Dropper::Timeout),
        _ => None,
    }
}

/// Whether the combinator drops futures that have not been polled, as intended.
pub(super) fn is_race(text: &str) -> bool {
    let fails = |name| matches!(name, "try_join" | "try_join_all");
    dropper(text) == Some(Dropper::Select)
        || macro_name(text).is_some_and(fails)
        || called(text).is_some_and(fails)
}

/// Whether the await is for a timer or a yield: a received item is not handled by that.
pub(super) fn is_pause(text: &str) -> bool {
    let last = text.rsplit('.').next().unwrap_or(text);
    let pauses = |name: &str| {
        matches!(
            name,
            "sleep" | "sleep_until" | "tick" | "yield_now" | "pending" | "notified" | "changed"
        )
    };
    called(text).is_some_and(pauses) || called(last).is_some_and(pauses)
}

/// Name of the macro, if the text is a macro call.
pub(super) fn macro_name(text: &str) -> Option<&str> {
    let (path, _) = text.split_once('!')?;
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ');
    path.chars().all(is_path).then(|| last(path))
}

/// Name of the function called first, if the text begins with a call.
fn called(text: &str) -> Option<&str> {
    let (path, _) = text.split_once('(')?;
    let path = path.split("::<").next().unwrap_or(path);
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ');
    path.chars().all(is_path).then(|| last(path))
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path).trim()
}

#[cfg(test)]
mod tests {
    use super::{Dropper, dropper, is_pause, is_race};

    #[test]
    fn who_drops_is_told_from_the_text() {
        let check = |text: &str, expected| assert_eq!(dropper(text), expected, "{text}");
        check("tokio::select! {..}", Some(Dropper::Select));
        check("select! {..}", Some(Dropper::Select));
        check("futures::select_biased! {..}", Some(Dropper::Select));
        check("future::select(a, b)", Some(Dropper::Select));
        check("timeout(SECOND, self.step())", Some(Dropper::Timeout));
        check(
            "tokio::time::timeout_at(at, step())",
            Some(Dropper::Timeout),
        );
        check("self.step().timeout(SECOND)", Some(Dropper::Timeout));
        check("join!(a, b)", None);
        check("tokio::try_join!(a, b)", None);
        check("self.select(query)", None);
        check("self.timeout", None);
        check("read_timeout(SECOND)", None);
        check("", None);
    }

    #[test]
    fn unpolled_futures_lose_where_others_win_or_fail() {
        let check = |text: &str, expected| assert_eq!(is_race(text), expected, "{text}");
        check("tokio::select! {..}", true);
        check("tokio::try_join! {..}", true);
        check("try_join_all(jobs)", true);
        check("join! {..}", false);
        check("timeout(SECOND, step())", false);
        check("println! {..}", false);
    }

    #[test]
    fn pauses_take_nothing() {
        let check = |text: &str, expected| assert_eq!(is_pause(text), expected, "{text}");
        check("tokio::time::sleep(Duration::from_secs(1))", true);
        check("ticks.tick()", true);
        check("tokio::task::yield_now()", true);
        check("stop.notified()", true);
        check("std::future::pending::<()>()", true);
        check("db.write(item)", false);
        check("sleep_on(item)", false);
        check("work(a.b)", false);
    }
}
