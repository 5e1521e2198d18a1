//! Natural order of names: runs of digits compare as numbers, so `shard-2` comes before `shard-10`.

use alloc::string::String;
use core::cmp::Ordering;

/// A text that compares in natural order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Natural(pub String);

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two texts in natural order. Only identical texts are equal: of two that differ in
/// leading zeros, one comes first.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        let order = match (left.first(), right.first()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (one, other) = (number(&mut left), number(&mut right));
                // Without leading zeros the longer number is the larger one.
                one.len().cmp(&other.len()).then(one.cmp(other))
            }
            (Some(x), Some(y)) => {
                (left, right) = (&left[1..], &right[1..]);
                x.cmp(y)
            }
            (None, None) => return a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            (x, y) => return x.cmp(&y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Removes the run of digits at the start of the text and returns it without leading zeros.
fn number<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (run, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    let zeros = run.iter().take_while(|&&byte| byte == b'0').count();
    &run[zeros..]
}

#[cfg(test)]
mod tests {
    use core::cmp::Ordering;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::compare;

    /// Each list is in ascending order.
    #[test]
    fn digits_compare_as_numbers() {
        for list in [
            &["shard-2", "shard-10", "shard-100"][..],
            &["conn:9", "conn:51022", "conn:51022a"],
            &["", "0", "00", "1", "01", "2", "10"],
            &["a", "a1", "a1b", "a1b2", "a1b10", "a2", "b"],
            &["v1.9.10", "v1.10.2"],
            &["1", "99999999999999999999", "100000000000000000000"],
            &["Zoo", "apple", "äpfel"],
            &["src/a.rs", "src/a2.rs", "src/a10.rs", "src/b.rs"],
        ] {
            for (at, one) in list.iter().enumerate() {
                for (other_at, other) in list.iter().enumerate() {
                    let expected = at.cmp(&other_at);
                    assert_eq!(compare(one, other), expected, "{one} {other}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_a_total_order(a in "[a01 9]{0,5}", b in "[a01 9]{0,5}", c in "[a01 9]{0,5}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &b) == Ordering::Equal, a == b);
            if compare(&a, &b) != Ordering::Greater && compare(&b, &c) != Ordering::Greater {
                prop_assert_eq!(compare(&a, &c) == Ordering::Greater, false);
            }
        }
    }
}
