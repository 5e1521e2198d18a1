//! Every case is a program of its own; what it proves stands in its first line.

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}

/// Mistakes are only mistakes where the attribute reads what it stands on.
#[cfg(feature = "enabled")]
#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
