//! The Markdown of the pages as text for a terminal: paragraphs, list items and tables are wrapped,
//! code is indented and stays as it is, headings are bold.

use crate::text::{left, width};

/// A terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageFormat {
    /// In columns.
    pub(super) width: usize,
    /// Whether it shows bold letters.
    pub(super) bold: bool,
}

/// Indentation of code, in columns.
const CODE: &str = "  ";
/// Blanks between the columns of a table.
const GAP: usize = 2;
/// A wider cell does not widen its column: the rest of its row is on the next line.
const WIDEST: usize = 32;
/// The last column of a table is at least so wide, whatever the terminal is.
const NARROWEST: usize = 20;

/// The text of a page.
pub(super) fn rendered(markdown: &str, format: &PageFormat) -> String {
    let mut page = Page {
        format,
        out: Vec::new(),
        block: Block::None,
    };
    for line in markdown.lines() {
        page.line(line);
    }
    page.end_block();
    page.out.join("\n") + "\n"
}

/// What the next line may continue.
enum Block {
    None,
    /// Text, and the indentation of its lines; the first one has a mark there if it is a list item.
    Text {
        first: &'static str,
        rest: &'static str,
        text: String,
    },
    /// Code, with the indentation of its fence.
    Code {
        indent: usize,
    },
    /// The cells of each row.
    Table(Vec<Vec<String>>),
}

struct Page<'a> {
    format: &'a PageFormat,
    out: Vec<String>,
    block: Block,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        if let Block::Code { indent } = self.block {
            if fence {
                self.block = Block::None;
            } else {
                let inner = line.get(indent..).unwrap_or(bare);
                let margin = " ".repeat(indent) + CODE;
                self.out
                    .push(format!("{margin}{inner}").trim_end().to_owned());
            }
        } else if fence {
            self.end_block();
            self.block = Block::Code {
                indent: line.len() - bare.len(),
            };
        } else if bare.is_empty() {
            self.end_block();
            self.out.push(String::new());
        } else if let Some(title) = heading(line) {
            self.end_block();
            let heading = self.bold(&inline(title, false));
            self.out.push(heading);
        } else if line.starts_with('|') {
            self.row(line);
        } else {
            self.text(line);
        }
    }

    /// A line of a paragraph or list item.
    fn text(&mut self, line: &str) {
        if let Some(item) = line.strip_prefix("- ") {
            self.end_block();
            self.block = Block::Text {
                first: "- ",
                rest: "  ",
                text: item.to_owned(),
            };
        } else if let Block::Text { text, .. } = &mut self.block {
            text.push(' ');
            text.push_str(line.trim());
        } else {
            self.end_block();
            // Behind code in a list item, the item goes on.
            let rest = if line.starts_with("  ") { "  " } else { "" };
            self.block = Block::Text {
                first: rest,
                rest,
                text: line.trim().to_owned(),
            };
        }
    }

    fn row(&mut self, line: &str) {
        let cells = line.trim().trim_matches('|').split('|');
        let cells: Vec<String> = cells.map(|cell| cell.trim().to_owned()).collect();
        let is_rule = cells.iter().all(|cell| cell.trim_matches('-').is_empty());
        match &mut self.block {
            Block::Table(_) if is_rule => {}
            Block::Table(rows) => rows.push(cells),
            _ => {
                self.end_block();
                self.block = Block::Table(vec![cells]);
            }
        }
    }

    fn end_block(&mut self) {
        match std::mem::replace(&mut self.block, Block::None) {
            Block::None | Block::Code { .. } => {}
            Block::Text { first, rest, text } => {
                let words = inline(&text, self.format.bold);
                self.wrap(first, rest, &words);
            }
            Block::Table(rows) => self.table(&rows),
        }
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        let rows = rows
            .iter()
            .map(|row| row.iter().map(|cell| inline(cell, false)));
        let rows: Vec<Vec<String>> = rows.map(Iterator::collect).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let needed = |at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let widths = cells
                .map(|cell| width(cell))
                .filter(|width| *width <= WIDEST);
            widths.max().unwrap_or(0) + GAP
        };
        let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(needed).collect();
        let indent = " ".repeat(widths.iter().sum());
        for (number, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths);
            let before: String = cells.map(|(cell, width)| left(cell, *width)).collect();
            let last = row.get(widths.len()).map_or("", String::as_str);
            let from = self.out.len();
            if width(&before) > indent.len() {
                self.out.push(before.trim_end().to_owned());
                self.wrap(&indent, &indent, last);
            } else {
                self.wrap(&before, &indent, last);
            }
            if number == 0 {
                let titles = self.out.split_off(from);
                let titles = titles.iter().map(|title| self.bold(title));
                let titles: Vec<String> = titles.collect();
                self.out.extend(titles);
            }
        }
    }

    /// Words behind `first`, on as many lines as they need; later lines begin with `rest`.
    fn wrap(&mut self, first: &str, rest: &str, words: &str) {
        let room = self.format.width.max(width(rest) + NARROWEST);
        let mut line = first.to_owned();
        let mut is_begin = true;
        for word in words.split_whitespace() {
            if !is_begin && shown(&line) + 1 + shown(word) > room {
                self.out.push(std::mem::replace(&mut line, rest.to_owned()));
                is_begin = true;
            }
            if !is_begin {
                line.push(' ');
            }
            line.push_str(word);
            is_begin = false;
        }
        self.out.push(line.trim_end().to_owned());
    }

    fn bold(&self, text: &str) -> String {
        match self.format.bold {
            true => format!("{BOLD}{text}{NOT_BOLD}"),
            false => text.to_owned(),
        }
    }
}

const BOLD: &str = "\x1b[1m";
const NOT_BOLD: &str = "\x1b[22m";

/// Width of a text in columns, without the switches of its letters.
fn shown(text: &str) -> usize {
    width(&text.replace(BOLD, "").replace(NOT_BOLD, ""))
}

/// A text without the marks of links and emphasis; code keeps its backquotes.
fn inline(text: &str, bold: bool) -> String {
    let mut out = String::new();
    let (mut is_bold, mut rest) = (false, text);
    while let Some(at) = rest.find(['`', '*', '[']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        rest = if let Some((code, behind)) = enclosed(from, "`", "`") {
            out.push_str(&format!("`{code}`"));
            behind
        } else if let Some(behind) = from.strip_prefix("**") {
            is_bold = !is_bold;
            out.push_str(match (bold, is_bold) {
                (false, _) => "",
                (true, true) => BOLD,
                (true, false) => NOT_BOLD,
            });
            behind
        } else if let Some((words, behind)) = emphasis(from) {
            out.push_str(words);
            behind
        } else if let Some((name, behind)) = link(from) {
            out.push_str(name);
            behind
        } else {
            out.push_str(&from[..1]);
            &from[1..]
        };
    }
    out + rest
}

/// What stands between two marks at the beginning, and what is behind them.
fn enclosed<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close)
}

/// The title, if the line is a heading.
fn heading(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches('#');
    let title = behind.strip_prefix(' ')?.trim();
    (behind.len() < line.len()).then_some(title)
}

/// Emphasized words at the beginning, and what is behind them.
fn emphasis(text: &str) -> Option<(&str, &str)> {
    enclosed(text, "*", "*").filter(|(words, _)| !words.starts_with(' '))
}

/// The name of a link at the beginning, and what is behind it.
fn link(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = enclosed(text, "[", "]")?;
    let (_, behind) = enclosed(behind, "(", ")")?;
    Some((name, behind))
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::pitfall::Pitfall;

    use super::super::page;
    use super::{PageFormat, inline, rendered, shown};

    fn check(markdown: &str, expected: &str) {
        let plain = PageFormat {
            width: 30,
            bold: false,
        };
        assert_eq!(rendered(markdown, &plain), expected);
    }

    #[test]
    fn text_is_wrapped() {
        check("# A title\n\nOne.\n", "A title\n\nOne.\n");
        check("Write\n#[instrument].\n", "Write #[instrument].\n");
        check(
            "Some words that go\non in the *next* line of the [page](a.md#b).\n",
            "Some words that go on in the\nnext line of the page.\n",
        );
        check(
            "- **An item**: which is longer than a line.\n- Another\n  one.\n\nEnd.\n",
            "- An item: which is longer\n  than a line.\n- Another one.\n\nEnd.\n",
        );
    }

    #[test]
    fn code_is_indented_and_stays() {
        check(
            "```text\n a  b `c` **d** and so on, longer than that\n\n```\n",
            "   a  b `c` **d** and so on, longer than that\n\n",
        );
        check(
            "- Write:\n\n  ```rust\n  f();\n      g();\n  ```\n  and run it.\n",
            "- Write:\n\n    f();\n        g();\n  and run it.\n",
        );
    }

    #[test]
    fn tables_have_columns() {
        check(
            "| limit | default | meaning |\n|---|---|---|\n| `clear` | 1s | What is gone, and for how long. |\n",
            "limit    default  meaning\n`clear`  1s       What is gone, and\n                  for how long.\n",
        );
    }

    #[test]
    fn a_wide_cell_has_a_line_of_its_own() {
        check(
            "| a | b |\n|---|---|\n| one | 1 |\n| a cell of more than thirty columns | 2 |\n",
            "a    b\none  1\na cell of more than thirty columns\n     2\n",
        );
    }

    #[test]
    fn headings_and_names_are_bold_where_letters_can_be() {
        let format = PageFormat {
            width: 30,
            bold: true,
        };
        assert_eq!(
            rendered("## A\n\n- **Two words**: more, and then some.\n", &format),
            "\x1b[1mA\x1b[22m\n\n- \x1b[1mTwo words\x1b[22m: more, and then\n  some.\n"
        );
    }

    #[test]
    fn signs_that_mark_nothing_stay() {
        for text in ["a * b * c", "a[0]", "`*x` and `[y](z)`", "2 ** 3`"] {
            let kept = text.replace("**", "");
            assert_eq!(inline(text, false), kept, "{text}");
        }
    }

    #[test]
    fn every_page_fits_except_for_its_code() {
        for pitfall in Pitfall::ALL {
            let text = rendered(
                page::of(*pitfall),
                &PageFormat {
                    width: 72,
                    bold: true,
                },
            );
            for line in text.lines().filter(|line| !line.starts_with("  ")) {
                assert!(shown(line) <= 72, "{line}");
            }
            assert!(!text.contains("](") && !text.contains("```"), "{text}");
        }
    }
}
