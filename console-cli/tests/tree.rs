//! The console knows processes by the protocol alone: neither it nor its tests are built with the
//! runtime. The demo is.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::collections::BTreeSet;
use std::process::Command;

/// Names of our own packages that are built for the console and its tests.
fn ours(features: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--quiet", "--offline", "--package=turbowish-cli"])
        .args(["--edges=normal,build,dev", "--prefix=none", "--format={p}"])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let ours: BTreeSet<&str> = names.filter(|name| name.contains("turbowish")).collect();
    ours.into_iter().map(str::to_owned).collect()
}

#[test]
fn the_console_is_built_without_the_runtime() {
    assert_eq!(
        ours(&["--no-default-features"]),
        [
            "cargo-turbowish",
            "turbowish-cli",
            "turbowish-model",
            "turbowish-recording",
            "turbowish-wire"
        ]
    );
    let demo = ours(&[]);
    let names: Vec<&str> = demo.iter().map(String::as_str).collect();
    assert!(names.contains(&"turbowish-runtime"), "{names:?}");
}
