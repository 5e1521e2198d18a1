//! `cargo fuzz run messages`; built without cargo-fuzz, it runs the inputs that are named as arguments.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| turbowish_fuzz::messages(input));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    turbowish_fuzz::replay_arguments(turbowish_fuzz::messages)
}
