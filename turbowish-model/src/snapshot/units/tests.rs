//! Tests of number formats, as tables.

use super::{Micro, SECOND};
use alloc::string::String;
use proptest::prelude::{prop_assert, proptest};

fn check<T: Copy + core::fmt::Debug>(print: impl Fn(T) -> String, cases: &[(T, &str)]) {
    for &(value, expected) in cases {
        assert_eq!(print(value), expected, "for {value:?}");
    }
}

#[test]
fn durations() {
    check(
        |ns| super::duration(ns, Micro::Ascii),
        &[
            (0, "0"),
            (1, "1ns"),
            (412, "412ns"),
            (999, "999ns"),
            (1_000, "1.00us"),
            (9_994, "9.99us"),
            (9_995, "10.0us"),
            (99_900, "99.9us"),
            (99_949, "99.9us"),
            (99_950, "100us"),
            (999_499, "999us"),
            (999_500, "1.00ms"),
            (38_402_113, "38.4ms"),
            (830_112_407, "830ms"),
            (999_499_999, "999ms"),
            (999_500_000, "1.00 s"),
            (9_760_000_000, "9.76 s"),
            (41_200_000_000, "41.2 s"),
            (59_949_999_999, "59.9 s"),
            (59_950_000_000, "1m00s"),
            (96 * SECOND, "1m36s"),
            (751 * SECOND, "12m31s"),
            (3_599 * SECOND, "59m59s"),
            (3_599 * SECOND + SECOND / 2, "1h00m"),
            ((3 * 3_600 + 7 * 60) * SECOND, "3h07m"),
            (86_399 * SECOND, "1d00h"),
            ((4 * 24 + 11) * 3_600 * SECOND, "4d11h"),
            (100 * 86_400 * SECOND, "100d"),
            (9_999 * 86_400 * SECOND, "9999d"),
            (u64::MAX, "584y"),
        ],
    );
    assert_eq!(super::duration(9_990, Micro::Unicode), "9.99µs");
}

#[test]
fn windows() {
    check(
        |ns| super::window(ns, Micro::Ascii),
        &[
            (10 * SECOND, "10 s"),
            (10 * SECOND + 3_000_000, "10 s"),
            (9_999_000_000, "10 s"),
            (1_520_000_000, "1.52 s"),
            (60 * SECOND, "1m00s"),
            (412_000_000, "412ms"),
            (0, "0"),
        ],
    );
}

#[test]
fn rates() {
    check(
        |(n, window)| super::rate(super::micro_per_second(n, window)),
        &[
            ((0, SECOND), "0"),
            ((1, 10 * SECOND), "0.10"),
            ((16, 10 * SECOND), "1.60"),
            ((100, 10 * SECOND), "10.0"),
            ((400, SECOND), "400"),
            ((8_500, SECOND), "8.50k"),
            ((82_400, SECOND), "82.4k"),
            ((165_000, SECOND), "165k"),
            ((999_499, SECOND), "999k"),
            ((999_500, SECOND), "1.00M"),
            ((1, 751 * SECOND), "<0.01"),
            ((1, 0), "0"),
            ((u64::MAX, SECOND), "18.4T"),
        ],
    );
}

#[test]
fn counts() {
    check(
        super::count,
        &[
            (0, "0"),
            (99_999, "99999"),
            (100_000, "100k"),
            (224_900, "225k"),
            (5_070_000, "5.07M"),
            (50_900_000, "50.9M"),
            (999_999_999, "1.00G"),
            (u64::MAX, "18E"),
        ],
    );
}

#[test]
fn shares() {
    check(
        super::share,
        &[
            (0, "0"),
            (1, "<0.1"),
            (499_999, "<0.1"),
            (500_000, "0.1"),
            (83_011_000, "8.3"),
            (964_000_000, "96.4"),
            (1_000_000_000, "100.0"),
            (2_131_000_000, "213.1"),
            (9_999_499_999, "999.9"),
            (9_999_500_000, "1000"),
            (47_860_000_000, "4786"),
            (999_994_000_000, "99999"),
            (999_999_999_999, "100k"),
            (u64::MAX, "1.84T"),
        ],
    );
}

#[test]
fn sizes() {
    check(
        super::bytes,
        &[
            (0, "0B"),
            (999, "999B"),
            (1_000, "1.0KiB"),
            (3_174, "3.1KiB"),
            (12_288, "12KiB"),
            (1_023_000, "999KiB"),
            (1_023_999, "1.0MiB"),
            (u64::MAX, "15EiB"),
        ],
    );
}

#[test]
fn durations_are_read_with_their_unit() {
    for (text, expected) in [
        ("5s", Some(5 * SECOND)),
        ("1.5ms", Some(1_500_000)),
        ("250us", Some(250_000)),
        ("250µs", Some(250_000)),
        ("2m", Some(120 * SECOND)),
        ("1h", Some(3_600 * SECOND)),
        ("10 s", Some(10 * SECOND)),
        (".5s", Some(SECOND / 2)),
        ("0.0000000019s", Some(1)),
        ("10", None),
        ("s", None),
        ("1..5s", None),
        ("5 parsecs", None),
        ("99999999999h", None),
    ] {
        assert_eq!(super::parse_duration(text), expected, "for {text:?}");
    }
}

proptest! {
    #[test]
    fn no_number_is_wider_than_its_columns(value: u64, window: u64) {
        let width = |text: String| text.chars().count();
        prop_assert!(width(super::duration(value, Micro::Unicode)) <= super::DURATION_WIDTH);
        prop_assert!(width(super::rate(value)) <= super::RATE_WIDTH);
        prop_assert!(width(super::rate(super::micro_per_second(value, window))) <= super::RATE_WIDTH);
        prop_assert!(width(super::count(value)) <= super::COUNT_WIDTH);
        prop_assert!(width(super::share(value)) <= super::SHARE_WIDTH);
        prop_assert!(width(super::bytes(value)) <= 6);
    }
}
