//! The mock executor with real futures: what it tells goes through the model, what happens through
//! the process, and both show the same.
//!
//! Tasks of annotated functions are polled in the mock's order, on threads of their own, by wakers
//! that the executor made; calls poll each other, wait for real locks, wake, panic, and are
//! dropped; consoles arm, disarm, and ask in the middle of it. Whenever one asks, and at the end,
//! all events up to then is replayed and validated, and compared with what the process shows.

mod compare;
mod world;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use turbowish_model::event::{CallEvent, ConsoleEvent, Event, EventKind};
use turbowish_testing::mock::{self, Mock, Step, WORKERS};

use self::world::World;
use super::stage::{EarlyBirths, alone, set_time};
use crate::hot::{switch, thread};
use crate::monitor::Monitor;

/// What a worker is asked to poll: the root of a task.
type Job = (u64, u64);

/// Plays what the mock decides; returns the events.
fn play(seed: u64, decisions: u32, switches: bool) -> Vec<Event> {
    switch::disarm();
    thread::take_enrolled();
    let mock = Mock::new(seed, decisions, switches);
    set_time(mock.now());
    let monitor = Monitor::new("both ends".to_owned());
    if mock.is_armed() {
        monitor.arm();
    }
    let world = Arc::new(World::new(mock, monitor, seed));
    std::thread::scope(|scope| {
        let workers: Vec<(Sender<Job>, Receiver<()>)> = (0..WORKERS)
            .map(|_| {
                let (send, jobs) = channel::<Job>();
                let (done, over) = channel();
                let world = world.clone();
                scope.spawn(move || {
                    for (task, call) in jobs {
                        world.run(task, call);
                        let _ = done.send(());
                    }
                });
                (send, over)
            })
            .collect();
        loop {
            world.compare_wakes();
            match world.next() {
                Step::Over => break,
                Step::Run { task, call, worker } => {
                    world.begin(task);
                    let (send, over) = &workers[worker as usize - 1];
                    send.send((task, call)).expect("a worker");
                    over.recv().expect("its poll ended");
                }
                step => world.perform(step, None),
            }
        }
    });
    world.compare();
    assert_eq!(world.leftovers(), [0; 4], "seed {seed}");
    world.disarm();
    world.told()
}

/// Of so many seeds; returns how many queries met live calls, and polls of calls that came late.
fn check(seeds: std::ops::Range<u64>, switches: bool) -> [usize; 2] {
    let alone = alone();
    let _early = EarlyBirths::of(&alone);
    let mut met = [0; 2];
    for seed in seeds {
        let told = play(seed, 250, switches);
        for event in &told {
            match event.kind {
                EventKind::Console {
                    kind: ConsoleEvent::Reply { calls: 1.. },
                    ..
                } => met[0] += 1,
                EventKind::Call {
                    kind: CallEvent::PollStart { proc: Some(_), .. },
                    ..
                } => met[1] += 1,
                _ => {}
            }
        }
        // Nothing that happens flows back: with nothing there, the events are the same.
        assert_eq!(told, mock::run(&mut Mock::new(seed, 250, switches)));
    }
    met
}

#[test]
fn the_model_and_the_process_show_the_same() {
    let [answers, late] = check(0..40, false);
    assert!(answers > 200 && late == 0, "{answers} {late}");
}

#[test]
fn they_do_wherever_accounting_is_switched() {
    let [answers, late] = check(1000..1060, true);
    assert!(answers > 100 && late > 100, "{answers} {late}");
}
