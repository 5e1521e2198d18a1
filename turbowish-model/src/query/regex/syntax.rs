//! From the text of an expression to its tree. The syntax is that of the crate `regex`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::class::{Class, LetterKind};

/// Maximum depth of nested groups, classes and repetitions.
const MAX_DEPTH: u32 = 32;

pub(super) enum Tree {
    Empty,
    /// A character of the class with this number.
    Letter(usize),
    Start,
    End,
    /// One after the other.
    All(Vec<Tree>),
    /// One of them.
    Any(Vec<Tree>),
    Repeat(Box<Tree>, u32, Option<u32>),
}

type Parsed<T> = Result<T, &'static str>;

pub(super) struct RegexParser<'t> {
    rest: &'t str,
    depth: u32,
    /// Whether `.` is also a newline: `(?-s)` says no, until its group ends.
    dot_is_all: bool,
    classes: Vec<Class>,
}

/// Parses an expression into its tree, and the classes of characters that it contains.
pub(super) fn parse(text: &str) -> Parsed<(Tree, Vec<Class>)> {
    let mut parser = RegexParser {
        rest: text,
        depth: 0,
        dot_is_all: true,
        classes: Vec::new(),
    };
    let tree = parser.alternatives()?;
    match parser.rest {
        "" => Ok((tree, parser.classes)),
        _ => Err("unopened group"),
    }
}

impl RegexParser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next();
        self.rest = letters.as_str();
        next
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err("more than 32 nested groups or repetitions"),
            false => Ok(()),
        }
    }

    /// `a|b`, up to the end or the `)` of the group.
    fn alternatives(&mut self) -> Parsed<Tree> {
        let dot_is_all = self.dot_is_all;
        let mut all = Vec::new();
        loop {
            all.push(self.sequence()?);
            if !self.eat("|") {
                break;
            }
        }
        self.dot_is_all = dot_is_all;
        Ok(Tree::Any(all))
    }

    fn sequence(&mut self) -> Parsed<Tree> {
        let mut all = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            if let Some(atom) = self.atom()? {
                all.push(self.repeated(atom)?);
            }
        }
        Ok(Tree::All(all))
    }

    /// One of what a sequence consists of; none for flags.
    fn atom(&mut self) -> Parsed<Option<Tree>> {
        Ok(Some(match self.next() {
            None => Tree::Empty,
            Some('(') => return self.group(),
            Some('[') => {
                let class = self.class()?;
                self.letter(class)
            }
            Some('^') => Tree::Start,
            Some('$') => Tree::End,
            Some('.') if self.dot_is_all => self.letter(Class::Union(Vec::new()).not()),
            Some('.') => self.letter(Class::of('\n').not()),
            Some('*' | '+' | '?' | '{') => return Err("repetition operator missing expression"),
            Some('\\') if self.eat("A") => Tree::Start,
            Some('\\') if self.eat("z") => Tree::End,
            Some('\\') => {
                let class = self.escape()?;
                self.letter(class)
            }
            Some(letter) => self.letter(Class::of(letter)),
        }))
    }

    fn letter(&mut self, class: Class) -> Tree {
        self.classes.push(class);
        Tree::Letter(self.classes.len() - 1)
    }

    /// `*`, `+`, `?` and `{1,2}` after an atom. Whether they are greedy changes no match.
    fn repeated(&mut self, atom: Tree) -> Parsed<Tree> {
        let depth = self.depth;
        let mut tree = atom;
        loop {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => self.counts()?,
                _ => break,
            };
            self.next();
            self.eat("?");
            self.deeper()?;
            tree = Tree::Repeat(Box::new(tree), least, most);
        }
        self.depth = depth;
        Ok(tree)
    }

    /// `{2}`, `{2,}` and `{2,3}`, up to the closing brace.
    fn counts(&mut self) -> Parsed<(u32, Option<u32>)> {
        self.next();
        let least = self.count()?;
        let most = match self.eat(",") {
            true if self.peek() == Some('}') => None,
            true => Some(self.count()?),
            false => Some(least),
        };
        match self.peek() {
            Some('}') if most.is_none_or(|most| most >= least) => Ok((least, most)),
            Some('}') => Err("invalid repetition count range, the start must be <= the end"),
            _ => Err("unclosed counted repetition"),
        }
    }

    fn count(&mut self) -> Parsed<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        digits
            .parse()
            .map_err(|_| "repetition quantifier expects a valid decimal")
    }

    /// What follows `(`.
    fn group(&mut self) -> Parsed<Option<Tree>> {
        let outer = self.dot_is_all;
        if self.eat("?P<") || self.eat("?<") {
            self.name()?;
        } else if self.eat("?") && !self.flags()? {
            return Ok(None);
        }
        self.deeper()?;
        let tree = self.alternatives()?;
        self.depth -= 1;
        self.dot_is_all = outer;
        match self.eat(")") {
            true => Ok(Some(tree)),
            false => Err("unclosed group"),
        }
    }

    /// The name of a group, which nothing asks for.
    fn name(&mut self) -> Parsed<()> {
        let (name, rest) = self.rest.split_once('>').ok_or("unclosed group name")?;
        let mut letters = name.chars();
        let first = letters.next().ok_or("empty capture group name")?;
        let is_part = |c: char| c.is_alphanumeric() || "_.[]".contains(c);
        if !(first == '_' || first.is_alphabetic()) || !letters.all(is_part) {
            return Err("invalid capture group character");
        }
        self.rest = rest;
        Ok(())
    }

    /// `U-s)` sets flags for the rest of the group around it; returns whether a group follows, as
    /// after `U-s:`.
    fn flags(&mut self) -> Parsed<bool> {
        let (flags, _) = self
            .rest
            .split_at(self.rest.find([')', ':']).ok_or("unclosed group")?);
        let is_group = self.rest[flags.len()..].starts_with(':');
        if flags.ends_with('-') || (flags.is_empty() && !is_group) {
            return Err("flags are missing");
        }
        let mut on = true;
        for (at, flag) in flags.char_indices() {
            if flags[..at].contains(flag) {
                return Err("duplicate flag");
            }
            match flag {
                '-' => on = false,
                's' => self.dot_is_all = on,
                // Greedy or not, and Unicode as always.
                'U' => {}
                'u' if on => {}
                _ => return Err("flags other than s and U are not supported"),
            }
        }
        self.rest = &self.rest[flags.len() + 1..];
        Ok(is_group)
    }

    /// What follows `\`.
    fn escape(&mut self) -> Parsed<Class> {
        let letter = self.next().ok_or("incomplete escape sequence")?;
        let class = match letter {
            'd' | 'D' => Class::Kind(LetterKind::Digit),
            's' | 'S' => Class::Kind(LetterKind::Space),
            'w' | 'W' => Class::Kind(LetterKind::Word),
            'b' | 'B' => return Err("\\b and \\B are not supported"),
            'p' | 'P' => {
                return Err("Unicode classes other than \\d, \\s and \\w are not supported");
            }
            '0'..='9' => return Err("backreferences are not supported"),
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            'a' => Class::of('\x07'),
            'f' => Class::of('\x0C'),
            't' => Class::of('\t'),
            'n' => Class::of('\n'),
            'r' => Class::of('\r'),
            'v' => Class::of('\x0B'),
            '<' | '>' => return Err("unrecognized escape sequence"),
            letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Class::of(letter),
            _ => return Err("unrecognized escape sequence"),
        };
        Ok(match letter {
            'D' | 'S' | 'W' => class.not(),
            _ => class,
        })
    }

    /// A character by its number: as many digits, or any in braces.
    fn hex(&mut self, digits: usize) -> Parsed<Class> {
        let fault = "hexadecimal literal is not a Unicode scalar value";
        let (number, rest) = match self.rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}'),
            None => self.rest.split_at_checked(digits),
        }
        .ok_or(fault)?;
        let is_hex = number.bytes().all(|c| c.is_ascii_hexdigit());
        let number = u32::from_str_radix(number, 16).ok();
        let letter = number.filter(|_| is_hex).and_then(char::from_u32);
        self.rest = rest;
        letter.map(Class::of).ok_or(fault)
    }

    /// What follows `[`, up to its `]`.
    fn class(&mut self) -> Parsed<Class> {
        self.deeper()?;
        let is_not = self.eat("^");
        let mut all = Vec::new();
        while self.eat("-") {
            all.push(Class::of('-'));
        }
        if all.is_empty() && self.eat("]") {
            all.push(Class::of(']'));
        }
        self.items(&mut all)?;
        let mut class = Class::Union(all);
        while !self.eat("]") {
            let operation = self.next();
            self.next();
            let mut all = Vec::new();
            self.items(&mut all)?;
            let other = Class::Union(all);
            class = match operation {
                Some('&') => class.and(other),
                Some('-') => class.and(other.not()),
                _ => class.either(other),
            };
        }
        self.depth -= 1;
        Ok(if is_not { class.not() } else { class })
    }

    /// The items of a class up to its `]` or an operation of sets.
    fn items(&mut self, all: &mut Vec<Class>) -> Parsed<()> {
        loop {
            if self.rest.is_empty() {
                return Err("unclosed character class");
            }
            let ends = ["]", "&&", "--", "~~"];
            if ends.iter().any(|end| self.rest.starts_with(end)) {
                return Ok(());
            }
            if let Some(set) = self.set()? {
                all.push(set);
                continue;
            }
            let item = self.literal()?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("--");
            if !is_range || self.rest.starts_with("-]") {
                all.push(item);
                continue;
            }
            self.next();
            let (Class::Range(first, _), Class::Range(last, _)) = (item, self.literal()?) else {
                return Err("invalid range boundary, must be a literal");
            };
            if first > last {
                return Err("invalid character class range, the start must be <= the end");
            }
            all.push(Class::Range(first, last));
        }
    }

    /// A class in a class.
    fn set(&mut self) -> Parsed<Option<Class>> {
        if let Some(inside) = self.rest.strip_prefix("[:")
            && let Some((name, rest)) = inside.split_once(":]")
            && let Some(class) = named(name)
        {
            self.rest = rest;
            return Ok(Some(class));
        }
        match self.eat("[") {
            true => self.class().map(Some),
            false => Ok(None),
        }
    }

    /// A character or an escape in a class.
    fn literal(&mut self) -> Parsed<Class> {
        match self.next() {
            Some('\\') => self.escape(),
            Some(letter) => Ok(Class::of(letter)),
            None => Err("unclosed character class"),
        }
    }
}

/// `[:alpha:]` and `[:^alpha:]` by name: of ASCII only.
fn named(name: &str) -> Option<Class> {
    let (name, is_not) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let ranges = match name {
        "alnum" => "09AZaz",
        "alpha" => "AZaz",
        "ascii" => "\0\x7F",
        "blank" => "\t\t  ",
        "cntrl" => "\0\x1F\x7F\x7F",
        "digit" => "09",
        "graph" => "!~",
        "lower" => "az",
        "print" => " ~",
        "punct" => "!/:@[`{~",
        "space" => "\t\r  ",
        "upper" => "AZ",
        "word" => "09AZaz__",
        "xdigit" => "09AFaf",
        _ => return None,
    };
    let ends = ranges.as_bytes().chunks_exact(2);
    let ranges = ends.map(|ends| Class::Range(ends[0].into(), ends[1].into()));
    let class = Class::Union(ranges.collect());
    Some(if is_not { class.not() } else { class })
}
