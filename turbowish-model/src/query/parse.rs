//! From a filter's text to its tree, by recursive descent; depth and length have limits.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::QueryError;
use super::filter::{Comparison, Node, Wanted};
use super::pattern::Pattern;
use crate::column::{self, Column, Row, Unit};
use crate::units;

/// Filters come from other processes too.
const MAX_BYTES: usize = 4_096;
const MAX_DEPTH: usize = 32;

/// Reads a whole filter.
pub(super) fn filter<R: Row>(text: &str) -> Result<Node<R>, QueryError> {
    let mut parser = Parser::<R> {
        rest: text.trim_start(),
        depth: 0,
        table: PhantomData,
    };
    if text.len() > MAX_BYTES {
        return parser.fail(format!("longer than {MAX_BYTES} bytes"));
    }
    if parser.rest.is_empty() {
        return Ok(Node::All(Vec::new()));
    }
    let node = parser.any()?;
    if parser.rest.is_empty() {
        Ok(node)
    } else {
        parser.fail("a ) without its (")
    }
}

/// Reads one comparison and nothing else: `hold_p99 < 10ms`.
pub(super) fn comparison_alone<R: Row>(
    text: &str,
) -> Result<(Column<R>, Comparison, u64), QueryError> {
    let text = text.trim();
    let (key, rest) = text.split_at(text.find(|c| !is_key_char(c)).unwrap_or(text.len()));
    let mut parser = Parser::<R> {
        rest,
        depth: 0,
        table: PhantomData,
    };
    parser.blanks();
    let Some((sign, number)) = comparison(parser.rest) else {
        return parser.fail("a column is compared with a number: < <= > >= =");
    };
    let node = parser.compare(key, sign, number.trim_start())?;
    match node {
        Node::Compare(column, sign, limit) if parser.rest.is_empty() => Ok((column, sign, limit)),
        _ => parser.fail(format!(
            "one number and its unit without a blank, and then nothing more, not {:?}",
            parser.rest.trim_start()
        )),
    }
}

struct Parser<'t, R> {
    rest: &'t str,
    depth: usize,
    table: PhantomData<fn() -> R>,
}

impl<'t, R: Row> Parser<'t, R> {
    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, QueryError> {
        Err(QueryError::filter::<R>(reason))
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// `and { "|" and }`
    fn any(&mut self) -> Result<Node<R>, QueryError> {
        let mut parts = alloc::vec![self.all()?];
        while self.eat("|") {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, Node::Any))
    }

    /// `{ [ "-" ] atom }`, at least one.
    fn all(&mut self) -> Result<Node<R>, QueryError> {
        let mut parts = Vec::new();
        loop {
            self.blanks();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')']) {
                break;
            }
            parts.push(self.negatable()?);
        }
        if parts.is_empty() {
            return self.fail("a word is missing beside | or inside ( )");
        }
        Ok(single_or(parts, Node::All))
    }

    fn negatable(&mut self) -> Result<Node<R>, QueryError> {
        if !self.eat("-") {
            return self.atom();
        }
        if self.rest.is_empty()
            || self
                .rest
                .starts_with(|c: char| c.is_whitespace() || "|)-".contains(c))
        {
            return self.fail("- (not) stands directly before a word, as in -conn");
        }
        Ok(Node::Not(Box::new(self.atom()?)))
    }

    fn atom(&mut self) -> Result<Node<R>, QueryError> {
        if self.eat("(") {
            return self.group();
        }
        if self.eat("/") {
            return self.regex();
        }
        let end = self
            .rest
            .find(|c: char| !is_key_char(c))
            .unwrap_or(self.rest.len());
        let (key, after) = self.rest.split_at(end);
        if key.starts_with(|c: char| c.is_ascii_lowercase()) {
            if let Some(value) = after.strip_prefix(':')
                && !value.starts_with(':')
            {
                return self.field(key, value);
            }
            if let Some((comparison, number)) = comparison(after)
                && (column::find::<R>(key).is_some()
                    || number.starts_with(|c: char| c.is_ascii_digit()))
            {
                return self.compare(key, comparison, number);
            }
        }
        let word = self.value(Commas::Text)?;
        match word {
            Wanted::Text(pattern) => Ok(Node::Word(pattern)),
            Wanted::Unknown => self.fail("? alone needs a field, as in size:?"),
        }
    }

    fn group(&mut self) -> Result<Node<R>, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!(
                "more than {MAX_DEPTH} parentheses inside each other"
            ));
        }
        let node = self.any()?;
        self.depth -= 1;
        if self.eat(")") {
            Ok(node)
        } else {
            self.fail("a ( without its )")
        }
    }

    /// Behind its first `/`; `\/` is the sign itself.
    fn regex(&mut self) -> Result<Node<R>, QueryError> {
        let mut escaped = false;
        let end = self.rest.find(|c: char| {
            let ends = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else {
            return self.fail("a / without its second one; a path goes in quotes");
        };
        let (text, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        if !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || "|)".contains(c)) {
            return self.fail("/regex/ ends at its second /; a path goes in quotes");
        }
        self.rest = rest;
        match Pattern::regex(text) {
            Ok(pattern) => Ok(Node::Word(pattern)),
            Err(reason) => self.fail(reason),
        }
    }

    /// `field ":" value { "," value }`
    fn field(&mut self, key: &'t str, value: &'t str) -> Result<Node<R>, QueryError> {
        let column = self.column(key)?;
        self.rest = value;
        let mut wanted = alloc::vec![self.value(Commas::Separate)?];
        while self.eat(",") {
            wanted.push(self.value(Commas::Separate)?);
        }
        Ok(Node::Field(column, wanted))
    }

    fn column(&self, key: &str) -> Result<Column<R>, QueryError> {
        column::find(key).ok_or_else(|| QueryError::unknown_field::<R>(key))
    }

    /// `field cmp number [ unit ]`
    fn compare(
        &mut self,
        key: &str,
        comparison: Comparison,
        text: &'t str,
    ) -> Result<Node<R>, QueryError> {
        let column = self.column(key)?;
        let word_end = |c: char| c.is_whitespace() || "|()".contains(c);
        let (number, rest) = text.split_at(text.find(word_end).unwrap_or(text.len()));
        let split = number
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(number.len());
        let (digits, unit) = number.split_at(split);
        self.rest = rest;
        if !column.unit.is_number() {
            return self.fail(format!("{key} is text; write {key}:WORD"));
        }
        if column.unit == Unit::Duration && unit.is_empty() {
            return self.fail(format!(
                "{key} is a duration and needs a unit: ns us ms s m h"
            ));
        }
        let Some(one) = scale(column.unit, unit) else {
            return self.fail(format!(
                "{key} takes no unit {unit}; {}",
                units_of(column.unit)
            ));
        };
        match units::scaled(digits, one) {
            Some(limit) => Ok(Node::Compare(column, comparison, limit)),
            None => self.fail(format!("{key} is compared with a number, not {number:?}")),
        }
    }

    /// A word, or text in quotes.
    fn value(&mut self, commas: Commas) -> Result<Wanted, QueryError> {
        if self.eat("\"") {
            let Some((text, rest)) = self.rest.split_once('"') else {
                return self.fail("a \" without its second one");
            };
            self.rest = rest;
            return Ok(Wanted::Text(Pattern::literal(text)));
        }
        let end = word_end(self.rest, commas);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => self.fail("a value is missing"),
            "?" => Ok(Wanted::Unknown),
            _ => Ok(Wanted::Text(Pattern::typed(word))),
        }
    }
}

fn single_or<R>(mut parts: Vec<Node<R>>, many: fn(Vec<Node<R>>) -> Node<R>) -> Node<R> {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.'
}

fn comparison(text: &str) -> Option<(Comparison, &str)> {
    // The longer ones first.
    [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::MoreOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::More),
        ("=", Comparison::Equal),
    ]
    .into_iter()
    .find_map(|(sign, comparison)| Some((comparison, text.strip_prefix(sign)?)))
}

/// What a comma is: part of a bare word, or what stands between the values of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commas {
    Text,
    Separate,
}

/// Where a word ends: at a blank, `|` or `)`, but not inside its own parentheses, so that
/// `self.db.lock()` is one word.
fn word_end(text: &str, commas: Commas) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' if closes(&text[at..]) => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => return at,
            '|' if depth == 0 => return at,
            ',' if depth == 0 && commas == Commas::Separate => return at,
            c if c.is_whitespace() && depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether the parenthesis at the beginning has its other half.
fn closes(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().any(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// How many of the column's own units one of `unit` is.
fn scale(column: Unit, unit: &str) -> Option<u64> {
    match column {
        Unit::Duration => units::duration_unit(unit),
        Unit::Share | Unit::Trend => matches!(unit, "" | "%").then_some(10_000_000),
        Unit::Rate => Some(thousands(unit.strip_suffix("/s").unwrap_or(unit))? * 1_000_000),
        Unit::Count => thousands(unit),
        Unit::Bytes => match unit {
            "" | "B" => Some(1),
            "KiB" => Some(1 << 10),
            "MiB" => Some(1 << 20),
            "GiB" => Some(1 << 30),
            _ => None,
        },
        Unit::Text | Unit::Place => None,
    }
}

fn thousands(unit: &str) -> Option<u64> {
    match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    }
}

const fn units_of(column: Unit) -> &'static str {
    match column {
        Unit::Duration => "it is a duration: ns us ms s m h",
        Unit::Share | Unit::Trend => "it is a share: %",
        Unit::Rate => "it is a rate: k M G, /s",
        Unit::Count => "it is a count: k M G",
        Unit::Bytes => "it is a size: KiB MiB GiB",
        Unit::Text | Unit::Place => "it is text",
    }
}
