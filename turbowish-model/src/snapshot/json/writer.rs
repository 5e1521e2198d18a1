//! JSON writer: builds the text front to back, with correct commas and escapes for all values.
//!
//! Its functions are not inlined: a document has hundreds of fields, and is written once.

use alloc::string::String;
use core::fmt::Write;

use crate::snapshot::sanitize::is_unprintable;

/// A document under construction.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    /// The next key or value follows another one in the same object or array.
    follows: bool,
}

impl Writer {
    /// Returns the document, with a line end.
    #[must_use]
    pub fn into_line(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    /// Writes the key of the next value in an object.
    #[inline(never)]
    pub fn key(&mut self, name: &str) {
        self.comma();
        self.quoted(name);
        self.out.push(':');
        self.follows = false;
    }

    /// Writes an object whose fields `body` writes.
    pub fn object(&mut self, body: impl FnOnce(&mut Self)) {
        self.nested('{', '}', body);
    }

    /// Writes an array with an entry for each of `items`.
    pub fn array<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.nested('[', ']', |out| {
            items.iter().for_each(|item| each(out, item))
        });
    }

    /// Writes a field with a string.
    #[inline(never)]
    pub fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        self.text_value(text);
    }

    /// Writes a field with an integer.
    #[inline(never)]
    pub fn number(&mut self, name: &str, n: u64) {
        self.key(name);
        self.number_value(n);
    }

    /// Writes a field with an integer or `null`.
    #[inline(never)]
    pub fn optional(&mut self, name: &str, n: Option<u64>) {
        self.key(name);
        match n {
            Some(n) => self.number_value(n),
            None => self.null(),
        }
    }

    /// Writes a field with a string or `null`.
    #[inline(never)]
    pub fn optional_text(&mut self, name: &str, text: Option<&str>) {
        self.key(name);
        match text {
            Some(text) => self.text_value(text),
            None => self.null(),
        }
    }

    /// Writes a field with `true` or `false`.
    #[inline(never)]
    pub fn flag(&mut self, name: &str, flag: bool) {
        self.key(name);
        self.flag_value(flag);
    }

    /// Writes a string.
    #[inline(never)]
    pub fn text_value(&mut self, text: &str) {
        self.comma();
        self.quoted(text);
        self.follows = true;
    }

    /// Writes an integer.
    #[inline(never)]
    pub fn number_value(&mut self, n: u64) {
        self.comma();
        // Writing to a `String` cannot fail.
        let _ = write!(self.out, "{n}");
        self.follows = true;
    }

    /// Writes a signed integer.
    pub fn signed_value(&mut self, n: i64) {
        self.comma();
        let _ = write!(self.out, "{n}");
        self.follows = true;
    }

    /// Writes `true` or `false`.
    pub fn flag_value(&mut self, flag: bool) {
        self.word(if flag { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.word("null");
    }

    #[inline(never)]
    fn word(&mut self, word: &str) {
        self.comma();
        self.out.push_str(word);
        self.follows = true;
    }

    fn nested(&mut self, open: char, close: char, body: impl FnOnce(&mut Self)) {
        self.begin(open);
        body(self);
        self.end(close);
    }

    #[inline(never)]
    fn begin(&mut self, open: char) {
        self.comma();
        self.out.push(open);
        self.follows = false;
    }

    #[inline(never)]
    fn end(&mut self, close: char) {
        self.out.push(close);
        self.follows = true;
    }

    fn comma(&mut self) {
        if self.follows {
            self.out.push(',');
        }
    }

    #[inline(never)]
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                // Escaped so that a terminal that shows the document does not obey it.
                c if is_unprintable(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
