//! Saving of a snapshot: requested from the process in full, or the data at hand if the process
//! does not answer or the display is frozen.

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::json;
use turbowish_model::snapshot::{Process, Snapshot, Table};

use crate::tui::message::{Effect, File};
use crate::tui::state::{Phase, State};

/// Saves to the given file, or to one named after the process and the time.
pub(super) fn save(state: &mut State, file: Option<&str>) -> Option<Effect> {
    let file = file.map(str::to_owned);
    if state.shown.is_none() {
        state.notice = Some("there is nothing to save yet".to_owned());
        return None;
    }
    if matches!(state.phase(), Phase::Live | Phase::Past) && state.pending.frozen_ns.is_none() {
        state.notice = Some("requesting the whole snapshot".to_owned());
        let query = Box::new(whole(state.requested_window().0));
        return Some(Effect::Fetch { query, file });
    }
    let at_hand = at_hand(state)?;
    let tables = [
        Table::Procs,
        Table::Tasks,
        Table::Resources,
        Table::Awaits,
        Table::Alerts,
    ];
    Some(write(state, &at_hand, &tables, file))
}

/// The full snapshot has arrived, or the reason why not.
pub(super) fn fetched(
    state: &mut State,
    answer: Result<Box<Snapshot>, String>,
    file: Option<String>,
) -> Option<Effect> {
    match answer {
        Ok(snapshot) => Some(write(state, &snapshot, Table::ALL, file)),
        Err(reason) => {
            state.notice = Some(format!("not saved: {reason}"));
            None
        }
    }
}

fn whole(window_ns: Option<u64>) -> Query {
    let mut query = Query {
        window_ns,
        ..Query::default()
    };
    for table in Table::ALL {
        *query.rows_mut(*table) = Some(Rows::default());
    }
    query
}

/// The displayed data: the rows of all tables, as received.
fn at_hand(state: &State) -> Option<Snapshot> {
    let shown = state.shown.as_ref()?;
    Some(Snapshot {
        procs: state.tables.procs.page().clone(),
        tasks: state.tables.tasks.page().clone(),
        resources: state.tables.resources.page().clone(),
        awaits: state.tables.awaits.page().clone(),
        counters: state.tables.counters.page().clone(),
        ..shown.clone()
    })
}

fn write(state: &State, snapshot: &Snapshot, tables: &[Table], file: Option<String>) -> Effect {
    let numbered = file.is_none();
    let name = file_name(state, &snapshot.process, snapshot.at_unix_ns, "json");
    Effect::Write(Box::new(File {
        name: file.unwrap_or(name),
        numbered,
        text: json::document(snapshot, tables, &json::Options::default()),
    }))
}

/// `kv-4242-170431.tw`: the name of a file about a process at an instant.
pub(super) fn file_name(state: &State, process: &Process, at_unix_ns: u64, end: &str) -> String {
    let time = state.now.time_of_day(at_unix_ns).replace(':', "");
    format!("{}-{}-{time}.{end}", plain(&process.name), process.pid)
}

/// A file name that is valid in any folder: a process may have any name.
fn plain(name: &str) -> String {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = name
        .chars()
        .take(64)
        .map(|c| if good(c) { c } else { '_' })
        .collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "process".to_owned(),
        name => name.to_owned(),
    }
}
