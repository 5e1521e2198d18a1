//! A shard against tables of steps: operation, time, expected result.

use super::{Blob, Condition, End, Entry, Expiry, Shard, Ttl, Value, parse_integer};
use crate::error::Refusal;

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

fn blobs(words: &str) -> Vec<Blob> {
    words.split_whitespace().map(blob).collect()
}

fn set(shard: &mut Shard, key: &str, value: &str, expiry: Expiry, now: u64) {
    let done = shard.set(blob(key), blob(value), expiry, Condition::Always, now);
    assert!(done);
}

/// Every deadline is in both places, and only once.
fn consistent(shard: &Shard) {
    let of = |(key, entry): (&Blob, &Entry)| Some((entry.deadline?, key.clone()));
    let expected = shard.entries.iter().filter_map(of).collect();
    assert_eq!(shard.deadlines, expected);
}

#[test]
fn integers_are_canonical() {
    let check =
        |text: &str, expected| assert_eq!(parse_integer(text.as_bytes()), expected, "{text:?}");
    check("0", Some(0));
    check("7", Some(7));
    check("-7", Some(-7));
    check("1200", Some(1200));
    check("9223372036854775807", Some(i64::MAX));
    check("-9223372036854775808", Some(i64::MIN));
    check("9223372036854775808", None);
    check("-9223372036854775809", None);
    check("", None);
    check("-", None);
    check("--1", None);
    check("-0", None);
    check("00", None);
    check("01", None);
    check("+1", None);
    check(" 1", None);
    check("1 ", None);
    check("1.0", None);
    check("0x10", None);
    check("one", None);
}

#[test]
fn conditions_look_at_live_keys_only() {
    let check = |condition, now, expected| {
        let mut shard = Shard::default();
        set(&mut shard, "k", "old", Expiry::After(10), 100);
        let done = shard.set(blob("k"), blob("new"), Expiry::Never, condition, now);
        assert_eq!(done, expected, "{condition:?} at {now}");
        consistent(&shard);
    };
    check(Condition::Always, 105, true);
    check(Condition::IfAbsent, 109, false);
    check(Condition::IfAbsent, 110, true);
    check(Condition::IfPresent, 109, true);
    check(Condition::IfPresent, 110, false);
}

#[test]
fn a_deadline_ends_a_key_at_its_millisecond() {
    let check = |now, value: Option<&str>, ttl| {
        let mut shard = Shard::default();
        set(&mut shard, "k", "v", Expiry::After(10), 100);
        assert_eq!(shard.ttl(b"k", now), ttl, "at {now}");
        assert_eq!(shard.get(b"k", now), Ok(value.map(blob)), "at {now}");
        assert_eq!(shard.exists(b"k", now), value.is_some(), "at {now}");
        assert_eq!(shard.len(), usize::from(value.is_some()), "at {now}");
        consistent(&shard);
    };
    check(100, Some("v"), Ttl::Left(10));
    check(109, Some("v"), Ttl::Left(1));
    check(110, None, Ttl::Missing);
    check(u64::MAX, None, Ttl::Missing);
}

#[test]
fn set_replaces_or_keeps_a_deadline() {
    let check = |expiry, expected| {
        let mut shard = Shard::default();
        set(&mut shard, "k", "v", Expiry::After(10), 100);
        set(&mut shard, "k", "w", expiry, 103);
        assert_eq!(shard.ttl(b"k", 103), expected, "{expiry:?}");
        consistent(&shard);
    };
    check(Expiry::Never, Ttl::Forever);
    check(Expiry::Keep, Ttl::Left(7));
    check(Expiry::After(50), Ttl::Left(50));
    check(Expiry::After(u64::MAX), Ttl::Left(u64::MAX - 103));
}

#[test]
fn expire_moves_a_deadline_or_removes_the_key() {
    let check = |deadline, expected| {
        let mut shard = Shard::default();
        set(&mut shard, "k", "v", Expiry::After(10), 100);
        assert!(shard.expire(blob("k"), deadline, 105));
        assert_eq!(shard.ttl(b"k", 105), expected, "deadline {deadline}");
        consistent(&shard);
    };
    check(200, Ttl::Left(95));
    check(106, Ttl::Left(1));
    check(105, Ttl::Missing);
    check(0, Ttl::Missing);

    let mut shard = Shard::default();
    assert!(!shard.expire(blob("nobody"), 200, 105));
    set(&mut shard, "k", "v", Expiry::After(10), 100);
    assert!(!shard.expire(blob("k"), 200, 110), "already gone");
}

#[test]
fn counters() {
    let check = |old: Option<&str>, by, expected: Result<i64, Refusal>| {
        let mut shard = Shard::default();
        if let Some(old) = old {
            set(&mut shard, "n", old, Expiry::After(10), 100);
        }
        assert_eq!(shard.incr(blob("n"), by, 105), expected, "{old:?} + {by}");
        let after = match &expected {
            Ok(number) => Some(number.to_string()),
            Err(_) => old.map(str::to_owned),
        };
        assert_eq!(shard.get(b"n", 105), Ok(after.as_deref().map(blob)));
        let deadline = if old.is_some() {
            Ttl::Left(5)
        } else {
            Ttl::Forever
        };
        assert_eq!(shard.ttl(b"n", 105), deadline, "{old:?} + {by}");
    };
    check(None, 1, Ok(1));
    check(None, -5, Ok(-5));
    check(Some("41"), 1, Ok(42));
    check(Some("-1"), 1, Ok(0));
    check(Some("9223372036854775806"), 1, Ok(i64::MAX));
    check(Some("9223372036854775807"), 1, Err(Refusal::Overflow));
    check(Some("-9223372036854775808"), -1, Err(Refusal::Overflow));
    check(Some("text"), 1, Err(Refusal::NotAnInteger));
    check(Some(""), 1, Err(Refusal::NotAnInteger));
}

#[test]
fn ranges_of_a_list() {
    let mut shard = Shard::default();
    assert_eq!(
        shard.push(blob("l"), blobs("a b c d e"), End::Right, 0),
        Ok(5)
    );
    let mut check = |start, stop, expected: &str| {
        let found = shard.range(b"l", start, stop, 0);
        assert_eq!(found, Ok(blobs(expected)), "{start} to {stop}");
    };
    check(0, -1, "a b c d e");
    check(0, 0, "a");
    check(1, 3, "b c d");
    check(-2, -1, "d e");
    check(-2, -2, "d");
    check(-100, 1, "a b");
    check(3, 100, "d e");
    check(0, i64::MAX, "a b c d e");
    check(i64::MIN, i64::MAX, "a b c d e");
    check(0, i64::MIN, "");
    check(3, 1, "");
    check(5, 9, "");
    check(0, -6, "");
    check(0, -5, "a");
}

#[test]
fn pushes_and_pops() {
    let check = |end, count, taken: &str, left: &str| {
        let mut shard = Shard::default();
        assert_eq!(shard.push(blob("l"), blobs("b a"), End::Left, 0), Ok(2));
        assert_eq!(shard.push(blob("l"), blobs("c d"), End::Right, 0), Ok(4));
        let popped = shard.pop(b"l", end, count, 0);
        assert_eq!(popped, Ok(Some(blobs(taken))), "{end:?} {count}");
        assert_eq!(
            shard.range(b"l", 0, -1, 0),
            Ok(blobs(left)),
            "{end:?} {count}"
        );
        assert_eq!(shard.exists(b"l", 0), !left.is_empty());
        consistent(&shard);
    };
    check(End::Left, 1, "a", "b c d");
    check(End::Left, 3, "a b c", "d");
    check(End::Right, 1, "d", "a b c");
    check(End::Right, 3, "d c b", "a");
    check(End::Left, 0, "", "a b c d");
    check(End::Left, 4, "a b c d", "");
    check(End::Right, usize::MAX, "d c b a", "");

    let mut shard = Shard::default();
    assert_eq!(shard.pop(b"nobody", End::Left, 1, 0), Ok(None));
}

#[test]
fn a_value_of_another_type_is_refused_and_kept() {
    let mut shard = Shard::default();
    set(&mut shard, "t", "text", Expiry::Never, 0);
    assert_eq!(shard.push(blob("l"), blobs("a"), End::Left, 0), Ok(1));
    let wrong = Refusal::WrongType;
    assert_eq!(shard.get(b"l", 0), Err(wrong.clone()));
    assert_eq!(shard.incr(blob("l"), 1, 0), Err(wrong.clone()));
    assert_eq!(
        shard.push(blob("t"), blobs("a"), End::Left, 0),
        Err(wrong.clone())
    );
    assert_eq!(shard.pop(b"t", End::Left, 1, 0), Err(wrong.clone()));
    assert_eq!(shard.range(b"t", 0, -1, 0), Err(wrong.clone()));
    assert_eq!(shard.length(b"t", 0), Err(wrong));
    assert_eq!(shard.get(b"t", 0), Ok(Some(blob("text"))));
    assert_eq!(shard.length(b"l", 0), Ok(1));
}

#[test]
fn a_sweep_takes_the_oldest_deadlines_first_and_no_more_than_its_limit() {
    let check = |limit, now, swept, left: &str| {
        let mut shard = Shard::default();
        for (key, ms) in [("c", 30), ("a", 10), ("b", 20), ("d", 20)] {
            set(&mut shard, key, "v", Expiry::After(ms), 100);
        }
        set(&mut shard, "e", "v", Expiry::Never, 100);
        assert_eq!(shard.sweep(limit, now), swept, "{limit} at {now}");
        let mut keys: Vec<Blob> = shard.entries.keys().cloned().collect();
        keys.sort();
        assert_eq!(keys, blobs(left), "{limit} at {now}");
        consistent(&shard);
    };
    check(10, 109, 0, "a b c d e");
    check(10, 110, 1, "b c d e");
    check(1, 200, 1, "b c d e");
    check(2, 200, 2, "c d e");
    check(10, 120, 3, "c e");
    check(10, 200, 4, "e");
}

#[test]
fn every_change_is_counted_and_reading_is_none() {
    let check = |name: &str, changes: bool, step: fn(&mut Shard)| {
        let mut shard = Shard::default();
        set(&mut shard, "t", "1", Expiry::After(10), 100);
        shard
            .push(blob("l"), blobs("a b"), End::Left, 100)
            .expect("a list");
        let before = shard.changes();
        step(&mut shard);
        assert_eq!(shard.changes() > before, changes, "{name}");
        consistent(&shard);
    };
    check("get", false, |s| assert!(s.get(b"t", 105).is_ok()));
    check("get of a key that just ended", true, |s| {
        assert!(s.get(b"t", 110).is_ok())
    });
    check("ttl", false, |s| assert_eq!(s.ttl(b"t", 105), Ttl::Left(5)));
    check("range", false, |s| {
        assert!(s.range(b"l", 0, -1, 105).is_ok())
    });
    check("set", true, |s| set(s, "t", "2", Expiry::Never, 105));
    check("incr", true, |s| {
        assert_eq!(s.incr(blob("t"), 1, 105), Ok(2))
    });
    check("push", true, |s| {
        assert!(s.push(blob("l"), blobs("c"), End::Left, 105).is_ok())
    });
    check("pop", true, |s| {
        assert!(s.pop(b"l", End::Left, 1, 105).is_ok())
    });
    check("del", true, |s| assert!(s.del(b"t", 105)));
    check("del of nothing", false, |s| assert!(!s.del(b"nobody", 105)));
    check("expire", true, |s| assert!(s.expire(blob("t"), 900, 105)));
    check("sweep", true, |s| assert_eq!(s.sweep(9, 200), 1));
    check("sweep of nothing", false, |s| {
        assert_eq!(s.sweep(9, 105), 0)
    });
    check("clear", true, |s| assert_eq!(s.clear().len(), 2));
}

#[test]
fn a_copy_and_back() {
    let mut shard = Shard::default();
    set(&mut shard, "t", "text", Expiry::After(10), 100);
    shard
        .push(blob("l"), blobs("a b"), End::Right, 100)
        .expect("a list");
    let mut other = Shard::default();
    for (key, entry) in shard.copy() {
        other.put(key, entry);
    }
    assert_eq!(other.entries, shard.entries);
    let list = other.entries.get(b"l".as_slice()).map(|entry| &entry.value);
    assert_eq!(list, Some(&Value::List(blobs("a b").into())));
    consistent(&other);
}
