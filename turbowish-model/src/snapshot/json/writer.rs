//! JSON as text, written front to back: commas and escapes are right whatever the values are.

use alloc::string::String;
use core::fmt::Write;

use crate::snapshot::sanitize::is_unprintable;

/// A document in the making.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    /// The next key or value stands after another one of the same object or array.
    follows: bool,
}

impl Writer {
    /// The document, with a line end.
    #[must_use]
    pub fn into_line(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    /// The name of what comes next in an object.
    pub fn key(&mut self, name: &str) {
        self.comma();
        self.quoted(name);
        self.out.push(':');
        self.follows = false;
    }

    /// An object whose fields `body` writes.
    pub fn object(&mut self, body: impl FnOnce(&mut Self)) {
        self.nested('{', '}', body);
    }

    /// An array, an entry for each of `items`.
    pub fn array<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.nested('[', ']', |out| {
            items.iter().for_each(|item| each(out, item))
        });
    }

    /// A field that is a string.
    pub fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        self.text_value(text);
    }

    /// A field that is an integer.
    pub fn number(&mut self, name: &str, n: u64) {
        self.key(name);
        self.number_value(n);
    }

    /// A field that is an integer, or `null`.
    pub fn optional(&mut self, name: &str, n: Option<u64>) {
        self.key(name);
        match n {
            Some(n) => self.number_value(n),
            None => self.null(),
        }
    }

    /// A field that is a string, or `null`.
    pub fn optional_text(&mut self, name: &str, text: Option<&str>) {
        self.key(name);
        match text {
            Some(text) => self.text_value(text),
            None => self.null(),
        }
    }

    /// A field that is `true` or `false`.
    pub fn flag(&mut self, name: &str, flag: bool) {
        self.key(name);
        self.flag_value(flag);
    }

    /// A string.
    pub fn text_value(&mut self, text: &str) {
        self.comma();
        self.quoted(text);
        self.follows = true;
    }

    /// An integer.
    pub fn number_value(&mut self, n: u64) {
        self.comma();
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{n}");
        self.follows = true;
    }

    /// A number with a sign.
    pub fn signed_value(&mut self, n: i64) {
        self.comma();
        let _ = write!(self.out, "{n}");
        self.follows = true;
    }

    /// `true` or `false`.
    pub fn flag_value(&mut self, flag: bool) {
        self.word(if flag { "true" } else { "false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.word("null");
    }

    fn word(&mut self, word: &str) {
        self.comma();
        self.out.push_str(word);
        self.follows = true;
    }

    fn nested(&mut self, open: char, close: char, body: impl FnOnce(&mut Self)) {
        self.comma();
        self.out.push(open);
        self.follows = false;
        body(self);
        self.out.push(close);
        self.follows = true;
    }

    fn comma(&mut self) {
        if self.follows {
            self.out.push(',');
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                // A terminal that the document is printed on obeys none of it.
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
