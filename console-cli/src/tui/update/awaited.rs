//! What calls wait for at an await point: a lock or channel that they request there, or did.

use turbowish_model::snapshot::{AwaitRow, LongestRow, ResourceRow, Spot};

use crate::detail::rich_line::Link;
use crate::tui::rows::Entry as _;
use crate::tui::state::State;

/// A resource that is requested at an await point, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requested {
    /// Calls wait for it now.
    Waited,
    /// The longest of its waits was there.
    HasWaited,
    /// It is held, or was held for the longest time, since it was taken there.
    Taken,
}

/// The record to which a row of the table of await points leads, and what to say about it; `None`
/// if the row is no await point.
pub(super) fn of_row(state: &State, at: usize) -> Option<(Link, Option<String>)> {
    let id = state.table().id(at)?;
    let mut points = state.tables.awaits.rows().iter();
    let row = points.find(|row| row.is(&id))?;
    let file = row.place.file.rsplit(['/', '\\']).next();
    let place = format!("{}:{}", file.unwrap_or_default(), row.place.line);
    let Some((how, resource)) = requested(row, state.tables.resources.rows()) else {
        let told = format!("no lock or channel is known at {place}; this is its function");
        return Some((state.table().link(at)?, Some(told)));
    };
    let name = &resource.name;
    let told = match how {
        Requested::Waited => None,
        Requested::HasWaited => Some(format!(
            "nobody waits at {place} now; the longest wait there was for {name}"
        )),
        Requested::Taken => Some(format!(
            "nobody waits at {place} now; {name} was taken there"
        )),
    };
    Some((resource.link(), told))
}

/// The resource for which most calls wait there; if there is none, the one for which a call has
/// waited longest there, or that was taken there.
fn requested<'a>(
    row: &AwaitRow,
    resources: &'a [ResourceRow],
) -> Option<(Requested, &'a ResourceRow)> {
    let place = &row.place;
    let is_here =
        |at: &Spot| at.file == place.file && (place.line..=place.end_line).contains(&at.line);
    let was_here = |longest: &Option<LongestRow>| {
        let longest = longest.as_ref();
        let here = longest.filter(|longest| longest.at.as_ref().is_some_and(is_here));
        here.map_or(0, |longest| longest.took_ns.max(1))
    };
    let waiting = |row: &ResourceRow| {
        let waiters = row.waiters.iter().filter(|waiter| is_here(&waiter.at));
        waiters.count() as u64
    };
    let has_waited = |row: &ResourceRow| was_here(&row.longest_wait);
    let taken = |row: &ResourceRow| {
        let held = row.holders.iter().any(|holder| is_here(&holder.at));
        was_here(&row.longest_hold).max(u64::from(held))
    };
    let most = |rank: &dyn Fn(&ResourceRow) -> u64, how| {
        let ranked = resources.iter().map(|row| (rank(row), row));
        let (_, row) = ranked
            .filter(|(rank, _)| *rank > 0)
            .max_by_key(|(rank, _)| *rank)?;
        Some((how, row))
    };
    most(&waiting, Requested::Waited)
        .or_else(|| most(&has_waited, Requested::HasWaited))
        .or_else(|| most(&taken, Requested::Taken))
}
