//! `cargo fuzz run --no-cfg-fuzzing --features libfuzzer exports fuzz/corpus/recording`; built
//! without the feature, it runs the inputs that are named as arguments.

#![cfg_attr(feature = "libfuzzer", no_main)]

#[cfg(feature = "libfuzzer")]
libfuzzer_sys::fuzz_target!(|input: &[u8]| turbowish_fuzz::exports(input));

#[cfg(not(feature = "libfuzzer"))]
fn main() -> std::io::Result<()> {
    turbowish_fuzz::replay_arguments(turbowish_fuzz::exports)
}
