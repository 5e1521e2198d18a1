//! The preview: its visibility, its requests and its links.

use turbowish_model::snapshot::ProcRow;

use super::alerts::{deadlock, long_poll};
use super::fixture::{alarmed, arrives, attached, kv, press, screen, tell, until};
use crate::tui::layout::{self, UsedLines};
use crate::tui::message::{Message, Mouse};
use crate::tui::preview;
use crate::tui::record::{Excerpt, crumbs};
use crate::tui::state::State;

const SIZE: (u16, u16) = (160, 40);

/// The title of the preview; empty if there is none.
fn title(state: &State) -> String {
    let screen = screen(state);
    let title = screen.lines().find(|line| line.starts_with("-- preview"));
    title.unwrap_or_default().trim_end_matches('-').to_owned()
}

#[test]
fn it_is_of_the_selected_row() {
    let check = |size, keys: &str, expected: &str| {
        let mut state = alarmed(size, vec![deadlock(), long_poll()]);
        press(&mut state, keys);
        assert_eq!(title(&state), expected, "after {keys:?}");
    };
    // It is there by itself where the rows leave room for it.
    check(SIZE, "", "-- preview: kv::conn::read_frame ");
    check(SIZE, "j", "-- preview: kv::conn::write_reply ");
    check(SIZE, "v", "");
    check(SIZE, "v v", "-- preview: kv::conn::read_frame ");
    check(SIZE, "2", "");
    check(SIZE, "2 v", "-- preview: repl-1 ");
    check(SIZE, "2 v 1", "-- preview: kv::conn::read_frame ");
    check(SIZE, "3 j", "-- preview: mpsc repl ");
    check(SIZE, "v 3 j", "");
    check(SIZE, "4 j", "-- preview: kv::snapshot::write ");
    check(SIZE, "5", "-- preview: deadlock ");
    check(SIZE, "2 v t", "-- preview: repl-1 ");
    check(SIZE, "2 v t j", "-- preview ");
    check(SIZE, "2 v / n o b o d y Enter", "-- preview ");
    // A record is told in full, and the preview is there again behind it.
    check(SIZE, "Enter", "");
    check(SIZE, "Enter H", "-- preview: kv::conn::read_frame ");
    for small in [(159, 40), (160, 39), (80, 24), (64, 9)] {
        check(small, "", "");
        check(small, "v", "");
    }
}

#[test]
fn without_room_it_says_how_much_it_needs() {
    let mut state = attached((120, 40));
    press(&mut state, "v");
    let told = "! the preview needs 160x40; this terminal has 120x40; Enter opens the record";
    assert_eq!(screen(&state).lines().nth(1), Some(told));
    // It was not switched on behind one's back.
    press(&mut state, "2");
    tell(&mut state, Message::Resize(SIZE.0, SIZE.1));
    assert_eq!(title(&state), "");
    press(&mut state, "v");
    tell(&mut state, Message::Resize(80, 24));
    assert_eq!(title(&state), "");
    tell(&mut state, Message::Resize(SIZE.0, SIZE.1));
    assert_eq!(title(&state), "-- preview: stats ");
}

#[test]
fn it_asks_for_what_a_record_tells() {
    let asked = |keys: &str| {
        let mut state = attached(SIZE);
        press(&mut state, keys);
        let query = state.wanted().watch.map(|(_, query)| query).unwrap();
        let limit = |rows: Option<turbowish_model::query::Rows>| rows.map(|rows| rows.limit);
        [query.procs, query.tasks, query.awaits, query.counters].map(limit)
    };
    assert_eq!(asked("v"), [Some(5_000), Some(200), Some(200), Some(200)]);
    let all = [Some(5_000), Some(1_000), Some(1_000), Some(1_000)];
    assert_eq!(asked(""), all);
    // Another row, or another word that is looked for, is no reason to ask anew.
    assert_eq!(asked("j j"), all);
    assert_eq!(asked("v v"), asked(""));
}

#[test]
fn its_source_is_that_of_its_row() {
    let mut state = attached(SIZE);
    press(&mut state, "j");
    let told = |state: &State| screen(state).contains("async fn told()");
    let excerpt = |state: &State| preview::record(state).and_then(|record| record.excerpt());
    let of_row: Excerpt = excerpt(&state).unwrap();
    let lines = vec!["  async fn told()".to_owned()];
    tell(&mut state, Message::Source(of_row.clone(), lines));
    assert!(told(&state), "{}", screen(&state));
    press(&mut state, "j");
    assert!(!told(&state) && excerpt(&state) != Some(of_row));
    press(&mut state, "k");
    assert!(told(&state));
}

#[test]
fn a_click_follows_its_links() {
    let clicked = |keys: &str, find: &str| {
        let mut state = alarmed(SIZE, vec![deadlock()]);
        press(&mut state, keys);
        let area = layout::of(&state).preview;
        let shown = screen(&state);
        let lines = shown.lines().enumerate().skip(usize::from(area.y) + 1);
        let (y, x) = lines
            .filter_map(|(y, line)| Some((y, line.find(find)?)))
            .next()
            .unwrap_or_else(|| panic!("{find} is not in\n{shown}"));
        let at = (u16::try_from(x).unwrap() + 1, u16::try_from(y).unwrap());
        tell(&mut state, Message::Mouse(Mouse::Click(at.0, at.1)));
        let words = crumbs(&state).into_iter().map(|(word, _)| word);
        words.collect::<Vec<_>>().join(" > ")
    };
    assert_eq!(clicked("2 v j", "mpsc repl"), "Tasks > mpsc repl");
    assert_eq!(clicked("2 v j", "polls 649k"), "Tasks > conn:51022");
    assert_eq!(
        clicked("", "kv::conn::serve"),
        "Functions > kv::conn::serve"
    );
    assert_eq!(
        clicked("j", "CALLED BY"),
        "Functions > kv::conn::write_reply"
    );
    assert_eq!(clicked("3 j", "conn:51022, ?"), "Resources > conn:51022");
}

/// A short table leaves its lines to the preview, and does not jump with every row.
#[test]
fn a_short_table_leaves_its_lines_to_it() {
    let mut state = attached(SIZE);
    let room = layout::screen(SIZE, Some(UsedLines::ALL)).table.height;
    let mut lines = |second: u64, count: usize| {
        let mut snapshot = kv();
        let rows = snapshot.procs.rows.iter().cycle().take(count).cloned();
        let renamed = rows.enumerate().map(|(n, row)| ProcRow {
            proc: format!("kv::p{n}"),
            ..row
        });
        snapshot.procs.rows = renamed.collect();
        until(&mut state, second);
        arrives(&mut state, snapshot);
        let screen = layout::of(&state);
        assert_eq!(screen.table.bottom(), screen.preview.y);
        assert_eq!(screen.preview.bottom(), screen.detail.y);
        screen.table.height
    };
    assert_eq!(lines(1, 5), 7);
    // One more needs a line; fewer leave it for a while.
    assert_eq!(lines(2, 6), 8);
    assert_eq!(lines(3, 3), 8);
    assert_eq!(lines(4, 1), 8);
    assert_eq!(lines(5, usize::from(room)), room);
    assert_eq!(lines(6, 5), 7);
}

/// A short record leaves its lines to a long table, which does not jump back with every row.
#[test]
fn a_short_record_leaves_its_lines_to_the_table() {
    let mut state = attached(SIZE);
    press(&mut state, "2 v");
    let room = layout::screen(SIZE, Some(UsedLines::ALL)).table.height;
    let heights = |state: &State| {
        let screen = layout::of(state);
        assert_eq!(screen.preview.bottom(), screen.detail.y);
        (screen.table.height, screen.preview.height)
    };
    let (table, preview) = heights(&state);
    assert!(table > room && preview > 2, "{table} {preview}");
    let shown = screen(&state);
    let last = shown
        .lines()
        .nth(usize::from(layout::of(&state).preview.bottom()) - 1);
    assert_ne!(
        last.unwrap_or_default().trim_matches(['|', ' ']),
        "",
        "{shown}"
    );
    press(&mut state, "j j j j");
    assert!(heights(&state).0 <= table);
    let longest = heights(&state);
    press(&mut state, "g");
    assert_eq!(heights(&state), longest);
}

/// Tasks come and go: the table must not jump with each of them.
#[test]
fn a_few_rows_more_do_not_hide_it() {
    let shown_with = |counts: &[usize]| {
        let mut state = attached(SIZE);
        for (second, count) in (1..).zip(counts) {
            let mut snapshot = kv();
            let row = snapshot.procs.rows[0].clone();
            let rows = (0..*count).map(|n| ProcRow {
                proc: format!("kv::p{n}"),
                ..row.clone()
            });
            snapshot.procs.rows = rows.collect();
            until(&mut state, second);
            arrives(&mut state, snapshot);
        }
        !title(&state).is_empty()
    };
    let room = usize::from(layout::screen(SIZE, Some(UsedLines::ALL)).table.height);
    // It was there before, with fewer rows.
    assert!(shown_with(&[room]));
    assert!(shown_with(&[room + 1]));
    assert!(!shown_with(&[room * 2]));
    assert!(!shown_with(&[room * 2, room + 1]));
    assert!(shown_with(&[room * 2, room]));
    assert!(!shown_with(&[0]));
}
