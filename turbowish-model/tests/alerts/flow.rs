//! Channels: without bound, always full, with nobody who receives.

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::Strength;
use turbowish_model::snapshot::TaskState;

use crate::play::{Play, check, check_still};
use turbowish_testing::situations::{MS, SECOND, START, SituationBuilder};

/// Items a second in and out of an unbounded channel.
fn fills(put: u64, took: u64) -> impl FnMut(&mut SituationBuilder, u64) {
    move |stage, ms| {
        let channel = stage.on("jobs");
        channel.flow.put = put * ms / 1_000;
        channel.flow.took = took * ms / 1_000;
        channel.length = (channel.flow.put).saturating_sub(channel.flow.took);
    }
}

#[test]
fn a_channel_without_bound_fills() {
    let build = |capacity| {
        move |stage: &mut SituationBuilder| {
            stage.resource(Kind::Mpsc, "jobs", capacity);
        }
    };
    check(
        build(None),
        15_000,
        fills(400, 200),
        &[
            "10250 + warning unbounded growth: mpsc jobs holds 2050 items and grows, in 400/s, out 200/s",
        ],
    );
    check(build(None), 9_900, fills(4_000, 200), &[]);
    check(build(None), 60_000, fills(400, 400), &[]);
    check(build(None), 10_750, fills(90, 0), &[]);
    check(build(Some(1_000_000)), 60_000, fills(400, 200), &[]);
    // It grows, and is emptied.
    check(
        build(None),
        60_000,
        |stage, ms| {
            fills(400, 200)(stage, ms);
            let channel = stage.on("jobs");
            channel.length += 5_000;
            if ms % 9_000 == 0 {
                channel.length = 0;
            }
        },
        &[],
    );
}

#[test]
fn a_bounded_channel_is_always_full() {
    let build = |length, inside| {
        move |stage: &mut SituationBuilder| {
            let channel = stage.resource(Kind::Mpsc, "jobs", Some(100));
            channel.length = length;
            channel.flow.inside_p99_ns = inside;
        }
    };
    let slow = Some(1_200 * MS);
    check_still(
        build(90, slow),
        15_000,
        &[
            "10000 + warning buffer bloat 1.20 s: time of an item in mpsc jobs, which is full, 90 of 100",
        ],
    );
    check_still(build(89, slow), 60_000, &[]);
    check_still(build(90, Some(SECOND)), 60_000, &[]);
    check_still(build(90, None), 60_000, &[]);
    check(
        build(100, slow),
        60_000,
        |stage, ms| stage.on("jobs").length = if ms % 9_000 == 0 { 50 } else { 100 },
        &[],
    );
}

/// `send` waits on a full channel since the beginning; `recv`, which receives from it, rests.
fn blocked(stage: &mut SituationBuilder) {
    stage.task("send", "send.rs:3 jobs.send(job)");
    stage.task("recv", "recv.rs:7 http.get(url)");
    stage.resource(Kind::Mpsc, "jobs", Some(1)).length = 1;
    stage.waits("send", Role::Send, "jobs");
    stage.uses("recv", Role::Receive, "jobs");
}

#[test]
fn a_sender_whose_receiver_does_not_receive() {
    let mut stage = SituationBuilder::new();
    blocked(&mut stage);
    let mut play = Play::new(stage);
    play.until(7_000, |_, _| ());
    assert_eq!(
        play.log,
        [
            "5000 + alert blocked sender 5.00 s+: send waits on full mpsc jobs; its receiver recv is not polled"
        ]
    );
    assert_eq!(
        play.last[0].why,
        "mpsc jobs is full. Its receiver recv waits at recv.rs:7 instead of receiving."
    );
    check_still(
        |stage| {
            blocked(stage);
            stage.on("jobs").ends[0].user = Some(4_711);
        },
        7_000,
        &[
            "5000 + alert blocked sender 5.00 s+: send waits on full mpsc jobs; the task that received from it has ended",
        ],
    );
}

#[test]
fn a_receiver_that_comes_back_or_is_not_known() {
    let near = |change: fn(&mut SituationBuilder, u64)| check(blocked, 20_000, change, &[]);
    near(|stage, ms| stage.get("recv").since = START + ms / 4_000 * 4_000 * MS);
    near(|stage, ms| stage.on("jobs").waiters[0].since = START + ms / 4_000 * 4_000 * MS);
    near(|stage, _| stage.get("recv").state = TaskState::Polling);
    near(|stage, _| stage.get("recv").paused = true);
    near(|stage, _| stage.on("jobs").length = 0);
    near(|stage, _| stage.on("jobs").closed = true);
    near(|stage, _| stage.on("jobs").waiters[0].woken = Some(START));
    near(|stage, _| stage.on("jobs").ends[0].user = None);
    near(|stage, _| stage.on("jobs").ends.clear());
    check_still(
        |stage| {
            blocked(stage);
            stage.task("other", "o.rs:1 sleep(day)");
            stage.means_to("other", Strength::May, Role::Receive, "jobs");
        },
        20_000,
        &[],
    );
}

/// The receiver's task goes on, but the call that received was cancelled.
#[test]
fn a_sender_whose_receiver_means_to_receive_no_more() {
    let busy = |stage: &mut SituationBuilder, ms: u64| stage.get("recv").since = START + ms * MS;
    check(
        |stage| {
            blocked(stage);
            stage.on("jobs").flow.deserted = Some(START + SECOND);
        },
        8_000,
        busy,
        &[
            "6000 + alert blocked sender 5.00 s+: send waits on full mpsc jobs; recv no longer intends to receive",
        ],
    );
    // Nobody ever meant to, or somebody does again.
    check(blocked, 8_000, busy, &[]);
    check(
        blocked,
        8_000,
        |stage, ms| {
            busy(stage, ms);
            let again = ms >= 3_000;
            stage.on("jobs").flow.deserted = (!again).then_some(START);
        },
        &[],
    );
}
