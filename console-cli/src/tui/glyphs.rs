//! Glyph sets. They change glyphs, never the layout: every glyph is one column wide.

use turbowish_model::snapshot::column::{ASCII_LEVELS, Levels};
use turbowish_model::snapshot::units::Micro;

/// The characters for bars, marks and borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlyphSet {
    /// ASCII characters only.
    Ascii,
    /// Block elements and box drawing.
    Unicode,
}

impl GlyphSet {
    /// The set that a terminal supports, from its environment: ASCII on the Linux console and where
    /// the locale is not UTF-8.
    pub(crate) fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        if variable("TERM").is_some_and(|term| term == "linux" || term == "dumb") {
            return Self::Ascii;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| variable(name).filter(|value| !value.is_empty()))
            .unwrap_or_default()
            .to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    /// The characters of this set.
    pub(crate) const fn glyphs(self) -> &'static Glyphs {
        match self {
            Self::Ascii => &ASCII,
            Self::Unicode => &UNICODE,
        }
    }
}

/// The characters of one set.
#[derive(Debug)]
pub(crate) struct Glyphs {
    /// A full cell of a bar.
    full: char,
    /// Cells filled by 1/8 to 7/8; without them a bar is rounded to whole cells.
    eighths: Option<[char; 7]>,
    /// A value too small for its bar.
    trace: char,
    /// Empty to full, for one cell that stands for a whole bar.
    pub(crate) levels: Levels,
    /// In place of one of these, for a value that is not known.
    pub(crate) unknown: char,
    /// After the title of the column that the rows are sorted by, largest first.
    pub(crate) sorted_down: char,
    /// The same, smallest first.
    pub(crate) sorted_up: char,
    /// Before the selected row.
    pub(crate) selection: char,
    /// The spelling of microseconds.
    pub(crate) micro: Micro,
    /// Corner, horizontal and vertical line of a frame: top left, top right, bottom left, bottom
    /// right.
    pub(crate) corners: [char; 4],
    /// Horizontal line of a frame.
    pub(crate) horizontal: char,
    /// Vertical line of a frame.
    pub(crate) vertical: char,
}

static ASCII: Glyphs = Glyphs {
    full: '#',
    eighths: None,
    trace: '.',
    levels: ASCII_LEVELS,
    unknown: '?',
    sorted_down: 'v',
    sorted_up: '^',
    selection: '>',
    micro: Micro::Ascii,
    corners: ['+', '+', '+', '+'],
    horizontal: '-',
    vertical: '|',
};

static UNICODE: Glyphs = Glyphs {
    full: '█',
    eighths: Some(['▏', '▎', '▍', '▌', '▋', '▊', '▉']),
    trace: '▏',
    levels: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '█'],
    unknown: '·',
    sorted_down: '▼',
    sorted_up: '▲',
    selection: '▌',
    micro: Micro::Unicode,
    corners: ['┌', '┐', '└', '┘'],
    horizontal: '─',
    vertical: '│',
};

impl Glyphs {
    /// A bar of `width` cells, full at 1,000,000 `ppm`: blank for zero, a trace for a value too
    /// small to fill a cell, and `+` in the last cell above full. Trailing blanks are kept.
    pub(crate) fn bar(&self, ppm: u64, width: usize) -> String {
        const FULL: u64 = 1_000_000;
        if width == 0 || ppm == 0 {
            return " ".repeat(width);
        }
        let cells = width as u64;
        let mut bar = String::with_capacity(width * 3);
        if ppm > FULL {
            bar.extend(std::iter::repeat_n(self.full, width - 1));
            bar.push('+');
            return bar;
        }
        match self.eighths {
            None => {
                let filled = (ppm * cells + FULL / 2) / FULL;
                bar.extend(std::iter::repeat_n(self.full, filled as usize));
            }
            Some(eighths) => {
                let filled = (ppm * cells * 8 + FULL / 2) / FULL;
                bar.extend(std::iter::repeat_n(self.full, (filled / 8) as usize));
                if let Some(part) = (filled % 8).checked_sub(1) {
                    bar.push(eighths[part as usize]);
                }
            }
        }
        if bar.is_empty() {
            bar.push(self.trace);
        }
        let used = bar.chars().count();
        bar.extend(std::iter::repeat_n(' ', width - used));
        bar
    }

    /// One glyph for a share of one core: blank for zero, `+` above full.
    pub(crate) fn level(&self, ppm: u64) -> char {
        match ppm {
            0 => self.levels[0],
            1..=1_000_000 => self.levels[(1 + ppm * 6 / 1_000_000) as usize],
            _ => '+',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_round_keep_their_width_and_mark_traces_and_overflow() {
        let cases = [
            (GlyphSet::Ascii, 612_000, 7, "####   "),
            (GlyphSet::Ascii, 524_000, 7, "####   "),
            (GlyphSet::Ascii, 4_000, 7, ".      "),
            (GlyphSet::Ascii, 0, 7, "       "),
            (GlyphSet::Ascii, 964_000, 8, "########"),
            (GlyphSet::Ascii, 83_000, 8, "#       "),
            (GlyphSet::Ascii, 44_000, 8, ".       "),
            (GlyphSet::Ascii, 2_131_000, 8, "#######+"),
            (GlyphSet::Ascii, 1_000_000, 4, "####"),
            (GlyphSet::Unicode, 500_000, 1, "▌"),
            (GlyphSet::Unicode, 964_000, 8, "███████▊"),
            (GlyphSet::Unicode, 1, 3, "▏  "),
            (GlyphSet::Unicode, 1_000_001, 3, "██+"),
        ];
        for (set, ppm, width, expected) in cases {
            assert_eq!(
                set.glyphs().bar(ppm, width),
                expected,
                "{set:?} {ppm} in {width}"
            );
        }
    }

    #[test]
    fn the_locale_and_the_terminal_choose_the_set() {
        let check = |variables: &[(&str, &str)], expected| {
            let found = GlyphSet::of_environment(|name| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(found, expected, "{variables:?}");
        };
        check(
            &[("LANG", "en_GB.UTF-8"), ("TERM", "xterm-256color")],
            GlyphSet::Unicode,
        );
        check(&[("LANG", "C.utf8")], GlyphSet::Unicode);
        check(
            &[("LANG", "en_GB.UTF-8"), ("TERM", "linux")],
            GlyphSet::Ascii,
        );
        check(&[("LANG", "en_GB.UTF-8"), ("LC_ALL", "C")], GlyphSet::Ascii);
        check(
            &[("LANG", "en_GB.UTF-8"), ("LC_ALL", "")],
            GlyphSet::Unicode,
        );
        check(&[], GlyphSet::Ascii);
    }
}
