//! Live tasks as the alert rules see them: a glance at each, and a full reading of those that
//! matter.
//!
//! There may be a million tasks, and nearly all of them wait. A task is *at rest* if it waits, can
//! be woken, has no future that was woken, and either was not polled since the previous situation
//! or has done so little in total that no rule applies. Nothing is kept of such a task, here or in
//! the situation.
//!
//! A task is *calm* if it waits and can be woken in the same way, and since the previous situation
//! was polled less than 100 times a second, and was in polls for less than half of the time. With
//! the default limits, no rule applies to such a task alone. It may be the one that is polled while
//! others starve, or one of those that sleep through a long poll: so of many with the same root,
//! some are read. A reading with its part of the situation takes about 1.1 KB, and a server may
//! have 200,000 tasks that each do a little every second.

use turbowish_model::account::task::{Glance, Pause};
use turbowish_model::diagnose::alert::SLEEPERS_KEPT;
use turbowish_model::ordered::{Map, Set};

use crate::hot::task::{self, TaskRow};
use crate::monitor::collector::ThreadNow;
use crate::monitor::tasks::{LiveTask, first_polls};

/// All live tasks at one instant.
pub(in crate::monitor) struct Crowd {
    epoch: u32,
    pauses: Map<u64, Pause>,
    /// Tasks that are not at rest, and tasks that use a resource.
    picked: Vec<LiveTask>,
    /// Number of the picked tasks that were read before the resources.
    early: usize,
    /// Wakes since the previous situation, by root proc.
    pub(super) wakes: Map<u32, u64>,
    /// Number of tasks by root proc.
    roots: Vec<RootCounts>,
    /// [`Pick::idle`]
    idle: u64,
}

/// The tasks with a row whose root is a call of one proc.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RootCounts {
    pub(super) live: u64,
    /// Those that wait, and were not polled or woken for some time.
    pub(super) idle: u64,
    /// Those that are calm and not at rest.
    calm: u64,
}

/// Maximum number of polls of a task that has done little.
const FEW_POLLS: u64 = 10;
/// Maximum length of its polls, in nanoseconds.
const SHORT_POLL: u64 = 1_000_000;
/// Maximum number of tasks of one root that are looked at only to see where they wait.
const SAMPLE: u64 = 256;
/// Maximum number of calm tasks of one root that are read: as many as are remembered to tell which
/// ones slept through a long poll.
const CALM: u64 = SLEEPERS_KEPT as u64;

/// Criteria for a task at rest.
#[derive(Clone, Copy)]
pub(in crate::monitor) struct Pick {
    pub(in crate::monitor) epoch: u32,
    /// Instant of the previous situation, in ticks; 0 if there was none.
    pub(in crate::monitor) before: u64,
    /// [`SHORT_POLL`] in ticks.
    pub(in crate::monitor) short: u64,
    /// A task that was not polled since this instant, in ticks, is idle.
    pub(in crate::monitor) idle: u64,
    /// Time since the previous situation, in ticks.
    pub(in crate::monitor) passed: u64,
}

impl Pick {
    /// Whether a task is at rest if its wakers allow it: see the module.
    fn rests(self, glance: &Glance) -> bool {
        // Not polled since accounting was armed.
        let unseen = glance.epoch != self.epoch;
        let still = glance.since < self.before;
        let small = glance.polls <= FEW_POLLS && glance.longest < self.short;
        unseen || !glance.is_polled && (still || small)
    }

    /// Whether a task that was woken so often since the previous situation is calm if its wakers
    /// allow it: see the module.
    fn is_calm(self, glance: &Glance, wakes: u32) -> bool {
        // It may have been polled once more, for a wake before that.
        let polls = u64::from(wakes) + 1;
        // 5 ms: 100 of them are half of a second.
        let poll = glance.longest.max(5 * self.short);
        !glance.is_polled && polls.saturating_mul(poll) < self.passed / 2
    }
}

impl Crowd {
    pub(in crate::monitor) const SHORT_POLL: u64 = SHORT_POLL;

    /// Reads all live tasks. The threads were read before.
    pub(in crate::monitor) fn read(
        threads: &[ThreadNow],
        pauses: Map<u64, Pause>,
        pick: Pick,
    ) -> Self {
        let mut crowd = Self {
            epoch: pick.epoch,
            pauses,
            picked: Vec::new(),
            early: 0,
            wakes: Map::new(),
            roots: Vec::new(),
            idle: pick.idle,
        };
        let mut first_poll = first_polls(threads);
        for row in task::each() {
            let wakes = row.wakes_since_told();
            if wakes > 0 {
                *crowd.wakes.entry(row.root()).or_default() += u64::from(wakes);
            }
            // The threads were read first: a task in its first poll may have got its row since.
            first_poll.retain(|one| one.meta.id != row.id());
            let Some(glance) = row.glance() else { continue };
            let unseen = glance.epoch != pick.epoch;
            let counts = at(&mut crowd.roots, row.root());
            let rests = if pick.rests(&glance) {
                unseen || row.may_rest()
            } else {
                let is_calm = row.sees_wakes() && pick.is_calm(&glance, wakes) && row.may_rest();
                counts.calm += u64::from(is_calm);
                is_calm && counts.calm > CALM
            };
            counts.live += 1;
            counts.idle += u64::from(is_idle(&row, &glance, pick.idle, rests));
            if !rests {
                let picked = LiveTask::read(&row, pick.epoch, &|_| 0);
                crowd.picked.extend(picked);
            }
        }
        crowd.picked.append(&mut first_poll);
        crowd.tell_pauses(0);
        crowd.take_branches();
        crowd.early = crowd.picked.len();
        crowd
    }

    fn tell_pauses(&mut self, from: usize) {
        for one in &mut self.picked[from..] {
            one.reading.pause = self.pauses.remove(&one.meta.id).map(Box::new);
        }
    }

    /// Adds the branches of the picked tasks, and picks tasks with woken branches.
    fn take_branches(&mut self) {
        let picked: Set<u64> = self.picked.iter().map(|one| one.meta.id).collect();
        let mut branches =
            task::branches(|branch| branch.is_woken() || picked.contains(&branch.owner()));
        let woken = branches.keys().filter(|task| !picked.contains(*task));
        let woken: Set<u64> = woken.copied().collect();
        for one in &mut self.picked {
            one.take_branches(&mut branches, &|_| 0);
        }
        self.pick(&woken);
    }

    /// Picks these tasks as well, with all of their branches.
    pub(in crate::monitor) fn pick(&mut self, more: &Set<u64>) {
        let known: Set<u64> = self.picked.iter().map(|one| one.meta.id).collect();
        let more: Set<u64> = more.difference(&known).copied().collect();
        if more.is_empty() {
            return;
        }
        let from = self.picked.len();
        let rows = task::each().filter(|row| more.contains(&row.id()));
        let epoch = self.epoch;
        self.picked
            .extend(rows.filter_map(|row| LiveTask::read(&row, epoch, &|_| 0)));
        self.tell_pauses(from);
        let mut branches = task::branches(|branch| more.contains(&branch.owner()));
        for one in &mut self.picked[from..] {
            one.take_branches(&mut branches, &|_| 0);
        }
    }

    /// Number of tasks by root proc, those without any left out.
    pub(super) fn roots(&self) -> impl Iterator<Item = (u32, RootCounts)> {
        let roots = (0..).zip(self.roots.iter().copied());
        roots.filter(|(_, counts)| counts.live > 0)
    }

    /// Picks idle tasks of each of these root procs, evenly among all, to see where they wait.
    pub(in crate::monitor) fn sample(&mut self, roots: &[u32]) {
        let mut sample = Set::new();
        for &root in roots {
            let counts = self.roots.get(root as usize);
            let step = counts.map_or(1, |counts| counts.live.div_ceil(SAMPLE).max(1));
            let rows = task::each().filter(|row| row.root() == root);
            let idle = rows.step_by(step as usize).filter(|row| {
                let glance = row.glance();
                glance.is_some_and(|glance| is_idle(row, &glance, self.idle, false))
            });
            sample.extend(idle.map(|row| row.id()));
        }
        self.pick(&sample);
    }

    /// The tasks that have not been polled since the resources were read: after a poll, a task may
    /// be at an await point for another reason.
    pub(super) fn settled(&self, at: u64) -> impl Iterator<Item = &LiveTask> {
        let (early, late) = self.picked.split_at(self.early);
        let late = late.iter().filter(move |one| one.reading.since < at);
        early.iter().chain(late)
    }

    /// The picked tasks.
    pub(in crate::monitor) fn picked(&self) -> &[LiveTask] {
        &self.picked
    }
}

/// Whether a task waits, and was not polled since the instant `since` or woken. `rests`: it is
/// known not to be woken.
fn is_idle(row: &TaskRow, glance: &Glance, since: u64, rests: bool) -> bool {
    let waits = !glance.is_polled && glance.since < since;
    waits && (rests || !row.is_woken())
}

fn at(roots: &mut Vec<RootCounts>, root: u32) -> &mut RootCounts {
    let at = root as usize;
    if roots.len() <= at {
        roots.resize(at + 1, RootCounts::default());
    }
    &mut roots[at]
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};
    use turbowish_model::ordered::{Map, Set};

    use turbowish_model::account::task::Glance;

    use super::{CALM, Crowd, FEW_POLLS, Pick};
    use crate::hot::{clock, task};
    use crate::monitor::Monitor;
    use crate::tests::stage::{advance, alone};

    /// The waker of each task's last poll. The tests run one after the other.
    static WAKERS: Mutex<Vec<Option<Waker>>> = Mutex::new(Vec::new());

    #[turbowish::instrument]
    async fn parks_in_a_crowd(nth: usize) {
        let park = |cx: &mut Context<'_>| {
            WAKERS.lock().expect("no panic")[nth] = Some(cx.waker().clone());
            Poll::<()>::Pending
        };
        poll_fn(park).await;
    }

    fn waker(nth: usize) -> Waker {
        let waker = WAKERS.lock().expect("no panic")[nth].take();
        waker.expect("the task was polled")
    }

    fn drop_wakers() {
        let wakers = std::mem::take(&mut *WAKERS.lock().expect("no panic"));
        drop(wakers);
    }

    /// Whether a proc is that of the tasks.
    fn is_root(id: u32) -> bool {
        let path = &crate::hot::proc::all()[id as usize].path;
        path.ends_with("::parks_in_a_crowd")
    }

    /// Tasks that were polled so often and wait.
    fn parked(tasks: usize, polls: u64) -> Vec<Pin<Box<dyn Future<Output = ()>>>> {
        WAKERS.lock().expect("no panic").resize(tasks, None);
        let mut context = Context::from_waker(Waker::noop());
        let mut parked: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
        for nth in 0..tasks {
            parked.push(Box::pin(parks_in_a_crowd(nth)));
        }
        for _ in 0..polls {
            for task in &mut parked {
                assert!(task.as_mut().poll(&mut context).is_pending());
            }
        }
        parked
    }

    fn pick_of(monitor: &Monitor, before: u64, idle: u64, passed: u64) -> Pick {
        Pick {
            epoch: monitor.state().switched.epoch,
            before,
            short: clock::scale().ticks(Crowd::SHORT_POLL),
            idle,
            passed,
        }
    }

    /// Full readings are limited to the tasks of a situation: of many tasks that were created and
    /// wait, none is read.
    #[test]
    fn tasks_that_were_just_parked_are_not_read() {
        const TASKS: usize = 500;
        let _alone = alone();
        let monitor = Monitor::new("test".into());
        monitor.arm();
        advance(1);
        let _tasks = parked(TASKS, 1);
        let (totals, threads) = monitor.totals();
        let read = |before| {
            let crowd = Crowd::read(&threads, Map::new(), pick_of(&monitor, before, 0, 0));
            let rows = task::each().filter(|row| is_root(row.root()));
            let ids: Set<u64> = rows.map(|row| row.id()).collect();
            let picked = crowd.picked().iter();
            let picked = picked.filter(|one| ids.contains(&one.meta.id)).count();
            (crowd, ids, picked)
        };
        // Polled since the previous situation, or before any.
        for before in [0, 1] {
            let (_, ids, picked) = read(before);
            assert_eq!((ids.len(), picked), (TASKS, 0));
        }
        // All are counted, and those that did nothing since some instant; a part of these is read.
        let procs = crate::hot::proc::all().len();
        let roots = (0..).take_while(|id| (*id as usize) < procs);
        let roots: Vec<u32> = roots.filter(|id| is_root(*id)).collect();
        let counts = |idle| {
            let mut crowd = Crowd::read(&threads, Map::new(), pick_of(&monitor, 1, idle, 0));
            let of_root = crowd.roots().find(|(id, _)| roots.contains(id));
            crowd.sample(&roots);
            let (_, counts) = of_root.expect("live tasks");
            let picked = crowd.picked().iter().map(|one| one.meta.root());
            let picked = picked.filter(|id| roots.contains(id)).count();
            (counts.live, counts.idle, picked)
        };
        let all = TASKS as u64;
        assert_eq!(counts(0), (all, 0, 0));
        assert_eq!(counts(u64::MAX), (all, all, TASKS / 2));
        // A woken task is picked, and so is one that uses a resource.
        let eighth = waker(7);
        eighth.wake_by_ref();
        let (mut crowd, ids, picked) = read(totals.at);
        assert_eq!(picked, 1);
        assert_eq!(counts(u64::MAX).1, all - 1);
        let woken = crowd.picked().iter().map(|one| one.meta.id);
        let woken: Set<u64> = woken.collect();
        let claimed: Set<u64> = ids.difference(&woken).copied().take(2).collect();
        crowd.pick(&claimed);
        let picked = crowd.picked().iter().map(|one| one.meta.id);
        let picked: Set<u64> = picked.collect();
        assert!(claimed.is_subset(&picked) && woken.is_subset(&picked));
        // Tasks that nothing can wake any more are picked.
        drop(eighth);
        drop_wakers();
        assert_eq!(read(0).2, TASKS);
        monitor.disarm();
    }

    /// Tasks that are polled now and then: of these, too, few are read, however many there are.
    /// One that is woken, and one that nothing can wake, is always among them.
    #[test]
    fn of_many_calm_tasks_some_are_read() {
        const TASKS: usize = CALM as usize + 100;
        let _alone = alone();
        let monitor = Monitor::new("test".into());
        monitor.arm();
        advance(1);
        let _tasks = parked(TASKS, FEW_POLLS + 1);
        let (_, threads) = monitor.totals();
        let picked = |passed| {
            let crowd = Crowd::read(&threads, Map::new(), pick_of(&monitor, 1, 0, passed));
            let of_root = crowd.roots().find(|(id, _)| is_root(*id));
            assert_eq!(of_root.expect("live tasks").1.live, TASKS as u64);
            let picked = crowd.picked().iter();
            picked.filter(|one| is_root(one.meta.root())).count()
        };
        // No time has passed: each may have been in polls all the time.
        assert_eq!(picked(0), TASKS);
        let second = clock::scale().ticks(1_000_000_000);
        assert_eq!(picked(second), CALM as usize);
        waker(TASKS - 2).wake();
        assert_eq!(picked(second), CALM as usize + 1);
        drop(waker(TASKS - 1));
        assert_eq!(picked(second), CALM as usize + 2);
        drop_wakers();
        monitor.disarm();
    }

    #[test]
    fn a_task_that_waits_and_did_nothing_of_note_rests() {
        let pick = Pick {
            epoch: 3,
            before: 1_000,
            short: 100,
            idle: 0,
            passed: 10_000,
        };
        let rested = Glance {
            epoch: 3,
            since: 500,
            polls: 1_000,
            longest: 400,
            ..Glance::default()
        };
        let polled = Glance {
            since: 1_000,
            ..rested
        };
        let check = |glance: Glance, expected| {
            assert_eq!(pick.rests(&glance), expected, "{glance:?}");
        };
        check(rested, true);
        check(polled, false);
        let few = Glance {
            polls: 10,
            ..polled
        };
        check(few, false);
        check(Glance { longest: 99, ..few }, true);
        check(
            Glance {
                longest: 99,
                ..polled
            },
            false,
        );
        let is_polled = |glance| Glance {
            is_polled: true,
            ..glance
        };
        check(is_polled(rested), false);
        let past = Glance {
            epoch: 1,
            ..is_polled(polled)
        };
        check(past, true);
        // Half of the time is 5,000, of which each poll takes 500 at least. One poll more is for an
        // earlier wake.
        for (longest, wakes, expected) in [
            (0, 8, true),
            (0, 9, false),
            (1_000, 3, true),
            (1_000, 4, false),
            (4_999, 0, true),
        ] {
            let glance = Glance { longest, ..polled };
            assert_eq!(pick.is_calm(&glance, wakes), expected, "{longest} {wakes}");
            assert!(!pick.is_calm(&is_polled(glance), wakes));
        }
    }
}
