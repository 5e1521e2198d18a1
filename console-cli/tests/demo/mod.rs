//! The demo has three troubles, which are alerts; a calm one has none.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::monitor::Host;
use super::scripts::{Demo, answer};

/// How long the calm demo is looked at: six times of its load, and past the time of the first slow
/// lock and the first blocked worker of the other one. (What is promised is a minute.)
const CALM: Duration = Duration::from_secs(12);

/// On an idle machine all troubles are there after 30 s. Tests share theirs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Without optimisation, and beside other tests, polls of the load itself are long, and locks are
/// held for as long as their thread is kept from running.
const LIMITS: &str = "long_poll.warn=10s,long_poll.alert=10s,blocked_worker=1500ms,\
                      starvation.ready=10s,lock_convoy.wait=10s";

fn start(host: &Host, args: &[&str], limits: &str) -> Demo {
    let mut command = host.command();
    command.arg("demo").args(args);
    command.env("TURBOWISH_REPORT", "0");
    command.env("TURBOWISH_LIMITS", limits);
    let demo = Demo::of(command);
    demo.becomes_busy(host);
    demo
}

/// Alerts, those that are over included, with what they are about besides a worker:
/// `task_leak kv::trouble::subscribe`.
fn alerts(host: &Host, demo: &Demo) -> BTreeSet<String> {
    let text = answer(host, &["query", "alerts", &demo.pid(), "-o", "json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let rows = value["alerts"].as_array().unwrap().iter();
    let line = |row: &Value| {
        let parties = row["parties"].as_array().unwrap();
        let party = parties.iter().find(|party| party["kind"] != "worker");
        let name = party.map_or(&Value::Null, |party| &party["name"]);
        format!(
            "{} {}",
            row["kind"].as_str().unwrap(),
            name.as_str().unwrap_or("?")
        )
    };
    rows.map(line).collect()
}

#[test]
fn a_demo_shows_three_troubles() {
    let host = Host::empty();
    let demo = start(&host, &[], LIMITS);
    let begun = Instant::now();
    let expected = [
        "blocked_worker compactor",
        "guard_across_await reloader",
        "task_leak kv::trouble::subscribe",
    ];
    let expected = BTreeSet::from(expected.map(str::to_owned));
    let mut seen = BTreeSet::new();
    while !seen.is_superset(&expected) {
        let elapsed = begun.elapsed();
        assert!(elapsed < PATIENCE, "after {elapsed:?}: {seen:?}");
        seen = alerts(&host, &demo);
    }
    println!("after {:?}: {seen:?}", begun.elapsed());
    demo.end();
}

#[test]
fn a_calm_demo_shows_none() {
    let host = Host::empty();
    let limits = format!("{LIMITS},guard_across_await.held=2s");
    let demo = start(&host, &["--calm"], &limits);
    let begun = Instant::now();
    while begun.elapsed() < CALM {
        let seen = alerts(&host, &demo);
        assert!(seen.is_empty(), "after {:?}: {seen:?}", begun.elapsed());
    }
    demo.end();
}
