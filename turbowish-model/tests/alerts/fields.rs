//! Futures that fail unheard, that are large, that nobody awaits or that are dropped half-way; and
//! too many events.

use turbowish_model::diagnose::situation::{
    Cut, Ended, ForcedYields, Panic, PollsAfterEnd, Proc, Site, Source,
};

use crate::play::{check, check_still};
use turbowish_testing::situations::{START, SituationBuilder, place, spot};

#[test]
fn a_panic_that_nobody_hears_of() {
    let build = |detached| {
        move |stage: &mut SituationBuilder| {
            stage.situation.ended.push(Ended {
                id: 9,
                name: "flush-3".to_owned(),
                root: "app::flush".to_owned(),
                at: START,
                detached,
                panic: None,
                spawned: Some(spot("main.rs:31")),
                place: Some(place("flush.rs:7 file.sync_data()")),
            });
        }
    };
    let forget = |stage: &mut SituationBuilder, ms: u64| {
        if ms == 30_000 {
            stage.situation.ended.clear();
        }
    };
    check(
        build(Some(true)),
        120_000,
        forget,
        &[
            "0 + alert detached failure: flush-3 panicked at flush.rs:7, and no code saw the error",
            "89750 - detached_failure",
        ],
    );
    // The next one of the same kind is no other alert.
    check(
        build(Some(true)),
        5_000,
        |stage, ms| {
            if ms == 1_000 {
                let again = stage.situation.ended[0].clone();
                stage.situation.ended.push(Ended {
                    id: 10,
                    name: "flush-4".to_owned(),
                    at: START + 1_000_000_000,
                    ..again
                });
            }
        },
        &["0 + alert detached failure: flush-3 panicked at flush.rs:7, and no code saw the error"],
    );
    // With the panic hook's words.
    check(
        |stage| {
            build(Some(true))(stage);
            stage.situation.ended[0].panic = Some(Panic {
                message: Some("no such host".to_owned()),
                place: Some(spot("dns.rs:12")),
            });
        },
        5_000,
        |_, _| {},
        &[
            "0 + alert detached failure: flush-3 panicked at flush.rs:7 (no such host), and no code \
             saw the error",
        ],
    );
    check(build(Some(false)), 5_000, forget, &[]);
    check(build(None), 5_000, forget, &[]);
}

#[test]
fn a_future_that_is_polled_after_its_end() {
    let build = |stage: &mut SituationBuilder| {
        stage.situation.polled_after_end.push(PollsAfterEnd {
            proc: "app::fetch".to_owned(),
            by: Some("app::serve".to_owned()),
            place: Some(place("serve.rs:7 &mut fetch")),
            times: 1,
            task: Some("serve-3".to_owned()),
        });
    };
    let once_more = |stage: &mut SituationBuilder, ms: u64| {
        if ms == 5_000 {
            stage.situation.polled_after_end[0].times += 1;
        }
    };
    check(
        build,
        120_000,
        once_more,
        &[
            "0 + alert polled after end: fetch was over, and polled 1 time more at serve.rs:7",
            "65000 - polled_after_end",
        ],
    );
    let foreign = |stage: &mut SituationBuilder| {
        build(stage);
        let polls = &mut stage.situation.polled_after_end[0];
        (polls.by, polls.place, polls.task) = (None, None, None);
    };
    check_still(
        foreign,
        1_000,
        &["0 + alert polled after end: fetch was over, and polled 1 time more at an unknown place"],
    );
}

#[test]
fn polls_that_tokio_makes_end() {
    let drain = |stage: &mut SituationBuilder| {
        proc(stage, "app::drain").forced = ForcedYields {
            times: 0,
            proc: "app::take".to_owned(),
            place: Some(place("take.rs:7 queue.recv()")),
        };
    };
    let polls = |polls: u64, forced: u64| {
        move |stage: &mut SituationBuilder, ms: u64| {
            let proc = &mut stage.situation.procs[0];
            proc.polls = ms / 250 * polls;
            proc.forced.times = ms / 250 * forced;
        }
    };
    let title = "budget exhausted: 11.0% of 1000 polls of app::drain, at take.rs:7";
    check(
        drain,
        30_000,
        polls(100, 11),
        &[&format!("2500 + note {title}")],
    );
    check(drain, 30_000, polls(100, 10), &[]);
    // There are too few of them.
    check(drain, 5_000, polls(4, 4), &[]);
}

fn proc<'a>(stage: &'a mut SituationBuilder, path: &str) -> &'a mut Proc {
    stage.situation.procs.push(Proc {
        path: path.to_owned(),
        spot: spot("write.rs:9"),
        ..Proc::default()
    });
    stage.situation.procs.last_mut().expect("a proc")
}

#[test]
fn large_futures() {
    let build = |bytes| {
        move |stage: &mut SituationBuilder| {
            let proc = proc(stage, "app::write");
            proc.future_bytes = bytes;
            proc.parts = vec![("buf.fill()".to_owned(), bytes - 100)];
        }
    };
    check_still(
        build(24 << 10),
        5_000,
        &["0 + warning large future: app::write is 24KiB"],
    );
    check_still(build((16 << 10) - 1), 5_000, &[]);
    // It is large because of what it awaits, which is named.
    check_still(
        |stage| {
            build(24 << 10)(stage);
            let outer = proc(stage, "app::serve");
            outer.future_bytes = 25 << 10;
            outer.parts = vec![("app::write".to_owned(), 24 << 10)];
        },
        5_000,
        &["0 + warning large future: app::write is 24KiB"],
    );
    // That alone does not make it so large. (Of two that begin at one instant, the play tells the
    // first.)
    check_still(
        |stage| {
            build(24 << 10)(stage);
            let outer = proc(stage, "app::serve");
            outer.future_bytes = 64 << 10;
            outer.parts = vec![("app::write".to_owned(), 24 << 10)];
        },
        5_000,
        &["0 + warning large future: app::serve is 64KiB"],
    );
}

#[test]
fn calls_that_nobody_awaits() {
    let ended = |never_polled, polls, lost_races| {
        move |stage: &mut SituationBuilder| {
            let proc = proc(stage, "app::write");
            (proc.never_polled, proc.polls, proc.lost_races) = (never_polled, polls, lost_races);
        }
    };
    let three = [
        "0 + warning never polled: app::write, 3 calls dropped without a poll",
        "60000 - never_polled",
    ];
    check_still(ended(3, 0, None), 70_000, &three);
    check_still(ended(7, 900, Some(4)), 70_000, &three);
    // The loser of a select! is dropped like this now and then.
    check_still(ended(3, 1, None), 5_000, &[]);
    check_still(ended(3, 1, Some(3)), 5_000, &[]);
    check_still(ended(0, 9, Some(0)), 5_000, &[]);
}

#[test]
fn branches_dropped_when_they_had_taken_something() {
    let build = |select, timeout| {
        move |stage: &mut SituationBuilder| {
            proc(stage, "app::serve").sites.push(Site {
                place: place("serve.rs:20 select!"),
                cut_in_select: select,
                cut_in_timeout: timeout,
                cut: Some(Cut {
                    proc: "app::read_frame".to_owned(),
                    place: Some(place("frame.rs:9 self.rx.recv()")),
                    did: "recv".to_owned(),
                    resource: "mpsc bytes".to_owned(),
                    resource_id: 0,
                }),
            });
        }
    };
    check_still(
        build(Some(1), Some(0)),
        90_000,
        &[
            "0 + warning cancel-unsafe select!: app::read_frame was dropped at frame.rs:9 after recv on mpsc bytes, 1 time",
            "60000 - cancel_unsafe_select",
        ],
    );
    check_still(
        build(Some(0), Some(2)),
        1_000,
        &[
            "0 + warning timeout leaves work half done: app::read_frame was dropped at frame.rs:9 after recv on mpsc bytes, 2 times",
        ],
    );
    check_still(build(Some(0), None), 1_000, &[]);
    // It goes on: one alert.
    check(
        build(Some(1), None),
        200_000,
        |stage, _| stage.situation.procs[0].sites[0].cut_in_select = Some(stage.situation.now),
        &[
            "0 + warning cancel-unsafe select!: app::read_frame was dropped at frame.rs:9 after recv on mpsc bytes, 1.00T times",
        ],
    );
}

/// A percent below the limit is silent, and one above it is not, whatever makes the events.
#[test]
fn more_events_than_accounting_is_made_for() {
    let build = |name: &'static str, events, resource: Option<&'static str>| {
        move |stage: &mut SituationBuilder| {
            stage.situation.sources.push(Source {
                name: name.to_owned(),
                events,
                noisiest: resource.is_none().then(|| "app::tick".to_owned()),
                resource: resource.map(|name| (7, name.to_owned())),
            });
        }
    };
    let sources = [
        ("polls", None, "app::tick"),
        ("wake-ups", None, "app::tick"),
        ("counters", None, "app::tick"),
        ("resources", Some("mutex db"), "mutex db"),
    ];
    for (name, resource, most) in sources {
        let expected = format!(
            "250 + warning overload: {name} produced 1.01M events in 100 ms, most of them from {most}"
        );
        check_still(build(name, 1_010_000, resource), 1_000, &[&expected]);
        check_still(build(name, 1_000_000, resource), 5_000, &[]);
        check_still(build(name, 990_000, resource), 5_000, &[]);
    }
}
