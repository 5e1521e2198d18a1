//! Methods that leave a handle in place: a body that calls no others has not moved the handle away.

use proc_macro2::{Delimiter, TokenTree};

use super::tokens::{is, is_word};

/// Methods of the handles that neither consume nor replace them. The methods of the `turbowish`
/// types are inherent.
const STAYING: &[&str] = &[
    "recv",
    "try_recv",
    "recv_many",
    "blocking_recv",
    "blocking_recv_many",
    "close",
    "changed",
    "has_changed",
    "borrow",
    "borrow_and_update",
    "wait_for",
    "is_closed",
    "is_empty",
    "len",
    "capacity",
    "max_capacity",
    "send",
    "try_send",
    "send_timeout",
    "blocking_send",
    "reserve",
    "reserve_many",
    "try_reserve",
    "try_reserve_many",
    "closed",
    "clone",
    "downgrade",
];

/// Whether one of those is called by the tokens from `at` on: `.recv()`
pub(super) fn stays(trees: &[TokenTree], at: usize) -> bool {
    let is_call = matches!(
        trees.get(at + 2),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
    );
    let method = trees.get(at + 1);
    is_call && is(trees.get(at), '.') && STAYING.iter().any(|name| is_word(method, name))
}
