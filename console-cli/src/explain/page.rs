//! The page of each alert, and how it is found by name.

use turbowish_model::snapshot::column::closest;
use turbowish_model::snapshot::pitfall::Pitfall;

/// Maximal number of similar names in a message.
const NEAR: usize = 8;

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Alert(Pitfall),
    /// The thresholds of all alerts.
    Limits,
    /// The fields of JSON and CSV.
    Json,
}

/// The page in Markdown.
pub(super) const fn of(pitfall: Pitfall) -> &'static str {
    match pitfall {
        Pitfall::Deadlock => include_str!("pages/deadlock.md"),
        Pitfall::SelfDeadlock => include_str!("pages/self-deadlock.md"),
        Pitfall::Futurelock => include_str!("pages/futurelock.md"),
        Pitfall::BlockedWorker => include_str!("pages/blocked-worker.md"),
        Pitfall::NeverYields => include_str!("pages/never-yields.md"),
        Pitfall::LostWaker => include_str!("pages/lost-waker.md"),
        Pitfall::BlockedSender => include_str!("pages/blocked-sender.md"),
        Pitfall::PolledAfterEnd => include_str!("pages/polled-after-end.md"),
        Pitfall::DetachedFailure => include_str!("pages/detached-failure.md"),
        Pitfall::LongPoll => include_str!("pages/long-poll.md"),
        Pitfall::YieldsRarely => include_str!("pages/yields-rarely.md"),
        Pitfall::CrowdedTask => include_str!("pages/crowded-task.md"),
        Pitfall::Starvation => include_str!("pages/starvation.md"),
        Pitfall::LateTimers => include_str!("pages/late-timers.md"),
        Pitfall::SnoozedFuture => include_str!("pages/snoozed-future.md"),
        Pitfall::StreamStall => include_str!("pages/stream-stall.md"),
        Pitfall::CancelUnsafeSelect => include_str!("pages/cancel-unsafe-select.md"),
        Pitfall::TimeoutHalfDone => include_str!("pages/timeout-half-done.md"),
        Pitfall::LockOrderInversion => include_str!("pages/lock-order-inversion.md"),
        Pitfall::UnboundedGrowth => include_str!("pages/unbounded-growth.md"),
        Pitfall::TaskLeak => include_str!("pages/task-leak.md"),
        Pitfall::BufferBloat => include_str!("pages/buffer-bloat.md"),
        Pitfall::GuardAcrossAwait => include_str!("pages/guard-across-await.md"),
        Pitfall::LockConvoy => include_str!("pages/lock-convoy.md"),
        Pitfall::SelfWakeSpin => include_str!("pages/self-wake-spin.md"),
        Pitfall::SpuriousPolls => include_str!("pages/spurious-polls.md"),
        Pitfall::NeverPolled => include_str!("pages/never-polled.md"),
        Pitfall::LargeFuture => include_str!("pages/large-future.md"),
        Pitfall::Overload => include_str!("pages/overload.md"),
        Pitfall::WakerChurn => include_str!("pages/waker-churn.md"),
        Pitfall::BudgetExhausted => include_str!("pages/budget-exhausted.md"),
    }
}

/// The topic of this name or number, however the name is written: `Lost_Waker`, `lost waker`.
///
/// # Errors
/// There is none; similar names.
pub(super) fn find(name: &str) -> Result<Topic, Vec<&'static str>> {
    let wanted = plain(name);
    match &*wanted {
        "limits" | "thresholds" => return Ok(Topic::Limits),
        "json" | "csv" => return Ok(Topic::Json),
        _ => {}
    }
    let number: Option<usize> = wanted.parse().ok();
    let numbered = number.and_then(|number| Pitfall::ALL.get(number.checked_sub(1)?));
    let is_named = |known: &&Pitfall| known.page() == wanted || plain(known.title()) == wanted;
    let found = numbered.or_else(|| Pitfall::ALL.iter().find(is_named));
    found
        .copied()
        .map(Topic::Alert)
        .ok_or_else(|| near(&wanted))
}

/// Names that contain the wanted one, or the one that is most like it.
fn near(wanted: &str) -> Vec<&'static str> {
    let pages = || Pitfall::ALL.iter().map(|pitfall| pitfall.page());
    let containing = pages().filter(|page| !wanted.is_empty() && page.contains(wanted));
    let mut found: Vec<&str> = containing.take(NEAR).collect();
    if found.is_empty() {
        found.extend(closest(wanted, pages()));
    }
    found
}

/// Words in lower case, joined by `-`.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::{Pitfall, Topic, find, of};

    #[test]
    fn each_alert_has_its_own_page() {
        for (at, pitfall) in Pitfall::ALL.iter().enumerate() {
            let title = of(*pitfall).lines().next();
            assert_eq!(title, Some(format!("# {}", pitfall.title()).as_str()));
            let topic = Ok(Topic::Alert(*pitfall));
            let number = (at + 1).to_string();
            for name in [pitfall.id(), pitfall.title(), pitfall.page(), &number] {
                assert_eq!(find(name), topic, "{name}");
            }
        }
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        let check = |name: &str, expected| assert_eq!(find(name), expected, "{name}");
        let found = |pitfall| Ok(Topic::Alert(pitfall));
        check("blocked-worker", found(Pitfall::BlockedWorker));
        check("Blocked_Worker", found(Pitfall::BlockedWorker));
        check(" BLOCKED  worker ", found(Pitfall::BlockedWorker));
        check("cancel-unsafe select!", found(Pitfall::CancelUnsafeSelect));
        check("1", found(Pitfall::Deadlock));
        check("31", found(Pitfall::BudgetExhausted));
        check("limits", Ok(Topic::Limits));
        check("JSON", Ok(Topic::Json));
        check("0", Err(Vec::new()));
        check("32", Err(Vec::new()));
        check("", Err(Vec::new()));
        check("xyzzy", Err(Vec::new()));
        check("deadlok", Err(vec!["deadlock"]));
        check("lost", Err(vec!["lost-waker"]));
        check(
            "lock",
            Err(vec![
                "deadlock",
                "self-deadlock",
                "futurelock",
                "blocked-worker",
                "blocked-sender",
                "lock-order-inversion",
                "lock-convoy",
            ]),
        );
    }
}
