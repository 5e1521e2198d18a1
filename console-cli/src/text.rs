//! Fitting of text from the process to its column; a cut is marked with two dots.

use std::borrow::Cow;

use ratatui::text::{Line, Span};
use turbowish_model::snapshot::sanitize;
use turbowish_model::snapshot::units::Micro;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width of a text on the terminal, in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text in at most `room` columns. Of a path the leading segments go first and the last ones stay
/// as long as they fit; a name keeps the line or the number at its end, and a call its function;
/// other words lose their end.
pub(crate) fn fit(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    // An expression may hold `::` too, and blanks or brackets besides.
    if text.contains("::") && !text.contains([' ', '(', '{']) {
        return fit_path(text, "::", room);
    }
    let kept = fit_place(text, room).or_else(|| fit_call(text, room));
    let kept = kept.or_else(|| fit_number(text, room));
    kept.unwrap_or_else(|| head(text, room))
}

/// `watch_..-1876`: the name of a task keeps its number, which tells it from others.
fn fit_number(text: &str, room: usize) -> Option<String> {
    let (word, number) = text.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || word.contains(' ') {
        return None;
    }
    let left = room
        .checked_sub(width(number) + 1)
        .filter(|left| *left > 0)?;
    match left >= 2 + TELLING {
        true => Some(format!("{}-{number}", head(word, left))),
        false => Some(tail(text, room)),
    }
}

/// `handle-231, handle-236 +2`: whole names, as many as fit, and how many more there are, of which
/// `unlisted` are not among the names.
pub(crate) fn fit_names(names: &[Cow<'_, str>], unlisted: u64, room: usize) -> String {
    let more = |shown: usize| match unlisted.saturating_add((names.len() - shown) as u64) {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    let whole = |shown: usize| names[..shown].join(", ") + &more(shown);
    let fits = |shown: &usize| width(&whole(*shown)) <= room;
    if let Some(shown) = (1..=names.len()).rev().find(fits) {
        return whole(shown);
    }
    let Some(first) = names.first() else {
        return String::new();
    };
    let more = more(1);
    fit(first, room.saturating_sub(width(&more))) + &more
}

/// `noti..shop.rs:36`: the name of a resource that is its kind and its place, and keeps its line.
fn fit_place(text: &str, room: usize) -> Option<String> {
    let (kind, place) = text.rsplit_once(' ')?;
    let (_, line) = place.rsplit_once(':')?;
    let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    if !is_line || kind.contains(',') {
        return None;
    }
    let left = room.checked_sub(width(place))?;
    match left >= 2 + TELLING {
        true => Some(head(&format!("{kind} "), left) + place),
        false => Some(tail(text, room)),
    }
}

/// `sleep(Duration::fro..)`, `..pool.acquire()`: a call loses letters of its arguments, then the
/// beginning of the path to its function.
fn fit_call(text: &str, room: usize) -> Option<String> {
    let mut depth = 0;
    let open = text.rfind(|letter| {
        depth += match letter {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let (function, arguments) = text.split_at(open);
    let arguments = arguments.strip_prefix('(')?.strip_suffix(')')?;
    if arguments.is_empty() {
        let (_, name) = function.rsplit_once('.')?;
        return (width(name) + 5 <= room).then(|| tail(text, room));
    }
    let left = room.checked_sub(width(function) + 2)?;
    (left >= 2).then(|| format!("{function}({})", head(arguments, left)))
}

/// A sentence in at most `room` columns: if it is longer, the paths in it lose their beginning
/// first, so that the numbers behind them stay.
pub(crate) fn fit_sentence(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let short = |word: &str| match word.rsplit_once("::") {
        Some((path, name)) if !path.contains(['(', '<']) => format!("..{name}"),
        _ => word.to_owned(),
    };
    let words: String = text.split_inclusive(' ').map(short).collect();
    head(&words, room)
}

/// Letters of a segment that still tell which one it is.
const TELLING: usize = 3;

/// A path in at most `room` columns: whole segments go from its beginning until two are left, which
/// lose letters as long as the first of them is recognizable; else only the last one stays.
pub(crate) fn fit_path(text: &str, separator: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    // Each separator takes a column: none before the last `room` ones is visible, however many
    // there are.
    let beyond = text.rmatch_indices(separator).nth(room);
    let mut rest = beyond.map_or(text, |(at, _)| &text[at + separator.len()..]);
    while let Some((_, shorter)) = rest.split_once(separator) {
        let last_two = !shorter.contains(separator);
        if last_two && 2 + TELLING + separator.len() + width(shorter) <= room {
            return tail(text, room);
        }
        rest = shorter;
        if width(rest) + 2 <= room {
            return format!("..{rest}");
        }
    }
    tail(rest, room)
}

/// The beginning of a text, followed by two dots if it is cut.
pub(crate) fn head(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room_left = room.saturating_sub(2);
    let (mut kept, mut used) = (0, 0);
    for (at, letter) in text.char_indices() {
        used += letter.width().unwrap_or(0);
        if used > room_left {
            break;
        }
        kept = at + letter.len_utf8();
    }
    text[..kept].to_owned() + &".."[..room.min(2)]
}

/// Two dots, and the end of a text.
pub(crate) fn tail(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room_left = room.saturating_sub(2);
    let (mut from, mut used) = (text.len(), 0);
    for (at, letter) in text.char_indices().rev() {
        used += letter.width().unwrap_or(0);
        if used > room_left {
            break;
        }
        from = at;
    }
    format!("{}{}", &".."[..room.min(2)], &text[from..])
}

/// A text padded on its right.
pub(crate) fn left(text: &str, room: usize) -> String {
    format!("{text}{}", " ".repeat(room.saturating_sub(width(text))))
}

/// A text padded on its left.
pub(crate) fn right(text: &str, room: usize) -> String {
    format!("{}{text}", " ".repeat(room.saturating_sub(width(text))))
}

/// Lines for printing: each stays one line, whatever the names in it contain.
pub(crate) fn printed(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| sanitize::line(line)).collect();
    lines.join("\n")
}

/// A text from the process with this terminal's spelling of microseconds: `10.0µs` becomes `10.0us`
/// where there is only ASCII.
pub(crate) fn with_micro(text: &str, micro: Micro) -> String {
    let (other, ours) = match micro {
        Micro::Ascii => ("µs", "us"),
        Micro::Unicode => ("us", "µs"),
    };
    let is_time = |word: &str| {
        let digits = word.trim_start_matches('(');
        let (number, rest) = digits.split_at(digits.find(other).unwrap_or(digits.len()));
        let number_only = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let ends = rest
            .strip_prefix(other)
            .is_some_and(|end| !end.starts_with(char::is_alphanumeric));
        number_only && ends && number.starts_with(|c: char| c.is_ascii_digit())
    };
    let words = text.split_inclusive(' ');
    let shown = words.map(|word| match is_time(word) {
        true => word.replacen(other, ours, 1),
        false => word.to_owned(),
    });
    shown.collect()
}

/// Wraps words at `room` columns; each line begins with a blank.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ if text.is_empty() => {}
            _ => lines.push(format!(" {word}")),
        }
    }
    lines
}

/// The common part of names that differ only in a number at their end; `None` for a single name and
/// for other names.
pub(crate) fn stem<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut stems = names.map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()));
    let first = stems.next().filter(|stem| !stem.is_empty())?;
    stems.all(|stem| stem == first).then_some(first)
}

/// Two lines joined into one: the second ends one column before the end of `room`, and is omitted
/// if it does not fit.
pub(crate) fn apart<'a>(mut begin: Line<'a>, end: Line<'a>, room: usize) -> Line<'a> {
    let used = begin.width() + end.width() + 1;
    if used < room {
        begin.push_span(Span::raw(" ".repeat(room - used)));
        begin.spans.extend(end.spans);
    }
    begin
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::units::Micro;

    use std::borrow::Cow;

    use super::{fit, fit_names, fit_path, fit_sentence, tail, with_micro};

    #[test]
    fn names_are_whole_as_long_as_one_fits() {
        let check = |names: &[&str], room, expected: &str| {
            let names: Vec<_> = names.iter().map(|name| Cow::Borrowed(*name)).collect();
            assert_eq!(fit_names(&names, 0, room), expected);
        };
        check(&["handle-23110", "b", "c"], 18, "handle-23110, b, c");
        check(&["handle-23110", "b", "c"], 17, "handle-23110 +2");
        check(&["handle-23110", "b", "c"], 10, "..23110 +2");
        check(&["handle-23110"], 10, "..le-23110");
        check(&[], 10, "");
        let first = [Cow::Borrowed("a"), Cow::Borrowed("b")];
        assert_eq!(fit_names(&first, 399, 6), "a +400");
        assert_eq!(fit_names(&first, 399, 9), "a, b +399");
    }

    #[test]
    fn microseconds_of_sentences_are_those_of_the_screen() {
        let check = |text: &str, expected| assert_eq!(with_micro(text, Micro::Unicode), expected);
        check("", "");
        check(
            "spins: 1.20us a poll, 999us+ now",
            "spins: 1.20µs a poll, 999µs+ now",
        );
        check("(10us) 5us, us 7ms", "(10µs) 5µs, us 7ms");
        check("status-1us 12users .us", "status-1us 12users .us");
        assert_eq!(
            with_micro("spins (10µs): 1.20µs, 5us µs", Micro::Ascii),
            "spins (10us): 1.20us, 5us µs"
        );
    }

    #[test]
    fn paths_keep_their_end_and_words_their_beginning() {
        let check =
            |text, room, expected| assert_eq!(fit(text, room), expected, "{text} in {room}");
        check("kv::conn::read_frame", 20, "kv::conn::read_frame");
        check("kv::conn::read_frame", 19, "..conn::read_frame");
        check("kv::conn::read_frame", 17, "..onn::read_frame");
        check("kv::conn::read_frame", 16, "..read_frame");
        check("Server::run-1", 12, "..ver::run-1");
        check("kv::conn::read_frame", 8, ".._frame");
        check("self.db.lock()", 10, "..b.lock()");
        check("self.db.lock()", 8, "self.d..");
        check("command::apply(x)", 10, "command:..");
        check(
            "sleep(Duration::from_millis(5))",
            22,
            "sleep(Duration::fro..)",
        );
        check("shop.database.acquire()", 22, "..p.database.acquire()");
        check("notify shop.rs:36", 16, "noti..shop.rs:36");
        check("semaphore shop.rs:34", 16, "sema..shop.rs:34");
        check("mutex shop.rs:35", 12, "..shop.rs:35");
        check("watch_price-1876", 13, "watch_..-1876");
        check("watch_price-1876", 9, "..ce-1876");
        check("watch_price-1876", 6, "..1876");
        check("watch_price-1876", 5, "wat..");
        check("watch_price-1876", 4, "wa..");
        check("read-only mode", 8, "read-o..");
        check(
            "w1, reindex-1, mutex shop.rs:35",
            27,
            "w1, reindex-1, mutex shop..",
        );
        check("größer::als", 6, "..als");
        check("日本語", 5, "日..");
        check("abc", 1, ".");
        check("abc", 0, "");
        let sentence = "blocked worker w1 1.50 s: shop::upkeep::rebuild in one poll";
        assert_eq!(fit_sentence(sentence, 80), sentence);
        assert_eq!(
            fit_sentence(sentence, 55),
            "blocked worker w1 1.50 s: ..rebuild in one poll"
        );
        let place = fit_path("examples/kv/src/conn.rs:111", "/", 24);
        assert_eq!(place, "..kv/src/conn.rs:111");
        assert_eq!(tail("src/conn.rs:88", 10), "..nn.rs:88");
        assert_eq!(fit(&"a::".repeat(50_000), 9), "..a::a::");
    }
}
