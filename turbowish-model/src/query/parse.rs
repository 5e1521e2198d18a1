//! Parser of filters: recursive descent from text to tree, with limits on depth and length.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::QueryError;
use super::filter::{Comparison, FilterNode, NamedColumn, Wanted};
use super::pattern::Pattern;
use super::words::{self, Commas, is_key_char};
use crate::snapshot::column::{self, Column, Row, Unit};
use crate::snapshot::units;

/// Maximum length of a filter in bytes: filters also come from other processes.
const MAX_BYTES: usize = 4_096;
const MAX_DEPTH: usize = 32;

/// The columns of a table, as the parser sees them: it is compiled once for all tables.
pub(super) trait Columns {
    fn find(&mut self, key: &str) -> Option<NamedColumn>;

    /// The column whose title begins the text, and the length of that title.
    fn titled(&mut self, text: &str) -> Option<(NamedColumn, usize)>;

    fn unknown(&self, key: &str) -> QueryError;

    fn fault(&self, reason: String) -> QueryError;
}

/// The columns that the parser has found.
pub(super) struct Found<R: 'static>(pub(super) Vec<Column<R>>);

impl<R> Found<R> {
    fn take(&mut self, column: Column<R>) -> NamedColumn {
        let named = NamedColumn {
            nth: self.0.len(),
            key: column.key.clone(),
            unit: column.unit,
            fields: column.fields,
        };
        self.0.push(column);
        named
    }
}

impl<R: Row> Columns for Found<R> {
    fn find(&mut self, key: &str) -> Option<NamedColumn> {
        column::find(key).map(|column| self.take(column))
    }

    fn titled(&mut self, text: &str) -> Option<(NamedColumn, usize)> {
        let (column, length) = column::titled(text)?;
        Some((self.take(column), length))
    }

    fn unknown(&self, key: &str) -> QueryError {
        QueryError::unknown_field::<R>(key)
    }

    fn fault(&self, reason: String) -> QueryError {
        QueryError::filter::<R>(reason)
    }
}

/// Parses a whole filter. The columns that it names are numbers in the list beside it.
pub(super) fn filter<R: Row>(text: &str) -> Result<(FilterNode, Vec<Column<R>>), QueryError> {
    let mut columns = Found(Vec::new());
    let node = filter_of(text, &mut columns)?;
    Ok((node, columns.0))
}

/// Parses a whole filter of a table with these columns.
pub(super) fn filter_of(text: &str, columns: &mut dyn Columns) -> Result<FilterNode, QueryError> {
    Parser::new(text.trim_start(), columns).whole(text.len())
}

/// Parses a single comparison: `hold_p99 < 10ms`.
pub(super) fn comparison_alone<R: Row>(
    text: &str,
) -> Result<(Column<R>, Comparison, u64), QueryError> {
    let mut columns = Found(Vec::new());
    let (column, sign, limit) = Parser::new(text.trim(), &mut columns).alone()?;
    Ok((columns.0.swap_remove(column.nth), sign, limit))
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
    columns: &'t mut dyn Columns,
}

impl<'t> Parser<'t> {
    fn new(rest: &'t str, columns: &'t mut dyn Columns) -> Self {
        Self {
            rest,
            depth: 0,
            columns,
        }
    }

    fn whole(mut self, length: usize) -> Result<FilterNode, QueryError> {
        if length > MAX_BYTES {
            return self.fail(format!("longer than {MAX_BYTES} bytes"));
        }
        if self.rest.is_empty() {
            return Ok(FilterNode::All(Vec::new()));
        }
        let node = self.any()?;
        if self.rest.is_empty() {
            Ok(node)
        } else {
            self.fail("unmatched )")
        }
    }

    fn alone(mut self) -> Result<(NamedColumn, Comparison, u64), QueryError> {
        let text = self.rest;
        let is_key = |c: char| is_key_char(c.to_ascii_lowercase());
        let (key, rest) = text.split_at(text.find(|c| !is_key(c)).unwrap_or(text.len()));
        let named = self.named(key, |rest, length| {
            words::comparison(rest[length..].trim_start()).is_some()
        });
        self.rest = named.as_ref().map_or(rest, |(_, length)| &text[*length..]);
        self.blanks();
        let sign = words::comparison(self.rest);
        let Some((sign, number)) = sign.filter(|(sign, _)| *sign != Comparison::NotEqual) else {
            return self.fail("a column is compared with a number: < <= > >= =");
        };
        let (column, _) = named.ok_or_else(|| self.columns.unknown(key).of_column())?;
        if !column.unit.is_number() {
            return self.fail(is_text(&column.key));
        }
        self.rest = number;
        match self.compare(column, sign)? {
            FilterNode::Compare(column, sign, limit) if self.rest.is_empty() => {
                Ok((column, sign, limit))
            }
            _ => self.fail(format!(
                "write one number and its unit, without a blank, not {:?}",
                self.rest.trim_start()
            )),
        }
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, QueryError> {
        Err(self.columns.fault(reason.into()))
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
    fn any(&mut self) -> Result<FilterNode, QueryError> {
        let mut parts = alloc::vec![self.all()?];
        while self.eat("||") || self.eat("|") {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, FilterNode::Any))
    }

    /// `not { [ "&&" ] not }`
    fn all(&mut self) -> Result<FilterNode, QueryError> {
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
    fn negatable(&mut self) -> Result<FilterNode, QueryError> {
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

    fn atom(&mut self) -> Result<FilterNode, QueryError> {
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
    fn of_column(&mut self) -> Result<Option<FilterNode>, QueryError> {
        let is_key = |c: char| is_key_char(c.to_ascii_lowercase());
        let end = self.rest.find(|c| !is_key(c)).unwrap_or(self.rest.len());
        let (key, after) = self.rest.split_at(end);
        let is_asked = |rest: &str, length: usize| {
            let after = rest[length..].trim_start();
            is_colon(after) || words::comparison(after).is_some()
        };
        if let Some((column, length)) = self.named(key, is_asked) {
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
            return Err(self.columns.unknown(key));
        }
        Ok(None)
    }

    /// The column that is named here by its key, its title, or its key in capitals, and the length
    /// of that name.
    fn named(
        &mut self,
        key: &str,
        is_asked: fn(&str, usize) -> bool,
    ) -> Option<(NamedColumn, usize)> {
        let is_key_asked = is_asked(self.rest, key.len());
        if is_key_asked && let Some(column) = self.columns.find(key) {
            return Some((column, key.len()));
        }
        let titled = self.columns.titled(self.rest);
        if let Some(titled) = titled.filter(|(_, length)| is_asked(self.rest, *length)) {
            return Some(titled);
        }
        let lower = key.to_ascii_lowercase();
        let column = is_key_asked.then(|| self.columns.find(&lower)).flatten();
        Some((column?, key.len()))
    }

    /// Parses what follows the name of a column.
    fn behind(&mut self, column: NamedColumn, text: &'t str) -> Result<FilterNode, QueryError> {
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

    fn group(&mut self) -> Result<FilterNode, QueryError> {
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
    fn regex(&mut self) -> Result<FilterNode, QueryError> {
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

    /// `number [ unit ]`, after the operator.
    fn compare(
        &mut self,
        column: NamedColumn,
        comparison: Comparison,
    ) -> Result<FilterNode, QueryError> {
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

fn single_or(mut parts: Vec<FilterNode>, many: fn(Vec<FilterNode>) -> FilterNode) -> FilterNode {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}

fn not(node: FilterNode) -> FilterNode {
    FilterNode::Not(Box::new(node))
}

fn is_text(key: &str) -> String {
    format!("{key} is text; write {key}:WORD")
}

/// Whether the text begins with the colon before a value; `::` is part of a path.
fn is_colon(text: &str) -> bool {
    text.starts_with(':') && !text.starts_with("::")
}
