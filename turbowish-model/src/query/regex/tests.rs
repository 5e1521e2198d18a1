//! Tests of regular expressions, by example.

use alloc::format;

use proptest::proptest;

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
    check("\\bget\\b", &["db get", "get(x)"], &["get_all", "widget"]);
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
        "a|*",
        "\\q",
        "\\p{Klingon}",
    ] {
        assert!(!fault(pattern).is_empty());
    }
    let nested = format!("{}{}", "(".repeat(40), ")".repeat(40));
    assert!(fault(&nested).contains("too much nesting"));
    let too_large = "compiled regex exceeded size limit inside / /";
    assert_eq!(fault("a{2000}{2000}"), too_large);
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

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(pattern in ".{0,40}", text in ".{0,20}") {
        if let Ok(regex) = Regex::parse(&pattern) {
            regex.is_in(&text);
        }
    }
}
