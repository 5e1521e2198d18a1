//! Every occupancy vector through the ledger that the live process uses: all numbers, all groups.

use turbowish_testing::check::check_text;

const VECTORS: &str = include_str!("occupancy-vectors.json");

#[test]
fn all_vectors_agree() {
    let checked = check_text(VECTORS).expect("vectors");
    let shown: Vec<String> = checked.mismatches.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    assert_eq!(checked.vectors, 40);
    assert!(
        checked.compared > 3000,
        "only {} numbers were compared",
        checked.compared
    );
}

/// What only torn recordings hold, and what once went wrong.
#[test]
fn odd_vectors_agree() {
    let checked = check_text(include_str!("odd-vectors.json")).expect("vectors");
    let shown: Vec<String> = checked.mismatches.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

/// A file with one vector of one call that runs from 1 to 5, and what it says of it.
fn one(expect: &str, more: &str) -> String {
    let events = r#"[{"t":0,"k":"create","id":1,"th":1,"proc":"p"},
        {"t":1,"k":"poll_start","id":1,"th":1},{"t":5,"k":"poll_end","id":1,"th":1,"r":"ready"}]"#;
    format!(r#"{{"vectors":[{{"name":"v","events":{events},"expect":{expect}{more}}}]}}"#)
}

#[test]
fn what_differs_is_named_with_its_trap() {
    let check = |expect: &str, more: &str, expected: &[&str]| {
        let checked = check_text(&one(expect, more)).expect("a vector");
        let shown: Vec<String> = checked.mismatches.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{expect}");
    };
    check(r#"{"procs":{"p":{"running":4}}}"#, "", &[]);
    check(r#"{"procs":{"p":{"running":4}},"calls":null}"#, "", &[]);
    check(
        r#"{"procs":{"p":{"running":3,"hold":5}}}"#,
        r#","traps":{"running_if_late":{"p":4},"hold_if_early":{"p":5}}"#,
        &[
            "v: procs.p.running: expected 3, got 4 (trap: running_if_late)",
            "v: procs.p.hold: expected 5, got 4 (what is expected is the trap: hold_if_early)",
        ],
    );
    check(
        r#"{"procs":{"p":{"poll_hold":{"n":2,"p50":4,"p90":null,"p7":1}}}}"#,
        "",
        &[
            "v: procs.p.poll_hold.n: expected 2, got 1",
            "v: procs.p.poll_hold.p90: expected nothing, got 4",
            "v: procs.p.poll_hold.p7: expected something, got no such number",
        ],
    );
    check(
        r#"{"procs":{"q":{"calls":1}},"busy":{},"edges":[{"kind":"await","parent":"p","child":"q","n":1,"ns":2}]}"#,
        "",
        &[
            "v: procs.q.calls: expected 1, got 0",
            "v: procs.p: expected nothing, got 1 calls",
            "v: edges.await(p,q): expected 1 times, 2 ns, got nothing",
            "v: busy.1: expected nothing, got 4",
        ],
    );
    check(
        r#"{"calls":{"1":{"outcome":"live","proc":"q","wall":5,"mood":1},"2":{}},"anomalies":{"forced_pop":1,"odd":0}}"#,
        "",
        &[
            "v: anomalies.forced_pop: expected 1, got 0",
            "v: anomalies.odd: expected something, got no such number",
            "v: calls.1.outcome: expected live, got ready",
            "v: calls.1.proc: expected q, got p",
            "v: calls.1.mood: expected something, got no such number",
            "v: calls.2: expected a call, got nothing",
        ],
    );
    check(
        r#"{"busy":{"1":4}}"#,
        r#","chroprof_oracle":{"p":{"execTime":5}}"#,
        &["v: chroprof_oracle.p.execTime: expected 5, got 4"],
    );
}

#[test]
fn what_is_not_in_the_format_is_refused_with_its_place() {
    let check = |text: &str, expected: &str| {
        let error = check_text(text).map(|_| ()).expect_err(text);
        assert!(error.contains(expected), "{error} does not say {expected}");
    };
    let event = |event: &str| {
        format!(r#"{{"vectors":[{{"name":"v","events":[{event}],"expect":{{"busy":{{}}}}}}]}}"#)
    };
    check("{", "not JSON");
    check("[]", "the file: not an object");
    check(
        r#"{"format":"other/2","vectors":[]}"#,
        "format: \"other/2\" is not",
    );
    check("{}", "vectors: it is missing");
    check(r#"{"vectors":[]}"#, "vectors: there are none");
    check(
        r#"{"vectors":[{}]}"#,
        "vector number 1: name: it is missing",
    );
    check(
        r#"{"vectors":[{"name":"v"}]}"#,
        "vector v: events: it is missing",
    );
    check(&one("{}", ""), "vector v: expect: it says nothing");
    check(
        &one(r#"{"procs":{"p":{"running":-1}}}"#, ""),
        "expect.procs.p.running: -1 is not",
    );
    check(
        &one(r#"{"procs":{"p":{"running":1.5}}}"#, ""),
        "expect.procs.p.running: 1.5 is not",
    );
    check(
        &one(r#"{"calls":{"one":{}}}"#, ""),
        "expect.calls: \"one\" is not",
    );
    check(
        &one(r#"{"busy":{"1":"4"}}"#, ""),
        "expect.busy.1: \"4\" is not",
    );
    check(
        &one(r#"{"edges":[{"kind":"await"}]}"#, ""),
        "expect.edges[0].parent: it is missing",
    );
    check(
        &one(r#"{"busy":{}}"#, r#","now":-3"#),
        "vector v: now: -3 is not",
    );
    check(
        &event(r#"{"t":0,"k":"pol","id":1,"th":1}"#),
        "vector v: event number 1: k: \"pol\" is not create, poll_start, poll_end, drop, wake, await or unaccounted",
    );
    check(
        &event(r#"{"t":0,"k":"create","id":1,"th":1}"#),
        "event number 1: proc: it is missing",
    );
    check(
        &event(r#"{"t":0,"k":"poll_end","id":1,"th":1,"r":"done"}"#),
        "event number 1: r: \"done\" is not pending, ready, panic or drop",
    );
    check(
        &event(r#"{"t":18446744073709551616,"k":"drop","id":1,"th":1}"#),
        "is not an unsigned 64-bit integer",
    );
    check(
        &event(r#"{"t":0,"k":"drop","th":1}"#),
        "event number 1: id: it is missing",
    );
    check(
        &event(r#"{"t":0,"k":"poll_start","id":1,"th":1,"root":1}"#),
        "event number 1: root: 1 is neither",
    );
}

#[test]
fn the_whole_range_of_times_is_exact() {
    const MAX: u64 = u64::MAX;
    let events = [
        (0, "create", "", 1),
        (0, "poll_start", "", 1),
        (0, "poll_end", "pending", 1),
        (1, "poll_start", "", 1),
        (1 << 60, "poll_end", "pending", 1),
        (1 << 60, "poll_start", "", 1),
        (MAX, "poll_end", "ready", 1),
    ];
    let event = |(t, kind, end, id): (u64, &str, &str, u64)| {
        format!(r#"{{"t":{t},"k":"{kind}","id":{id},"th":{MAX},"proc":"p","r":"{end}"}}"#)
    };
    let events = events.map(event).join(",");
    let (first, second) = ((1u64 << 60) - 1, MAX - (1 << 60));
    let expect = format!(
        r#"{{"procs":{{"p":{{"running":{0},"wall":{MAX},"yielded":1,"max_poll":{second},"occupancy_ppm":999999,
        "poll_hold":{{"n":3,"p50":{first},"p90":{second},"p100":{second}}}}}}},
        "calls":{{"1":{{"wall":{MAX},"running":{0},"yielded":1}}}},"busy":{{"{MAX}":{0}}},"anomalies":{{}}}}"#,
        MAX - 1
    );
    let text = format!(r#"{{"vectors":[{{"name":"v","events":[{events}],"expect":{expect}}}]}}"#);
    let checked = check_text(&text).expect("a vector");
    let shown: Vec<String> = checked.mismatches.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}
