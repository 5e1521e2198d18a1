//! Each rule by streams that break it, and by streams that nearly do.

use serde_json::{Value, json};
use turbowish_testing::event_file;
use turbowish_testing::names::Names;
use turbowish_testing::validate::{RULES, Rule};

use super::reports;

/// `poll_end id=1 r=ready`, one event a line; the time is the line's number, and the thread is 1,
/// unless it says otherwise.
fn stream(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let event = |(nth, line): (usize, &str)| {
        let mut words = line.split_whitespace();
        let mut event = json!({"t": nth + 1, "th": 1, "k": words.next()});
        for word in words {
            let (field, value) = word.split_once('=').expect("field=value");
            let number = value.parse::<i64>().map(Value::from);
            event[field] = number.unwrap_or_else(|_| value.into());
        }
        event
    };
    let events: Vec<Value> = lines.enumerate().map(event).collect();
    json!({"format": event_file::FORMAT, "events": events}).to_string()
}

/// The numbers of the events that break rules, with the rules and what they speak of.
fn check(text: &str, expected: &[&str]) {
    let streams = event_file::read(&stream(text), &mut Names::default()).expect("a stream");
    let told = reports(&streams[0].events);
    let told: Vec<String> = told
        .iter()
        .map(|report| {
            let other = report.other.map(|other| format!(" ({other})"));
            let (id, other) = (report.rule.row().id, other.unwrap_or_default());
            format!("{} {id} {}{other}", report.nth, report.subject)
        })
        .collect();
    assert_eq!(told, expected, "{text}");
}

#[test]
fn rows_stand_where_their_rules_say() {
    for (at, row) in RULES.iter().enumerate() {
        assert_eq!(row.rule as usize, at, "{}", row.id);
        assert_eq!(row.rule.row().id, row.id);
        assert!(!row.text.is_empty());
    }
    assert_eq!(Rule::TimeBack.row().id, "time_back");
}

#[test]
fn time_goes_on_in_each_thread() {
    check("create id=1 proc=p t=9\n create id=2 proc=p th=2 t=1", &[]);
    check(
        "create id=1 proc=p t=9\n create id=2 proc=p t=8\n drop id=1 t=9",
        &["2 time_back thread 1"],
    );
}

#[test]
fn calls_are_created_polled_in_turn_and_end() {
    check(
        "poll_start id=1 proc=p
         poll_end id=1 r=pending
         drop id=2
         wake id=3",
        &[
            "1 unknown_call call 1",
            "3 unknown_call call 2",
            "4 unknown_call call 3",
        ],
    );
    check(
        "create id=1 proc=p
         create id=1 proc=p
         drop id=1
         drop id=1
         create id=1 proc=p",
        &["2 call_twice call 1"],
    );
    check(
        "create id=1 proc=p
         poll_end id=1 r=pending
         poll_start id=1
         poll_end id=1 r=ready th=2
         poll_start id=1 th=3
         poll_end id=1 r=ready
         poll_start id=1
         poll_end id=1 r=ready",
        &[
            "2 orphan_end call 1",
            "4 orphan_end call 1 (thread 1)",
            "5 overlapping_poll call 1 (thread 1)",
            "7 ended_call call 1",
            "8 orphan_end call 1",
        ],
    );
    check(
        "create id=1 proc=p
         create id=2 proc=q
         create id=3 proc=q
         poll_start id=1 proc=p
         poll_start id=2 proc=p
         poll_start id=3
         poll_end id=1 r=pending
         poll_start id=2
         poll_end id=2 r=ready",
        &[
            "5 proc_changed call 2",
            "7 forced_end call 3 (call 1)",
            "7 forced_end call 2 (call 1)",
        ],
    );
    check(
        "create id=1 proc=p
         poll_start id=1
         drop id=1 th=2
         drop id=1
         drop id=1",
        &[
            "3 dropped_in_poll call 1 (thread 1)",
            "4 dropped_in_poll call 1 (thread 1)",
        ],
    );
}

#[test]
fn tasks_begin_in_a_poll_and_are_woken_by_somebody() {
    check(
        "task_woken task=1
         create id=1 proc=p
         task_begin task=1 root=1
         poll_start id=1
         task_begin task=1 root=1
         task_begin task=2 root=1",
        &[
            "1 unknown_task task 1",
            "3 not_a_root task 1 (call 1)",
            "5 task_twice task 1",
            "6 not_a_root task 2 (call 1)",
        ],
    );
    check(
        "create id=1 proc=p
         poll_start id=1
         task_begin task=7 root=1
         task_woken task=7
         task_cloned task=7
         poll_end id=1 r=pending
         task_woken task=7 th=2
         task_dropped task=7 th=2
         task_woken task=7
         task_dropped task=7
         task_end task=7
         drop id=1
         task_end task=7",
        &[
            "9 woken_by_nobody task 7",
            "10 wakers_below_zero task 7",
            "11 task_outlived task 7 (call 1)",
            "13 ended_task task 7",
        ],
    );
}

#[test]
fn what_one_may_have_alone_one_has() {
    check(
        "resource_made resource=1 kind=mutex capacity=1
         resource_taken resource=1 ticket=1 task=0 role=lock
         resource_wait resource=1 ticket=2 task=0 role=lock
         resource_wait resource=1 ticket=3 task=0 role=lock
         resource_taken resource=1 ticket=2 task=0 role=lock
         resource_released resource=1 ticket=1
         resource_released resource=1 ticket=1
         resource_released resource=1 ticket=2
         resource_taken resource=1 ticket=4 task=0 role=lock
         resource_released resource=1 ticket=4
         resource_taken resource=1 ticket=3 task=0 role=lock
         resource_taken resource=1 ticket=3 task=0 role=lock
         resource_left resource=1 ticket=3
         resource_wait resource=1 ticket=3 task=0 role=lock
         resource_dropped resource=1
         resource_dropped resource=1",
        &[
            "5 two_holders ticket 2 of resource 1 (ticket 1 of resource 1)",
            "7 not_held ticket 1 of resource 1",
            "9 out_of_turn ticket 4 of resource 1 (ticket 3 of resource 1)",
            "12 served_twice ticket 3 of resource 1",
            "13 not_waiting ticket 3 of resource 1",
            "14 ticket_twice ticket 3 of resource 1",
            "15 dropped_in_use resource 1 (ticket 3 of resource 1)",
            "16 gone_resource resource 1",
        ],
    );
    // Readers together, and no writer with them.
    check(
        "resource_made resource=1 kind=rwlock capacity=9
         resource_taken resource=1 ticket=1 task=0 role=read
         resource_taken resource=1 ticket=2 task=0 role=read
         resource_taken resource=1 ticket=3 task=0 role=write amount=9
         resource_released resource=1 ticket=1
         resource_released resource=1 ticket=2
         resource_taken resource=1 ticket=4 task=0 role=read",
        &[
            "4 two_holders ticket 3 of resource 1 (ticket 1 of resource 1)",
            "7 two_holders ticket 4 of resource 1 (ticket 3 of resource 1)",
        ],
    );
    check(
        "resource_made resource=1 kind=semaphore capacity=3
         resource_wait resource=1 ticket=1 task=0 role=acquire amount=2
         resource_taken resource=1 ticket=1 task=0 role=acquire amount=1
         resource_taken resource=1 ticket=2 task=0 role=acquire amount=2
         resource_taken resource=1 ticket=3 task=0 role=acquire
         resource_wait resource=2 ticket=1 task=0 role=lock
         resource_made resource=1 kind=semaphore",
        &[
            "3 other_claim ticket 1 of resource 1",
            "5 over_capacity ticket 3 of resource 1",
            "6 unknown_resource resource 2",
            "7 resource_twice resource 1",
        ],
    );
}

#[test]
fn whoever_waits_is_a_task_that_is_polled_here() {
    check(
        "create id=1 proc=p
         poll_start id=1
         task_begin task=7 root=1
         resource_made resource=1 kind=mutex
         resource_wait resource=1 ticket=1 task=7 role=lock
         resource_wait resource=1 ticket=2 task=8 role=lock
         resource_wait resource=1 ticket=3 task=7 role=lock th=2
         poll_end id=1 r=ready
         task_end task=7
         resource_wait resource=1 ticket=4 task=7 role=lock
         intent_made intent=1 task=7 resource=2 role=lock strength=may",
        &[
            "6 unknown_task task 8 (resource 1)",
            "7 task_elsewhere task 7 (resource 1)",
            "10 ended_task task 7 (resource 1)",
            "11 ended_task task 7 (intent 1)",
            "11 unknown_resource resource 2",
        ],
    );
}

#[test]
fn queues_give_what_they_got() {
    check(
        "resource_made resource=1 kind=mpsc capacity=2
         resource_put resource=1 items=2
         resource_put resource=1
         resource_took resource=1 items=3
         resource_took resource=1
         resource_closed resource=1
         resource_put resource=1
         resource_made resource=2 kind=broadcast capacity=1
         resource_put resource=2 items=5",
        &[
            "3 overfull resource 1",
            "5 took_too_many resource 1",
            "7 closed_resource resource 1",
        ],
    );
}

#[test]
fn intents_get_surer_and_end_once() {
    check(
        "resource_made resource=1 kind=mutex
         intent_made intent=1 task=0 resource=1 role=lock strength=may
         intent_made intent=1 task=0 resource=1 role=lock strength=may
         intent_sure intent=1
         intent_sure intent=1
         intent_done intent=1
         intent_gone intent=1
         intent_gone intent=2",
        &[
            "3 intent_twice intent 1",
            "5 sure_twice intent 1",
            "7 ended_intent intent 1",
            "8 unknown_intent intent 2",
        ],
    );
}

#[test]
fn a_name_keeps_its_kind() {
    check(
        "user_count name=a by=1
         user_gauge name=b value=-1
         user_count name=a by=2
         user_gauge name=a value=7
         user_attribute name=b value=x",
        &["4 kind_changed user data", "5 kind_changed user data"],
    );
}

#[test]
fn consoles_connect_before_they_do_anything() {
    check(
        "console_query client=1
         console_connect client=1
         console_connect client=1
         console_pause client=1 task=3
         console_disconnect client=1
         console_disconnect client=1",
        &[
            "1 unknown_client client 1",
            "3 client_twice client 1",
            "4 unknown_task task 3 (client 1)",
            "6 unknown_client client 1",
        ],
    );
    check(
        "console_connect client=1
         create id=1 proc=p
         console_reply client=1 calls=1
         console_reply client=1 calls=2
         console_arm client=1
         console_disarm client=1
         console_disarm client=1
         create id=2 proc=p
         user_count name=a by=1
         console_reply client=1 calls=7
         console_arm client=1
         poll_start id=1 proc=p
         console_reply client=1 calls=0",
        &[
            "4 reply_differs client 1",
            "5 switched_twice client 1",
            "7 switched_twice client 1",
            "8 unarmed call 2",
            "9 unarmed user data",
            "13 reply_differs client 1",
        ],
    );
    check(
        "console_connect client=1
         create id=1 proc=p
         poll_start id=1
         task_begin task=3 root=1
         poll_end id=1 r=pending
         console_resume client=1 task=3
         console_pause client=1 task=3
         console_pause client=1 task=3
         poll_start id=1
         console_resume client=1 task=3",
        &[
            "6 not_paused task 3 (client 1)",
            "8 paused_twice task 3 (client 1)",
            "9 paused_poll task 3 (call 1)",
        ],
    );
}

#[test]
fn what_came_while_nobody_looked_is_believed() {
    // Accounting is turned on late: all that is unknown was there before.
    check(
        "console_connect client=1
         console_arm client=1
         poll_start id=1 proc=p
         task_woken task=4
         task_dropped task=4
         resource_taken resource=1 ticket=2 task=4 role=lock
         resource_released resource=9 ticket=2
         resource_left resource=9 ticket=3
         intent_sure intent=1
         poll_end id=1 r=ready
         poll_end id=2 r=pending",
        &["11 orphan_end call 2"],
    );
}

#[test]
fn a_report_is_one_line() {
    let stream = stream("create id=1 proc=p\n poll_start id=1\n poll_start id=1 th=2");
    let streams = event_file::read(&stream, &mut Names::default()).expect("a stream");
    let told = reports(&streams[0].events);
    assert_eq!(
        told[0].to_string(),
        "event 3, t 3, thread 2: overlapping_poll: call 1: polled, and a poll of it is open (thread 1)"
    );
}

#[test]
fn every_rule_is_broken_here() {
    let source = include_str!("rules.rs");
    for row in RULES {
        assert!(
            source.contains(&format!(" {} ", row.id)),
            "{} is not shown",
            row.id
        );
    }
}

#[test]
fn what_is_not_in_the_format_is_refused_with_its_place() {
    let check = |file: &str, expected: &str| {
        let error = event_file::read(file, &mut Names::default())
            .map(|_| ())
            .expect_err(file);
        assert!(error.contains(expected), "{error} does not say {expected}");
    };
    check("{", "not JSON: EOF");
    check("[]", "the file: not an object");
    check("{}", "events: it is missing");
    check(
        r#"{"format": 3}"#,
        "format: 3 is not \"turbowish-events/1\"",
    );
    check(
        r#"{"events": [7]}"#,
        "event number 1: the event: not an object",
    );
    check(
        r#"{"vectors": [{}]}"#,
        "vector number 1: name: it is missing",
    );
    check(
        r#"{"vectors": [{"name": "v"}]}"#,
        "vector v: events: it is missing",
    );
    for (event, expected) in [
        ("nothing", "k: \"nothing\" is not one of create, "),
        ("task_born task=1", "k: \"task_born\" is not one of"),
        ("task_begin task=1", "root: it is missing"),
        ("task_end task=-1", "task: -1 is not an unsigned"),
        (
            "resource_made resource=1 kind=lock",
            "kind: \"lock\" is not one of mutex, rwlock, ",
        ),
        (
            "resource_wait resource=1 ticket=1 task=1 role=hold",
            "role: \"hold\" is not one of lock, ",
        ),
        ("resource_left resource=1", "ticket: it is missing"),
        (
            "resource_put resource=1 items=x",
            "items: \"x\" is not an unsigned",
        ),
        (
            "intent_made intent=1 task=1 resource=1 role=lock strength=must",
            "strength: \"must\" is not one of will, may",
        ),
        ("user_gauge name=a value=x", "value: it is not a signed"),
        ("user_count name=1 by=1", "name: 1 is not a string"),
        ("console_reply client=1", "calls: it is missing"),
        ("create id=1", "proc: it is missing"),
        (
            "poll_end id=1 r=over",
            "r: \"over\" is not pending, ready, panic or drop",
        ),
        (
            "task_end task=1 t=x",
            "event number 1: t: \"x\" is not an unsigned",
        ),
    ] {
        check(&stream(event), expected);
    }
}
