//! A small regular expression: its time is at most pattern times text, and what it does not know it refuses in words.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Groups inside each other.
const MAX_DEPTH: usize = 32;

/// A compiled expression, found anywhere in a text unless `^` and `$` say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Regex {
    steps: Vec<Step>,
    exact_case: bool,
}

/// One instruction; those that read a character go on with the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    One(Set),
    Begin,
    End,
    /// Goes on at both places.
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// Which characters fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Set {
    ranges: Vec<(char, char)>,
    negated: bool,
}

/// A part of an expression.
#[derive(Debug)]
enum Node {
    One(Set),
    Begin,
    End,
    All(Vec<Node>),
    Any(Vec<Node>),
    /// At least none or one, at most one or any number.
    Repeat(Box<Node>, Least, Most),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Least {
    None,
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Most {
    One,
    Many,
}

impl Set {
    fn one(c: char) -> Self {
        Self::of(&[(c, c)])
    }

    fn of(ranges: &[(char, char)]) -> Self {
        Self {
            ranges: ranges.to_vec(),
            negated: false,
        }
    }

    fn any() -> Self {
        Self {
            ranges: Vec::new(),
            negated: true,
        }
    }

    fn has(&self, c: char) -> bool {
        let inside = self
            .ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&c));
        inside != self.negated
    }
}

impl Regex {
    /// Reads an expression, without the slashes around it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text,
            depth: 0,
            capital: false,
        };
        let node = parser.any()?;
        if !parser.rest.is_empty() {
            return Err("a ) without its ( inside / /".into());
        }
        let mut steps = Vec::new();
        emit(&node, &mut steps);
        steps.push(Step::Match);
        Ok(Self {
            steps,
            exact_case: parser.capital,
        })
    }

    /// Whether it is found in a text.
    pub(super) fn is_in(&self, field: &str) -> bool {
        if self.exact_case {
            self.found(field)
        } else {
            self.found(&field.to_lowercase())
        }
    }

    fn found(&self, text: &str) -> bool {
        let mut now = Threads::new(self.steps.len());
        let mut next = Threads::new(self.steps.len());
        let mut letters = text.chars().peekable();
        let mut first = true;
        loop {
            let last = letters.peek().is_none();
            if self.follow(0, &mut now, (first, last)) {
                return true;
            }
            let Some(c) = letters.next() else {
                return false;
            };
            first = false;
            let last = letters.peek().is_none();
            for at in core::mem::take(&mut now.list) {
                now.seen[at] = false;
                if let Step::One(set) = &self.steps[at]
                    && set.has(c)
                    && self.follow(at + 1, &mut next, (false, last))
                {
                    return true;
                }
            }
            core::mem::swap(&mut now, &mut next);
        }
    }

    /// Adds a place and all that is reached from it without reading; gives whether that is the end.
    fn follow(&self, start: usize, threads: &mut Threads, (first, last): (bool, bool)) -> bool {
        let mut open = alloc::vec![start];
        while let Some(at) = open.pop() {
            if core::mem::replace(&mut threads.seen[at], true) {
                continue;
            }
            threads.list.push(at);
            match self.steps[at] {
                Step::Match => return true,
                Step::One(_) => {}
                Step::Begin if first => open.push(at + 1),
                Step::End if last => open.push(at + 1),
                Step::Begin | Step::End => {}
                Step::Jump(to) => open.push(to),
                Step::Split(a, b) => open.extend([b, a]),
            }
        }
        false
    }
}

/// The places at which matching stands, each once.
struct Threads {
    list: Vec<usize>,
    seen: Vec<bool>,
}

impl Threads {
    fn new(steps: usize) -> Self {
        Self {
            list: Vec::new(),
            seen: alloc::vec![false; steps],
        }
    }
}

fn emit(node: &Node, steps: &mut Vec<Step>) {
    match node {
        Node::One(set) => steps.push(Step::One(set.clone())),
        Node::Begin => steps.push(Step::Begin),
        Node::End => steps.push(Step::End),
        Node::All(parts) => parts.iter().for_each(|part| emit(part, steps)),
        Node::Any(parts) => emit_any(parts, steps),
        Node::Repeat(part, least, most) => {
            let begin = steps.len();
            if *least == Least::None {
                // Filled in below, when it is known where the part ends.
                steps.push(Step::Jump(0));
            }
            let body = steps.len();
            emit(part, steps);
            if *most == Most::Many {
                let after = steps.len() + 1;
                steps.push(Step::Split(body, after));
            }
            if *least == Least::None {
                steps[begin] = Step::Split(body, steps.len());
            }
        }
    }
}

fn emit_any(parts: &[Node], steps: &mut Vec<Step>) {
    let mut ends = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let more = at + 1 < parts.len();
        let begin = steps.len();
        if more {
            steps.push(Step::Jump(0));
        }
        emit(part, steps);
        if more {
            ends.push(steps.len());
            steps.push(Step::Jump(0));
            steps[begin] = Step::Split(begin + 1, steps.len());
        }
    }
    let after = steps.len();
    for end in ends {
        steps[end] = Step::Jump(after);
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
    /// A capital letter was written: the case counts.
    capital: bool,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let c = letters.next()?;
        self.rest = letters.as_str();
        Some(c)
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn any(&mut self) -> Result<Node, String> {
        let mut parts = alloc::vec![self.all()?];
        while self.eat("|") {
            parts.push(self.all()?);
        }
        Ok(Node::Any(parts))
    }

    fn all(&mut self) -> Result<Node, String> {
        let mut parts = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let one = self.one()?;
            parts.push(self.repeated(one)?);
        }
        Ok(Node::All(parts))
    }

    fn repeated(&mut self, node: Node) -> Result<Node, String> {
        let (least, most) = match self.rest.chars().next() {
            Some('*') => (Least::None, Most::Many),
            Some('+') => (Least::One, Most::Many),
            Some('?') => (Least::None, Most::One),
            _ => return Ok(node),
        };
        self.next();
        // How greedy it is makes no difference to whether it is found.
        self.eat("?");
        if self.rest.starts_with(['*', '+', '?', '{']) {
            return Err("two repetitions in a row inside / /".into());
        }
        Ok(Node::Repeat(Box::new(node), least, most))
    }

    fn one(&mut self) -> Result<Node, String> {
        let Some(c) = self.next() else {
            return Ok(Node::All(Vec::new()));
        };
        Ok(match c {
            '(' => return self.group(),
            '[' => Node::One(self.class()?),
            '.' => Node::One(Set::any()),
            '^' => Node::Begin,
            '$' => Node::End,
            '\\' => Node::One(self.escaped()?),
            '*' | '+' | '?' => return Err(format!("{c} repeats nothing inside / /")),
            '{' => {
                return Err(
                    "{n} is not supported inside / /; * + ? are, and \\{ is the sign".into(),
                );
            }
            c => Node::One(Set::one(self.letter(c))),
        })
    }

    fn letter(&mut self, c: char) -> char {
        self.capital |= c.is_uppercase();
        c
    }

    fn group(&mut self) -> Result<Node, String> {
        if !self.eat("?:") && self.rest.starts_with('?') {
            return Err("(?..) is not supported inside / /".into());
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} groups inside each other"));
        }
        let node = self.any()?;
        self.depth -= 1;
        if self.eat(")") {
            Ok(node)
        } else {
            Err("a ( without its ) inside / /".into())
        }
    }

    fn escaped(&mut self) -> Result<Set, String> {
        const DIGIT: [(char, char); 1] = [('0', '9')];
        const WORD: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
        const BLANK: [(char, char); 2] = [('\t', '\r'), (' ', ' ')];
        let Some(c) = self.next() else {
            return Err("a \\ without a sign behind it inside / /".into());
        };
        let negated = c.is_ascii_uppercase();
        let ranges: &[(char, char)] = match c {
            'd' | 'D' => &DIGIT,
            'w' | 'W' => &WORD,
            's' | 'S' => &BLANK,
            c if c.is_alphanumeric() => return Err(format!("\\{c} is not supported inside / /")),
            c => return Ok(Set::one(c)),
        };
        Ok(Set {
            negated,
            ..Set::of(ranges)
        })
    }

    /// Behind its `[`.
    fn class(&mut self) -> Result<Set, String> {
        let mut set = Set {
            negated: self.eat("^"),
            ..Set::default()
        };
        let mut first = true;
        loop {
            let from = match self.next() {
                None => return Err("a [ without its ] inside / /".into()),
                Some(']') if !first => return Ok(set),
                Some('\\') => {
                    let inner = self.escaped()?;
                    match inner.ranges[..] {
                        [(a, b)] if a == b && !inner.negated => a,
                        _ if inner.negated => return Err("\\D \\W \\S do not stand in [ ]".into()),
                        _ => {
                            set.ranges.extend(inner.ranges);
                            first = false;
                            continue;
                        }
                    }
                }
                Some(c) => self.letter(c),
            };
            first = false;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let to = if is_range {
                self.next();
                match self.next() {
                    Some('\\') => self.next(),
                    other => other,
                }
                .map(|c| self.letter(c))
            } else {
                Some(from)
            };
            match to {
                Some(to) if from <= to => set.ranges.push((from, to)),
                Some(to) => return Err(format!("[{from}-{to}] goes backwards")),
                None => return Err("a [ without its ] inside / /".into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::Regex;

    fn check(pattern: &str, found: &[&str], not: &[&str]) {
        let regex = Regex::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
        for text in found {
            assert!(regex.is_in(text), "{pattern} is in {text:?}");
        }
        for text in not {
            assert!(!regex.is_in(text), "{pattern} is not in {text:?}");
        }
    }

    #[test]
    fn it_finds_what_it_says() {
        check("", &["", "a"], &[]);
        check("ab", &["ab", "xaby", "XAB"], &["", "a", "ba"]);
        check(
            "^kv::(db|wal)::",
            &["kv::db::get", "kv::wal::x"],
            &["xkv::db::", "kv::conn::"],
        );
        check("get$", &["db::get", "get"], &["get_all", ""]);
        check("^$", &[""], &["a"]);
        check("a*b", &["b", "aaab"], &["", "aaa"]);
        check("^a+$", &["a", "aaa"], &["", "ab"]);
        check("^colou?r$", &["color", "colour"], &["colouur"]);
        check("^(ab|c)*$", &["", "ab", "cab", "ccc"], &["a", "abb"]);
        check("^(a|)b$", &["b", "ab"], &["cb"]);
        check("^(a*)*$", &["", "aaa"], &["b"]);
        check(
            "conn:5\\d\\d$",
            &["conn:510", "conn:599"],
            &["conn:5", "conn:5100"],
        );
        check("^[a-c_]+$", &["abc", "_"], &["d", ""]);
        check("^[^a-c]$", &["d"], &["a", "B"]);
        check("^[]x-]$", &["]", "x", "-"], &["y"]);
        check("^[\\d.]+$", &["1.5"], &["a"]);
        check("^\\w+$", &["a_1"], &["a b", "-"]);
        check("\\s", &["a b"], &["ab"]);
        check("^\\S+$", &["ab"], &["a b"]);
        check("a.c", &["abc", "aéc"], &["ac"]);
        check("\\.lock\\(\\)", &["db.lock()"], &["db_lock()"]);
        check("(?:a|b)c", &["bc"], &["c"]);
        check("größe", &["GRÖSSE größe"], &["grosse"]);
        check("x??y", &["y"], &["x"]);
    }

    #[test]
    fn a_capital_makes_it_exact_and_classes_are_no_capitals() {
        check("Get", &["Get"], &["get"]);
        check("[A-Z]et", &["Get"], &["get"]);
        check("\\D", &["a"], &["1"]);
        check("\\W", &["-"], &["A"]);
    }

    #[test]
    fn what_it_does_not_know_it_refuses() {
        let fault = |pattern: &str| Regex::parse(pattern).expect_err(pattern);
        for pattern in [
            "(", ")", "a)", "[", "[a", "[z-a]", "[a-", "*", "+a", "a**", "a{2}", "\\", "\\b",
            "(?i)a", "[\\W]", "a|*",
        ] {
            assert!(!fault(pattern).is_empty());
        }
        assert!(fault(&"(".repeat(40)).contains("32"));
    }

    #[test]
    fn what_takes_others_for_ever_takes_no_time() {
        let text = "a".repeat(2_000);
        check("^(a*)*b$", &[], &[&text]);
        check(
            &format!("^{}{}$", "a?".repeat(100), "a".repeat(100)),
            &[&"a".repeat(150)],
            &[&text],
        );
    }
}
