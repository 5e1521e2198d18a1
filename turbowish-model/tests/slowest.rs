//! Where the time of slow calls went, against an oracle: random programs whose calls write down
//! themselves where they stood.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::account::call::{Call, PollEnd, ProcKey};
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::paths::Paths;
use turbowish_model::account::slow::{SlowLimit, SlowPart, class_of};
use turbowish_testing::numbers::Numbers;

/// A clock's reading long after the machine was started.
const BOOT: u64 = 5_000_000_000_000_000;
/// No poll is late, so that nothing is shared out.
const NEVER: u64 = u64::MAX;
/// Await points that are told apart in one class.
const AWAITS: u32 = 6;

fn key(proc: u32) -> ProcKey {
    ProcKey {
        id: proc,
        future_bytes: 0,
    }
}

fn collect(ledgers: &[Ledger], now: u64) -> Aggregate {
    let mut aggregate = Aggregate::default();
    for ledger in ledgers {
        ledger.collect(now, &mut aggregate, &mut || ());
    }
    aggregate
}

/// Follows calls of this age, any number of them.
fn follow(paths: &Paths, ledgers: &[Ledger], procs: u32, age: u64) {
    let limits = (0..procs).map(|proc| SlowLimit {
        proc,
        age,
        budget: u32::MAX,
    });
    paths.renew_slow(&limits.collect::<Vec<_>>());
    ledgers.iter().for_each(Ledger::renew_slow);
}

type Sums = BTreeMap<(u16, SlowPart), u64>;

fn sums(ledgers: &[Ledger], proc: u32) -> Sums {
    let aggregate = collect(ledgers, u64::MAX / 4);
    let stats = aggregate.procs.get(proc as usize);
    let sums = stats.into_iter().flat_map(|stats| stats.slow.iter());
    sums.map(|(class, part, value)| ((class, part), value))
        .collect()
}

/// A time at a place, from the end of the poll in which the call came there to the beginning of the
/// one in which it left.
#[derive(Clone, Copy, Debug)]
struct Stay {
    /// `None` before the first poll.
    site: Option<u16>,
    since: u64,
    until: u64,
    /// Time in polls meanwhile.
    polled: u64,
    ready: u64,
    /// Age at the end of the poll in which it left.
    age: u64,
}

impl Stay {
    const fn off(&self) -> u64 {
        self.until - self.since - self.polled
    }
}

/// A call that knows all of itself.
struct Known {
    call: Box<Call>,
    proc: u32,
    created: u64,
    /// The place where it stands, since when, and its polls there.
    site: Option<u16>,
    since: u64,
    polled: u64,
    running: u64,
    inclusive: u64,
    stays: Vec<Stay>,
    child: Option<Box<Known>>,
}

/// One run of a random program.
struct Run {
    numbers: Numbers,
    now: u64,
    paths: Arc<Paths>,
    ledgers: Vec<Ledger>,
    thread: usize,
    limit: u64,
    /// Ready time of the present root poll.
    ready: u64,
    /// Calls that ended and were polled.
    ended: Vec<(Known, u64)>,
}

impl Run {
    fn ledger(&self) -> &Ledger {
        &self.ledgers[self.thread]
    }

    fn create(&mut self, proc: u32, counted: bool) -> Known {
        let origin = match counted {
            true => self.ledger().create(key(proc), self.now),
            false => self.ledger().born(),
        };
        Known {
            call: Box::new(Call::new(origin)),
            proc,
            created: self.now,
            site: None,
            since: self.now,
            polled: 0,
            running: 0,
            inclusive: 0,
            stays: Vec::new(),
            child: None,
        }
    }

    fn run_for(&mut self, known: &mut Known) {
        let time = self.numbers.below(3) * self.numbers.below(40);
        self.now += time;
        known.running += time;
    }

    /// Polls a call. Returns whether it has ended.
    fn poll(&mut self, known: &mut Known, depth: u32) -> bool {
        let (from, proc) = (self.now, known.proc);
        let start = Start {
            root: depth == 0,
            ..Start::default()
        };
        let ledger = &self.ledgers[self.thread];
        let opened = ledger.poll_start(&mut known.call, key(proc), from, start);
        let opened = opened.expect("not too deep");
        if depth == 0 && self.ready > 0 {
            ledger.ready(proc, self.ready, NEVER);
        }
        let first = known.site.is_none();
        self.run_for(known);
        let mut moved = first;
        let mut ended = false;
        if let Some(mut child) = known.child.take() {
            if self.poll(&mut child, depth + 1) {
                moved = true;
                self.ended.push((*child, self.now));
            } else {
                known.child = Some(child);
            }
        } else if !first {
            moved = !self.numbers.once_in(4);
        }
        let before = known.site;
        while moved && known.child.is_none() {
            self.run_for(known);
            ended = self.numbers.once_in(6);
            if ended {
                break;
            }
            let site = self.numbers.below(u64::from(AWAITS)) as u16 + 1;
            let calls = depth == 0 && self.numbers.below(2) == 0;
            let direct = calls && self.numbers.below(2) == 0;
            self.ledger().arrive(proc, site.into(), direct);
            known.site = Some(site);
            if !calls {
                break;
            }
            let proc = 2 + self.numbers.below(2) as u32;
            let mut child = self.create(proc, false);
            if self.poll(&mut child, depth + 1) {
                self.ended.push((child, self.now));
            } else {
                known.child = Some(Box::new(child));
            }
        }
        let end = [PollEnd::Pending, PollEnd::Ready][usize::from(ended)];
        self.ledgers[self.thread].poll_end(&mut known.call, opened, self.now, end);
        let hold = self.now - from;
        known.inclusive += hold;
        if moved {
            self.leave(known, before, from);
            (known.since, known.polled) = (self.now, 0);
        } else {
            known.polled += hold;
        }
        ended
    }

    /// Writes down the stay that ended at `until`.
    fn leave(&self, known: &mut Known, site: Option<u16>, until: u64) {
        let mut stay = Stay {
            site,
            since: known.since,
            until,
            polled: known.polled,
            ready: 0,
            age: self.now - known.created,
        };
        if site.is_some() {
            stay.ready = self.ready.min(stay.off());
        }
        known.stays.push(stay);
    }

    /// Drops a call and those that it awaits.
    fn drop_call(&mut self, mut known: Known) {
        let now = self.now;
        self.ready = 0;
        self.ledgers[self.thread].drop_call(&mut known.call, known.proc, now);
        let child = known.child.take();
        if known.site.is_some() {
            let site = known.site;
            self.leave(&mut known, site, now);
            self.ended.push((known, now));
        }
        if let Some(child) = child {
            self.drop_call(*child);
        }
    }

    /// Checks the sums of all calls that have ended. Returns how many of them were recorded, and
    /// how many of these were not recorded whole.
    fn check(&self) -> [u64; 2] {
        let mut seen = [0; 2];
        for proc in 0..4 {
            let sums = sums(&self.ledgers, proc);
            let of = |class, part| sums.get(&(class, part)).copied().unwrap_or(0);
            let own = self.ended.iter().filter(|(known, _)| known.proc == proc);
            let mut classes: BTreeMap<u16, Vec<(&Known, u64)>> = BTreeMap::new();
            for (known, end) in own {
                let wall = end - known.created;
                // A call that ran through is counted in the histogram alone.
                let is_single = known.running == wall;
                if wall >= self.limit && !is_single {
                    classes
                        .entry(class_of(wall))
                        .or_default()
                        .push((known, wall));
                }
            }
            let found: Vec<u16> = sums.keys().map(|(class, _)| *class).collect();
            assert!(found.iter().all(|class| classes.contains_key(class)));
            for (class, calls) in classes {
                let sum =
                    |of: &dyn Fn(&Known) -> u64| calls.iter().map(|(known, _)| of(known)).sum();
                let walls: u64 = calls.iter().map(|(_, wall)| wall).sum();
                let exact: [(SlowPart, u64); 4] = [
                    (SlowPart::Calls, calls.len() as u64),
                    (SlowPart::Running, sum(&|known| known.running)),
                    (
                        SlowPart::Called,
                        sum(&|known| known.inclusive - known.running),
                    ),
                    (SlowPart::OtherAwaits, 0),
                ];
                for (part, expected) in exact {
                    assert_eq!(of(class, part), expected, "{part:?} of {proc} in {class}");
                }
                let wall = of(class, SlowPart::Wall);
                assert!(wall.abs_diff(walls) <= rounding(&calls), "{wall} {walls}");
                let whole = self.check_awaits(class, &calls, &of);
                seen[0] += calls.len() as u64;
                seen[1] += calls.len() as u64 - whole;
            }
        }
        seen
    }

    /// Checks the sums of each place in a class. Returns how many calls were recorded whole.
    ///
    /// Nothing is not recorded but the stays that were short, or before a call was followed.
    fn check_awaits(
        &self,
        class: u16,
        calls: &[(&Known, u64)],
        of: &dyn Fn(u16, SlowPart) -> u64,
    ) -> u64 {
        // The last stay is always recorded; others if the call was followed, and they were long.
        let is_recorded = |known: &Known, nth: usize| {
            let stay = &known.stays[nth];
            let is_last = nth + 1 == known.stays.len();
            let is_long = stay.until - stay.since > stay.age >> 7 && stay.age >= self.limit;
            is_last || is_long || stay.until == stay.since
        };
        let whole = |known: &Known| (0..known.stays.len()).all(|nth| is_recorded(known, nth));
        let all_whole = calls.iter().all(|(known, _)| whole(known));
        let (mut least, mut most, mut left_out) = (BTreeMap::new(), BTreeMap::new(), 0);
        for (known, _) in calls {
            for (nth, stay) in known.stays.iter().enumerate() {
                let part = stay.site.map_or(SlowPart::Unstarted, SlowPart::Await);
                let off = stay.off() - stay.ready;
                let gross = stay.until - stay.since;
                let is_recorded = u64::from(is_recorded(known, nth));
                left_out += (1 - is_recorded) * stay.off();
                *least.entry(part).or_insert(0) += is_recorded * off;
                *most.entry(part).or_insert(0) += is_recorded * gross;
                *least.entry(SlowPart::Ready).or_insert(0) += is_recorded * stay.ready;
                *most.entry(SlowPart::Ready).or_insert(0) += is_recorded * gross;
            }
        }
        let error = rounding(calls);
        let mut parts = of(class, SlowPart::Running) + of(class, SlowPart::Called);
        let sites = (0..=AWAITS as u16).map(SlowPart::Await);
        for part in sites.chain([SlowPart::Ready, SlowPart::Unstarted]) {
            let of_part = |times: &BTreeMap<SlowPart, u64>| times.get(&part).copied().unwrap_or(0);
            let (seen, least, most) = (of(class, part), of_part(&least), of_part(&most));
            let most = if all_whole { least } else { most };
            assert!(
                seen + error >= least && seen <= most + error,
                "{least} {seen} {most} {part:?} in {class}"
            );
            parts += seen;
        }
        let wall = of(class, SlowPart::Wall);
        assert!(parts <= wall, "{parts} of {wall} in {class}");
        let most = if all_whole { 0 } else { left_out + error };
        assert!(wall - parts <= most, "{parts} of {wall} in {class}");
        calls.iter().filter(|(known, _)| whole(known)).count() as u64
    }
}

/// By how much the wall times of calls may be wrong: long ages are rounded.
fn rounding(calls: &[(&Known, u64)]) -> u64 {
    let long = calls.iter().filter(|(_, wall)| wall >> 25 > 0);
    long.map(|(_, wall)| wall >> 20).sum()
}

/// Runs a random program of two tasks at a time, on two threads. Its tasks wait about `scale` times
/// as long as they run.
fn run(seed: u64, steps: usize, scale: u64) -> [u64; 2] {
    let paths = Arc::<Paths>::default();
    let ledgers = vec![Ledger::new(1, &paths), Ledger::new(1, &paths)];
    let mut numbers = Numbers(seed);
    let limit = [1, 1, 500, 4_000, 30_000][numbers.below(5) as usize] * scale;
    let pause = (20 + numbers.below(8_000)) * scale;
    let mut run = Run {
        numbers,
        now: BOOT,
        paths,
        ledgers,
        thread: 0,
        limit,
        ready: 0,
        ended: Vec::new(),
    };
    follow(&run.paths, &run.ledgers, 4, limit);
    let mut tasks: [Option<Known>; 2] = [None, None];
    for _ in 0..steps {
        run.thread = run.numbers.below(2) as usize;
        let slept = 1 + run.numbers.below(pause);
        run.now += slept;
        let at = run.numbers.below(2) as usize;
        match tasks[at].take() {
            None => {
                let (proc, counted) = (run.numbers.below(2) as u32, run.numbers.once_in(2));
                let mut task = run.create(proc, counted);
                if counted {
                    tasks[at] = Some(task);
                } else {
                    run.ready = 0;
                    match run.poll(&mut task, 0) {
                        true => run.ended.push((task, run.now)),
                        false => tasks[at] = Some(task),
                    }
                }
            }
            Some(task) if run.numbers.once_in(25) => run.drop_call(task),
            Some(mut task) => {
                run.ready = match task.site {
                    Some(_) => run.numbers.below(2) * run.numbers.below(slept),
                    None => 0,
                };
                match run.poll(&mut task, 0) {
                    true => run.ended.push((task, run.now)),
                    false => tasks[at] = Some(task),
                }
            }
        }
    }
    run.check()
}

/// Calls that were recorded in random programs, and how many of them were not recorded whole.
fn run_all(steps: usize, scale: u64) -> [u64; 2] {
    let mut seen = [0; 2];
    for seed in 1..=40 {
        let counts = run(seed << 32 | 0x9e37_79b9, steps, scale);
        seen = [seen[0] + counts[0], seen[1] + counts[1]];
    }
    seen
}

#[test]
fn the_oracle_agrees_on_random_programs() {
    let seen = run_all(1_000, 1);
    let [recorded, cut] = seen;
    assert!(
        recorded > 3_000 && cut > 200 && cut < recorded / 2,
        "{seen:?}"
    );
}

#[test]
fn the_oracle_agrees_on_programs_that_wait_for_seconds() {
    let seen = run_all(600, 1 << 18);
    let [recorded, cut] = seen;
    assert!(
        recorded > 1_500 && cut > 100 && cut < recorded / 2,
        "{seen:?}"
    );
}

/// Polls a call from a thread until `end`; it comes to an await point if there is one.
fn poll(ledger: &Ledger, call: &mut Call, [from, to]: [u64; 2], site: Option<u32>) {
    let start = Start {
        root: true,
        ..Start::default()
    };
    let depth = ledger.poll_start(call, key(0), from, start);
    if let Some(site) = site {
        ledger.arrive(0, site, false);
    }
    let end = [PollEnd::Ready, PollEnd::Pending][usize::from(site.is_some())];
    ledger.poll_end(call, depth.expect("not too deep"), to, end);
}

fn one(budget: u32) -> (Arc<Paths>, Ledger) {
    let paths = Arc::<Paths>::default();
    let ledger = Ledger::new(1, &paths);
    let limit = SlowLimit {
        proc: 0,
        age: 1,
        budget,
    };
    paths.renew_slow(&[limit]);
    ledger.renew_slow();
    (paths, ledger)
}

fn total(sums: &Sums, wanted: SlowPart) -> u64 {
    let own = sums.iter().filter(|((_, part), _)| *part == wanted);
    own.map(|(_, value)| value).sum()
}

#[test]
fn the_table_of_open_calls_is_bounded_and_what_is_lost_is_nowhere_else() {
    const CALLS: u64 = 2_000;
    let (_paths, ledger) = one(u32::MAX);
    let mut calls: Vec<Call> = (0..CALLS).map(|_| Call::default()).collect();
    for step in 0..4 {
        for (nth, call) in (0..).zip(&mut calls) {
            let at = BOOT + step * 1_000_000 + nth * 10;
            if step == 0 {
                *call = Call::new(ledger.born());
            }
            let site = (step < 3).then_some(step as u32 + 1);
            poll(&ledger, call, [at, at + 10], site);
        }
    }
    let sums = sums(&[ledger], 0);
    assert_eq!(total(&sums, SlowPart::Calls), CALLS);
    assert_eq!(total(&sums, SlowPart::Wall), CALLS * 3_000_010);
    assert_eq!(total(&sums, SlowPart::Running), CALLS * 40);
    // The last one is known of each call, the others as long as there is room.
    assert_eq!(total(&sums, SlowPart::Await(3)), CALLS * 999_990);
    let known = [1, 2].map(|site| total(&sums, SlowPart::Await(site)) / 999_990);
    assert!(
        known[0] <= known[1] && known[1] > 0 && known[1] <= 1_024,
        "{known:?}"
    );
    // Each call whose first one is not known was noted down and gave way to another, at least once.
    let lost = total(&sums, SlowPart::NoRoom);
    assert!(
        lost >= CALLS - known[0] && lost <= 2 * CALLS,
        "{lost} {known:?}"
    );
}

#[test]
fn the_classes_and_await_points_of_a_proc_are_bounded() {
    let (_paths, ledger) = one(u32::MAX);
    let mut now = BOOT;
    let mut all = 0;
    for octave in 0..40 {
        for quarter in 4..8 {
            let wall = quarter << octave;
            let mut call = Call::new(ledger.born());
            let site = (octave + quarter) as u32 % 9 + 1;
            poll(&ledger, &mut call, [now, now], Some(site));
            poll(&ledger, &mut call, [now + wall, now + wall], None);
            now += wall + 1;
            all += 1;
        }
    }
    for site in 1..=9 {
        let mut call = Call::new(ledger.born());
        poll(&ledger, &mut call, [now, now], Some(site));
        poll(&ledger, &mut call, [now + 5_000, now + 5_000], None);
        now += 5_001;
    }
    let sums = sums(&[ledger], 0);
    let classes = sums.keys().filter(|(_, part)| *part == SlowPart::Calls);
    assert_eq!((classes.count(), all), (48, 160));
    let own = class_of(5_000);
    let sites = sums
        .keys()
        .filter(|(class, part)| *class == own && matches!(part, SlowPart::Await(_)));
    assert_eq!(sites.count(), AWAITS as usize);
    assert!(sums[&(own, SlowPart::OtherAwaits)] >= 3 * 5_000);
}

#[test]
fn no_more_calls_are_recorded_than_the_reader_allows() {
    let (paths, ledger) = one(5);
    let ledgers = [ledger];
    let mut now = BOOT;
    let mut calls = |ledger: &Ledger| {
        for _ in 0..1_500 {
            let mut call = Call::new(ledger.born());
            poll(ledger, &mut call, [now, now], Some(1));
            poll(ledger, &mut call, [now + 5_000, now + 5_000], None);
            now += 5_001;
        }
    };
    calls(&ledgers[0]);
    assert_eq!(total(&sums(&ledgers, 0), SlowPart::Calls), 5);
    // Until the next tick of the reader, in which it has nothing to say about this proc.
    paths.renew_slow(&[]);
    ledgers[0].renew_slow();
    calls(&ledgers[0]);
    assert_eq!(total(&sums(&ledgers, 0), SlowPart::Calls), 5 + 1_024);
}

/// A program with a lock that is held for 1.5 s every 20 s, and four connections behind it, of
/// which one query in a hundred keeps one for 800 ms. 200 requests a second. Ticks are nanoseconds.
mod shop {
    use super::{BOOT, Call, Ledger, Paths, SlowPart, Sums, collect, poll, sums};
    use std::collections::{BTreeMap, VecDeque};
    use std::sync::Arc;
    use turbowish_model::account::aggregate::Aggregate;
    use turbowish_model::collect::slow_limits::SlowLimits;

    const US: u64 = 1_000;
    const MS: u64 = 1_000 * US;
    /// The await points of a request, plus one: the lock, a connection, the answer.
    const LOCK: u32 = 1;
    const CONNECTION: u32 = 2;
    const ANSWER: u32 = 3;

    #[derive(Clone, Copy)]
    enum Step {
        Request,
        Stall,
        Release,
        Polled(usize),
        Tick,
    }

    /// A request; `None` when it is over.
    struct Request {
        call: Option<Box<Call>>,
        site: u32,
    }

    pub(super) struct Shop {
        ledger: Ledger,
        paths: Arc<Paths>,
        limits: SlowLimits,
        before: Aggregate,
        /// By time and number.
        steps: BTreeMap<(u64, u64), Step>,
        number: u64,
        is_locked: bool,
        for_lock: Vec<usize>,
        for_connection: VecDeque<usize>,
        free: u32,
        requests: Vec<Request>,
    }

    impl Shop {
        fn new() -> Self {
            let paths = Arc::<Paths>::default();
            let ledger = Ledger::new(1, &paths);
            Self {
                ledger,
                paths,
                limits: SlowLimits::default(),
                before: Aggregate::default(),
                steps: BTreeMap::new(),
                number: 0,
                is_locked: false,
                for_lock: Vec::new(),
                for_connection: VecDeque::new(),
                free: 4,
                requests: Vec::new(),
            }
        }

        fn at(&mut self, time: u64, step: Step) {
            self.number += 1;
            self.steps.insert((time, self.number), step);
        }

        /// The reader decides which calls are followed.
        fn tick(&mut self, now: u64) {
            let totals = collect(std::slice::from_ref(&self.ledger), now);
            let limits = self.limits.tick(&totals.grown_since(&self.before), 1);
            self.before = totals;
            self.paths.renew_slow(&limits);
            self.ledger.renew_slow();
        }

        /// Polls a request, which has got what it waited for; it goes on as far as it can.
        fn polled(&mut self, nth: usize, now: u64) {
            let site = match self.requests[nth].site {
                0 if self.is_locked => LOCK,
                0 | LOCK if self.free == 0 => CONNECTION,
                0 | LOCK | CONNECTION => ANSWER,
                _ => 0,
            };
            let request = &mut self.requests[nth];
            let had = request.site;
            request.site = site;
            let call = request.call.as_mut().expect("it goes on");
            let next = (site > 0).then_some(site);
            poll(&self.ledger, call, [now, now + US], next);
            match site {
                LOCK => self.for_lock.push(nth),
                CONNECTION => self.for_connection.push_back(nth),
                ANSWER => {
                    // One that has waited was given its connection.
                    self.free -= u32::from(had != CONNECTION);
                    let time = if nth.is_multiple_of(100) {
                        800 * MS
                    } else {
                        5 * MS
                    };
                    self.at(now + time, Step::Polled(nth));
                }
                _ => {
                    self.requests[nth].call = None;
                    match self.for_connection.pop_front() {
                        Some(next) => self.at(now + 3 * US, Step::Polled(next)),
                        None => self.free += 1,
                    }
                }
            }
        }

        fn step(&mut self, now: u64, step: Step) {
            match step {
                Step::Request => {
                    let call = Some(Box::new(Call::new(self.ledger.born())));
                    self.requests.push(Request { call, site: 0 });
                    self.polled(self.requests.len() - 1, now);
                    self.at(now + 5 * MS, Step::Request);
                }
                Step::Stall => {
                    self.is_locked = true;
                    self.at(now + 1_500 * MS, Step::Release);
                    self.at(now + 20_000 * MS, Step::Stall);
                }
                Step::Release => {
                    self.is_locked = false;
                    let woken = std::mem::take(&mut self.for_lock);
                    for (after, nth) in (1..).zip(woken) {
                        self.at(now + after * 30 * US, Step::Polled(nth));
                    }
                }
                Step::Polled(nth) => self.polled(nth, now),
                Step::Tick => {
                    self.tick(now);
                    self.at(now + 250 * MS, Step::Tick);
                }
            }
        }

        /// Runs it for so many seconds. Returns the sums of its slow calls.
        pub(super) fn run(seconds: u64) -> Sums {
            let mut shop = Self::new();
            shop.at(BOOT + 137, Step::Request);
            shop.at(BOOT + 1_333, Step::Tick);
            shop.at(BOOT + 20_000 * MS, Step::Stall);
            let mut now = BOOT;
            while let Some(((time, _), step)) = shop.steps.pop_first() {
                // A thread does one thing after another.
                now = time.max(now + 2 * US);
                if now > BOOT + seconds * 1_000 * MS {
                    break;
                }
                shop.step(now, step);
            }
            sums(&[shop.ledger], 0)
        }
    }

    /// Calls, wall time, and the part of it that is in none of the parts.
    pub(super) fn not_recorded(sums: &Sums, from: u16) -> [u64; 3] {
        let mut seen = [0; 3];
        for ((_, part), value) in sums.iter().filter(|((class, _), _)| *class >= from) {
            match part {
                SlowPart::NoRoom => panic!("no room for {value} calls"),
                SlowPart::Calls => seen[0] += value,
                SlowPart::Wall => {
                    seen[1] += value;
                    seen[2] += value;
                }
                _ => seen[2] -= value,
            }
        }
        seen
    }
}

#[test]
fn of_calls_that_waited_for_one_lock_all_is_known() {
    let sums = shop::Shop::run(45);
    let from = class_of(1_000_000_000);
    let [calls, wall, rest] = shop::not_recorded(&sums, from);
    assert!(calls > 300, "{calls}");
    // Those that had hardly waited for the lock waited for the others of their burst then.
    assert!(rest < wall / 1_000, "{rest} of {wall}, {calls} calls");
}
