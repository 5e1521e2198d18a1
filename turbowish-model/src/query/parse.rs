//! Parser of filters: recursive descent from text to tree, with limits on depth and length.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::QueryError;
use super::filter::{Comparison, FilterNode, Wanted};
use super::pattern::Pattern;
use super::words::{self, Commas, is_key_char};
use crate::snapshot::column::{self, Column, Row, Unit};
use crate::snapshot::units;

/// Maximum length of a filter in bytes: filters also come from other processes.
const MAX_BYTES: usize = 4_096;
const MAX_DEPTH: usize = 32;

/// Parses a whole filter.
pub(super) fn filter<R: Row>(text: &str) -> Result<FilterNode<R>, QueryError> {
    let mut parser = Parser::<R> {
        rest: text.trim_start(),
        depth: 0,
        table: PhantomData,
    };
    if text.len() > MAX_BYTES {
        return parser.fail(format!("longer than {MAX_BYTES} bytes"));
    }
    if parser.rest.is_empty() {
        return Ok(FilterNode::All(Vec::new()));
    }
    let node = parser.any()?;
    if parser.rest.is_empty() {
        Ok(node)
    } else {
        parser.fail("unmatched )")
    }
}

/// Parses a single comparison: `hold_p99 < 10ms`.
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
    let sign = words::comparison(parser.rest);
    let Some((sign, number)) = sign.filter(|(sign, _)| *sign != Comparison::NotEqual) else {
        return parser.fail("a column is compared with a number: < <= > >= =");
    };
    let column = parser.column(key)?;
    if !column.unit.is_number() {
        return parser.fail(is_text(key));
    }
    parser.rest = number;
    match parser.compare(column, sign)? {
        FilterNode::Compare(column, sign, limit) if parser.rest.is_empty() => {
            Ok((column, sign, limit))
        }
        _ => parser.fail(format!(
            "write one number and its unit, without a blank, not {:?}",
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

    /// `and { ( "|" | "||" ) and }`
    fn any(&mut self) -> Result<FilterNode<R>, QueryError> {
        let mut parts = alloc::vec![self.all()?];
        while self.eat("||") || self.eat("|") {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, FilterNode::Any))
    }

    /// `not { [ "&&" ] not }`
    fn all(&mut self) -> Result<FilterNode<R>, QueryError> {
        let mut parts = Vec::new();
        loop {
            self.blanks();
            let is_joined = self.eat("&&");
            self.blanks();
            if is_joined && (parts.is_empty() || self.is_at_end() || self.rest.starts_with("&&")) {
                return self.fail("a word is missing beside &&");
            }
            if self.is_at_end() {
                break;
            }
            parts.push(self.negatable()?);
        }
        if parts.is_empty() {
            return self.fail("a word is missing beside | or inside ( )");
        }
        Ok(single_or(parts, FilterNode::All))
    }

    /// Whether a conjunction ends here.
    fn is_at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(['|', ')'])
    }

    /// `{ "!" | "-" } atom`
    fn negatable(&mut self) -> Result<FilterNode<R>, QueryError> {
        let mut is_negated = false;
        loop {
            if !self.rest.starts_with("!=") && self.eat("!") {
                self.blanks();
                if self.is_at_end() || self.rest.starts_with("&&") {
                    return self.fail("! (not) stands before a word, as in !conn");
                }
            } else if self.eat("-") {
                let has_word = !self.is_at_end() && !self.rest.starts_with("&&");
                let is_apart = self
                    .rest
                    .starts_with(|c: char| c.is_whitespace() || c == '-');
                if !has_word || is_apart {
                    return self.fail("- (not) stands directly before a word, as in -conn");
                }
            } else {
                break;
            }
            is_negated = !is_negated;
        }
        let atom = self.atom()?;
        Ok(if is_negated { not(atom) } else { atom })
    }

    fn atom(&mut self) -> Result<FilterNode<R>, QueryError> {
        if self.eat("(") {
            return self.group();
        }
        if self.eat("/") {
            return self.regex();
        }
        if let Some(node) = self.of_column()? {
            return Ok(node);
        }
        if let Some((_, after)) = words::comparison(self.rest) {
            let sign = &self.rest[..self.rest.len() - after.len()];
            return self.fail(format!(
                "write a column before {sign}, as in size{sign}1KiB; put a text with {sign} in quotes"
            ));
        }
        let word = self.value(Commas::Text)?;
        match word {
            Wanted::Text(pattern) | Wanted::Whole(pattern) => Ok(FilterNode::Word(pattern)),
            Wanted::Unknown => self.fail("? alone needs a field, as in size:?"),
        }
    }

    /// Parses a column and what is wanted of it: `state:waiting`, `RUN% > 10`. `None` if a bare
    /// word stands here.
    fn of_column(&mut self) -> Result<Option<FilterNode<R>>, QueryError> {
        let is_key = |c: char| is_key_char(c.to_ascii_lowercase());
        let end = self.rest.find(|c| !is_key(c)).unwrap_or(self.rest.len());
        let (key, after) = self.rest.split_at(end);
        let is_asked = |length: usize| {
            let after = self.rest[length..].trim_start();
            is_colon(after) || words::comparison(after).is_some()
        };
        let keyed = |key: &str| Some((column::find::<R>(key)?, end)).filter(|_| is_asked(end));
        let titled = || column::titled::<R>(self.rest).filter(|(_, length)| is_asked(*length));
        let named = keyed(key).or_else(titled);
        if let Some((column, length)) = named.or_else(|| keyed(&key.to_ascii_lowercase())) {
            return self.behind(column, &self.rest[length..]).map(Some);
        }
        let is_number = |(_, number): (Comparison, &str)| {
            let number = number.trim_start();
            number.is_empty() || number.starts_with(|c: char| c.is_ascii_digit())
        };
        let is_compared = words::comparison(after.trim_start()).is_some_and(is_number);
        let is_key =
            key.starts_with(|c: char| c.is_ascii_lowercase()) && key.chars().all(is_key_char);
        if is_key && (is_colon(after) || is_compared) {
            return Err(QueryError::unknown_field::<R>(key));
        }
        Ok(None)
    }

    /// Parses what follows the name of a column.
    fn behind(&mut self, column: Column<R>, text: &'t str) -> Result<FilterNode<R>, QueryError> {
        self.rest = text.trim_start();
        if self.eat(":") {
            let wanted = self.values(Wanted::Text)?;
            return Ok(FilterNode::Field(column, wanted));
        }
        let Some((comparison, number)) = words::comparison(self.rest) else {
            return self.fail("a value is missing");
        };
        self.rest = number;
        match comparison {
            _ if column.unit.is_number() => self.compare(column, comparison),
            Comparison::Equal => Ok(FilterNode::Field(column, self.values(Wanted::Whole)?)),
            Comparison::NotEqual => Ok(not(FilterNode::Field(column, self.values(Wanted::Whole)?))),
            _ => self.fail(is_text(&column.key)),
        }
    }

    fn group(&mut self) -> Result<FilterNode<R>, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("more than {MAX_DEPTH} nested parentheses"));
        }
        let node = self.any()?;
        self.depth -= 1;
        if self.eat(")") {
            Ok(node)
        } else {
            self.fail("unmatched (")
        }
    }

    /// Parses a regular expression after its first `/`; `\/` stands for `/`.
    fn regex(&mut self) -> Result<FilterNode<R>, QueryError> {
        let mut escaped = false;
        let end = self.rest.find(|c: char| {
            let ends = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else {
            return self.fail("unmatched /; put a path in quotes");
        };
        let (text, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        let is_end = |c: char| c.is_whitespace() || "|)".contains(c);
        if !rest.is_empty() && !rest.starts_with("&&") && !rest.starts_with(is_end) {
            return self.fail("/regex/ ends at its second /; put a path in quotes");
        }
        self.rest = rest;
        match Pattern::regex(text) {
            Ok(pattern) => Ok(FilterNode::Word(pattern)),
            Err(reason) => self.fail(reason),
        }
    }

    /// `value { "," value }`
    fn values(&mut self, wanted: fn(Pattern) -> Wanted) -> Result<Vec<Wanted>, QueryError> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            all.push(match self.value(Commas::Separate)? {
                Wanted::Text(pattern) => wanted(pattern),
                other => other,
            });
            if !self.eat(",") {
                return Ok(all);
            }
        }
    }

    fn column(&self, key: &str) -> Result<Column<R>, QueryError> {
        column::find(key).ok_or_else(|| QueryError::unknown_field::<R>(key))
    }

    /// `number [ unit ]`, after the operator.
    fn compare(
        &mut self,
        column: Column<R>,
        comparison: Comparison,
    ) -> Result<FilterNode<R>, QueryError> {
        self.blanks();
        let key = &*column.key;
        let (number, rest) = self.rest.split_at(words::number_end(self.rest));
        let split = number
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(number.len());
        let (digits, mut unit) = number.split_at(split);
        self.rest = rest;
        if unit.is_empty() && !digits.is_empty() {
            unit = self.unit_apart(column.unit);
        }
        if column.unit == Unit::Duration && unit.is_empty() && !digits.is_empty() {
            return self.fail(format!(
                "{key} is a duration and needs a unit: ns us ms s m h"
            ));
        }
        let scale = words::scale(column.unit, unit).or(digits.is_empty().then_some(1));
        let Some(one) = scale.filter(|_| unit.is_empty() || !digits.is_empty()) else {
            return self.fail(format!(
                "{key} takes no unit {unit}; {}",
                words::units_of(column.unit)
            ));
        };
        match units::scaled(digits, one) {
            Some(limit) => Ok(FilterNode::Compare(column, comparison, limit)),
            None => self.fail(format!("{key} is compared with a number, not {number:?}")),
        }
    }

    /// Parses a unit after a space, where it is unambiguous: `5 ms`, `10 %`.
    fn unit_apart(&mut self, column: Unit) -> &'t str {
        let text = self.rest.trim_start();
        let (word, rest) = text.split_at(words::number_end(text));
        let is_unit = match column {
            Unit::Duration => words::scale(column, word).is_some(),
            _ => word == "%" && words::scale(column, word).is_some(),
        };
        if !is_unit {
            return "";
        }
        self.rest = rest;
        word
    }

    /// Parses a word, or text in quotes.
    fn value(&mut self, commas: Commas) -> Result<Wanted, QueryError> {
        if self.eat("\"") {
            let Some((text, rest)) = self.rest.split_once('"') else {
                return self.fail("unmatched \"");
            };
            self.rest = rest;
            return Ok(Wanted::Text(Pattern::literal(text)));
        }
        let end = words::word_end(self.rest, commas);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => self.fail("a value is missing"),
            "?" => Ok(Wanted::Unknown),
            _ => Ok(Wanted::Text(Pattern::typed(word))),
        }
    }
}

fn single_or<R>(
    mut parts: Vec<FilterNode<R>>,
    many: fn(Vec<FilterNode<R>>) -> FilterNode<R>,
) -> FilterNode<R> {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}

fn not<R>(node: FilterNode<R>) -> FilterNode<R> {
    FilterNode::Not(Box::new(node))
}

fn is_text(key: &str) -> String {
    format!("{key} is text; write {key}:WORD")
}

/// Whether the text begins with the colon before a value; `::` is part of a path.
fn is_colon(text: &str) -> bool {
    text.starts_with(':') && !text.starts_with("::")
}
