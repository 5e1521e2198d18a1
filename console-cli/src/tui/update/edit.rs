//! The source location of the selection: of a row, or of a line or link of a record.

use turbowish_model::snapshot::Spot;

use crate::detail::rich_line::{Link, RichLine};
use crate::tui::message::Effect;
use crate::tui::record;
use crate::tui::rows::Entry;
use crate::tui::state::State;

/// Opens the location in the user's editor.
pub(super) fn open(state: &mut State) -> Option<Effect> {
    let spots = spots(state);
    if spots.is_empty() {
        state.notice = Some("the source location is unknown".to_owned());
        return None;
    }
    Some(Effect::Edit(spots))
}

/// Candidate locations, the best first.
fn spots(state: &State) -> Vec<Spot> {
    let Some(open) = &state.record else {
        let table = state.table();
        let spot = table.selected().and_then(|row| table.spot(row));
        return spot.into_iter().collect();
    };
    let lines = record::lines(state);
    let links = record::links(&lines);
    let selected = links.get(open.link.min(links.len().saturating_sub(1)));
    let mut spots = Vec::new();
    if let Some(&(line, part, link)) = selected {
        // The location after the link on its line is more specific than the target of the link.
        let near = in_line(&lines[line], part);
        spots.extend(near.and_then(|spot| whole(state, spot)));
        spots.extend(of_link(state, link));
    }
    spots.extend(of_link(state, &open.subject));
    spots
}

/// The location that a line contains after one of its pieces, else before.
fn in_line(line: &RichLine, part: usize) -> Option<Spot> {
    let of = |parts: &[crate::detail::rich_line::RichSpan]| {
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        let mut words = text.split([' ', ',', '(', ')']);
        words.find_map(spot)
    };
    let (before, behind) = line.parts.split_at(part);
    of(behind).or_else(|| of(before))
}

/// The location with its folders: if there is little room, a line contains only the name of the
/// file.
fn whole(state: &State, spot: Spot) -> Option<Spot> {
    if spot.file.contains('/') {
        return Some(spot);
    }
    let beside = state.beside();
    let calls = beside.tasks.iter().flat_map(|row| &row.stack);
    let places = calls.filter_map(|call| Some(call.place.as_ref()?.file.as_str()));
    let procs = state
        .tables
        .procs
        .rows()
        .iter()
        .map(|row| row.file.as_str());
    let made = beside.resources.iter().map(|row| row.made_at.file.as_str());
    let named = |file: &&str| file.rsplit('/').next() == Some(&spot.file);
    let mut files = places.chain(procs).chain(made).filter(named);
    let file = files.next()?.to_owned();
    // Two files of that name would be ambiguous.
    let only = files.all(|other| other == file);
    only.then_some(Spot { file, ..spot })
}

/// Parses `src/conn.rs:88:9-33`, with or without columns.
fn spot(word: &str) -> Option<Spot> {
    let mut pieces = word.split(':');
    let file = pieces.next().filter(|file| file.ends_with(".rs"))?;
    let line = pieces.next()?.parse().ok()?;
    let column = pieces.next().and_then(|columns| {
        let first = columns.split('-').next()?;
        first.parse().ok()
    });
    Some(Spot {
        file: file.to_owned(),
        line,
        column: column.unwrap_or(1),
    })
}

/// The source location of a record's row.
fn of_link(state: &State, link: &Link) -> Option<Spot> {
    let mut found = record::Record::new(link.clone());
    found.find(&state.beside());
    match &found.kept {
        record::RecordRow::Nothing => {
            let open = state.record.as_ref().filter(|open| open.subject == *link)?;
            of_kept(&open.kept)
        }
        kept => of_kept(kept),
    }
}

fn of_kept(kept: &record::RecordRow) -> Option<Spot> {
    match kept {
        record::RecordRow::Nothing => None,
        record::RecordRow::Alert(row) => row.spot(),
        record::RecordRow::Proc(row) => row.spot(),
        record::RecordRow::Task(row) => row.spot(),
        record::RecordRow::Resource(row) => row.spot(),
    }
}

#[cfg(test)]
mod tests {
    use super::spot;

    #[test]
    fn places_are_read_as_they_are_written() {
        let check = |word: &str, expected: Option<(&str, u32, u32)>| {
            let found = spot(word).map(|spot| (spot.file, spot.line, spot.column));
            let expected = expected.map(|(file, line, column)| (file.to_owned(), line, column));
            assert_eq!(found, expected, "{word}");
        };
        check("src/conn.rs:88:9-33", Some(("src/conn.rs", 88, 9)));
        check("src/conn.rs:88:9-91:4", Some(("src/conn.rs", 88, 9)));
        check("conn.rs:88", Some(("conn.rs", 88, 1)));
        check("kv::conn::serve", None);
        check("src/conn.rs", None);
        check("main.rs:x", None);
        check("conn:51022", None);
    }
}
