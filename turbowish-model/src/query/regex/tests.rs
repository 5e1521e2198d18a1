//! Tests of regular expressions, by example and against the crate `regex-automata`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::{Strategy, prop, proptest};
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::{Compiler, Config};
use regex_automata::{Input, MatchError};
use regex_syntax::ParserBuilder;

use super::Regex;

fn check(pattern: &str, found: &[&str], not: &[&str]) {
    let regex = Regex::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
    let is_in = |text: &str| match regex.is_exact() {
        true => regex.is_in(text),
        false => regex.is_in(&text.to_lowercase()),
    };
    for text in found {
        assert!(is_in(text), "{pattern} is in {text:?}");
    }
    for text in not {
        assert!(!is_in(text), "{pattern} is not in {text:?}");
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
    check("^a**$", &["", "aa"], &["b"]);
    check("^a{2}$", &["aa"], &["a", "aaa"]);
    check("^[\\W]$", &["-"], &["a"]);
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
        "(",
        ")",
        "a)",
        "[",
        "[a",
        "[z-a]",
        "[a-",
        "*",
        "+a",
        "\\",
        "\\b",
        "a|*",
        "\\q",
        "\\p{Klingon}",
    ] {
        assert!(!fault(pattern).is_empty());
    }
    let nested = format!("{}{}", "(".repeat(40), ")".repeat(40));
    assert!(fault(&nested).contains("32"));
    let too_large = "/regex/ is larger than 256 KiB";
    for pattern in ["a{2000}{2000}", "(\\w{50}){50}"] {
        assert_eq!(fault(pattern), too_large);
    }
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

/// Whether another implementation finds an expression in each text; none if it refuses it.
fn others(pattern: &str, texts: &[String]) -> Option<Vec<bool>> {
    let mut parser = ParserBuilder::new();
    let parser = parser.nest_limit(1_000).dot_matches_new_line(true);
    let expression = parser.build().parse(pattern).ok()?;
    let nfa = Compiler::new()
        .configure(Config::new())
        .build_from_hir(&expression);
    let automaton = DFA::builder().build_from_nfa(nfa.ok()?).ok()?;
    let mut cache = automaton.create_cache();
    let is_in = |text: &String| -> Result<bool, MatchError> {
        let found = automaton.try_search_fwd(&mut cache, &Input::new(text).earliest(true));
        Ok(found?.is_some())
    };
    texts.iter().map(is_in).collect::<Result<_, _>>().ok()
}

/// The syntax in pieces, so that a random row of them is often an expression.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        "é",
        "1",
        "_",
        "-",
        " ",
        ".",
        "^",
        "$",
        "|",
        "|",
        "(",
        "(",
        "(?:",
        "(?P<n>",
        ")",
        ")",
        ")",
        "*",
        "+",
        "?",
        "{2}",
        "{1,}",
        "{0,2}",
        "{3,2}",
        "{",
        "}",
        "[",
        "[",
        "[^",
        "]",
        "]",
        "]",
        "&&",
        "--",
        "~~",
        "a-é",
        "1-9",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "\\.",
        "\\-",
        "\\x61",
        "\\u{e9}",
        "\\q",
        "\\A",
        "\\z",
        "\\n",
        "\n",
        "[:alpha:]",
        "[:^digit:]",
        "(?-s)",
        "(?s:",
        "(?U-s:",
        "(?-s:",
        "(?",
        "\\",
    ];
    let row = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12);
    row.prop_map(|row| row.concat())
}

proptest! {
    #[test]
    fn it_finds_what_the_crate_regex_finds(
        pattern in pieces(),
        texts in prop::collection::vec("[ab1_é \n\u{3b1}.-]{0,6}", 1..8),
    ) {
        // No name occurs twice, which is not allowed there.
        let mut copy = String::new();
        for (nth, part) in pattern.split("(?P<n>").enumerate() {
            if nth > 0 {
                copy.push_str(&format!("(?P<n{nth}>"));
            }
            copy.push_str(part);
        }
        let expected = others(&copy, &texts);
        let found = Regex::parse(&copy).ok();
        let found = found.map(|regex| texts.iter().map(|text| regex.is_in(text)).collect());
        assert_eq!(found, expected, "{copy:?} in {texts:?}");
    }

    #[test]
    fn any_text_is_parsed_or_refused(pattern in ".{0,40}", text in ".{0,20}") {
        if let Ok(regex) = Regex::parse(&pattern) {
            regex.is_in(&text);
        }
    }
}
