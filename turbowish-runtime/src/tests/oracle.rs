//! What the numbers ought to be: every tick of the clock is charged, one by one, to whatever is
//! there at that moment.
//!
//! Nothing is shared with the ledger but the definitions: no starts, no ends, no subtraction.

use std::collections::{BTreeMap, BTreeSet};

use turbowish_model::account::aggregate::{Aggregate, Anomaly, ProcStats};
use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::account::histogram::{bucket_of, upper_bound};
use turbowish_model::account::slow::{SlowLimit, SlowPart};

/// Numbers by proc, word, and the other proc of an edge or the bucket of a histogram. Those that
/// are 0 are not there.
pub(super) type Sums = BTreeMap<(usize, &'static str, usize), u64>;

/// Stands for no proc.
const NONE: usize = usize::MAX;

/// Words that are not sums over time.
const STATES: [&str; 2] = ["live", "longest"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Pending,
    Ready,
    Err,
    Panicked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Created after this event of this thread, and not counted yet.
    Unborn(usize, u64),
    Unstarted,
    Open,
    Waiting,
    Over,
}

struct Account {
    proc: usize,
    creator: usize,
    epoch: u32,
    state: State,
    polls: u64,
    running: u64,
    inclusive: u64,
    /// Time since its creation, or since its first poll if it was not counted before.
    wall: u64,
    /// Time since its last poll ended.
    wait: u64,
}

struct Frame {
    call: usize,
    hold: u64,
}

/// A poll that began in this epoch, if accounting was on.
pub(super) struct Token(Option<u32>);

#[derive(Default)]
pub(super) struct Oracle {
    armed: bool,
    epoch: u32,
    stacks: Vec<Vec<Frame>>,
    calls: Vec<Account>,
    sums: Sums,
    busy: u64,
    leaked: usize,
    /// Every creation is counted at once.
    is_early: bool,
    /// Procs of which every creation is counted at once.
    early: BTreeSet<usize>,
    /// Events of each thread so far.
    events: Vec<u64>,
}

impl Oracle {
    pub(super) fn new(threads: usize, is_early: bool) -> Self {
        Self {
            is_early,
            events: vec![0; threads],
            stacks: (0..threads).map(|_| Vec::new()).collect(),
            ..Self::default()
        }
    }

    fn add(&mut self, proc: usize, word: &'static str, value: u64) {
        self.edge(proc, word, NONE, value);
    }

    fn edge(&mut self, proc: usize, word: &'static str, other: usize, value: u64) {
        if value > 0 {
            *self.sums.entry((proc, word, other)).or_default() += value;
        }
    }

    pub(super) fn is_armed(&self) -> bool {
        self.armed
    }

    pub(super) fn depth(&self, thread: usize) -> usize {
        self.stacks[thread].len()
    }

    pub(super) fn busy(&self) -> u64 {
        self.busy
    }

    pub(super) fn switch(&mut self) {
        // What is let go of is not unstarted any more.
        let unstarted = self.calls.iter().filter(|call| {
            self.armed && call.epoch == self.epoch && call.state == State::Unstarted
        });
        let unstarted: Vec<usize> = unstarted.map(|call| call.proc).collect();
        for proc in unstarted {
            self.add(proc, "started", 1);
        }
        self.armed = !self.armed;
        self.epoch += 1;
        self.stacks.iter_mut().for_each(Vec::clear);
        let live = self.sums.keys().filter(|(_, word, _)| *word == "live");
        let live: Vec<_> = live.copied().collect();
        for key in live {
            self.sums.remove(&key);
        }
    }

    pub(super) fn advance(&mut self, by: u64) {
        if !self.armed {
            return;
        }
        for id in 0..self.calls.len() {
            let call = &self.calls[id];
            let uncounted = matches!(call.state, State::Over | State::Unborn(..));
            if call.epoch != self.epoch || uncounted {
                continue;
            }
            let (proc, state) = (call.proc, call.state);
            self.calls[id].wall += by;
            self.add(proc, "wall", by);
            match state {
                State::Unstarted => self.add(proc, "unstarted", by),
                State::Waiting => {
                    self.calls[id].wait += by;
                    self.add(proc, "yielded", by);
                }
                State::Open | State::Over | State::Unborn(..) => {}
            }
        }
        for thread in 0..self.stacks.len() {
            self.advance_stack(thread, by);
        }
    }

    fn advance_stack(&mut self, thread: usize, by: u64) {
        let mut stack = std::mem::take(&mut self.stacks[thread]);
        let mut seen = Vec::new();
        for frame in &mut stack {
            frame.hold += by;
            let call = &mut self.calls[frame.call];
            call.inclusive += by;
            let (proc, creator) = (call.proc, call.creator);
            self.add(proc, "hold", by);
            if creator != NONE {
                self.edge(proc, "offspring", creator, by);
            }
            if !seen.contains(&proc) {
                seen.push(proc);
                self.add(proc, "inclusive", by);
            }
            let longest = self.sums.entry((proc, "longest", NONE)).or_default();
            *longest = frame.hold.max(*longest);
        }
        if let Some(top) = stack.last() {
            self.busy += by;
            self.calls[top.call].running += by;
            self.add(self.calls[top.call].proc, "running", by);
        }
        self.sums.retain(|_, sum| *sum > 0);
        self.stacks[thread] = stack;
    }

    /// A call is created; the answer is its number.
    pub(super) fn create(&mut self, thread: usize, proc: usize) -> usize {
        self.calls.push(Account {
            proc,
            creator: NONE,
            epoch: 0,
            state: State::Unstarted,
            polls: 0,
            running: 0,
            inclusive: 0,
            wall: 0,
            wait: 0,
        });
        self.leaked += 1;
        let id = self.calls.len() - 1;
        if self.armed && (self.is_early || self.early.contains(&proc)) {
            self.register(thread, id);
            self.events[thread] += 1;
        } else if self.armed {
            let call = &mut self.calls[id];
            call.epoch = self.epoch;
            call.state = State::Unborn(thread, self.events[thread]);
            let creator = self.stacks[thread].last();
            let creator = creator.map_or(NONE, |top| self.calls[top.call].proc);
            self.calls[id].creator = creator;
        }
        id
    }

    /// Counts a call that was created before: in its first poll, or when it is dropped without one.
    fn bear(&mut self, id: usize) {
        let Account { proc, creator, .. } = self.calls[id];
        self.calls[id].state = State::Unstarted;
        self.add(proc, "calls", 1);
        self.add(proc, "live", 1);
        if creator != NONE {
            self.edge(proc, "created", creator, 1);
        }
    }

    fn register(&mut self, thread: usize, id: usize) {
        let creator = self.stacks[thread].last();
        let creator = creator.map_or(NONE, |top| self.calls[top.call].proc);
        let proc = self.calls[id].proc;
        self.calls[id] = Account {
            proc,
            creator,
            epoch: self.epoch,
            state: State::Unstarted,
            polls: 0,
            running: 0,
            inclusive: 0,
            wall: 0,
            wait: 0,
        };
        self.add(proc, "calls", 1);
        self.add(proc, "live", 1);
        if creator != NONE {
            self.edge(proc, "created", creator, 1);
        }
    }

    pub(super) fn start(&mut self, thread: usize, id: usize) -> Token {
        if !self.armed {
            return Token(None);
        }
        if self.calls[id].epoch != self.epoch {
            self.add(NONE, "late", 1);
            self.register(thread, id);
            self.events[thread] += 1;
        }
        if let State::Unborn(by, event) = self.calls[id].state {
            if (by, event) != (thread, self.events[thread]) {
                self.early.insert(self.calls[id].proc);
            }
            self.bear(id);
        }
        self.events[thread] += 1;
        self.end_wait(id);
        let call = &mut self.calls[id];
        call.state = State::Open;
        call.polls += 1;
        let (proc, first) = (call.proc, call.polls == 1);
        self.add(proc, "polls", 1);
        self.add(proc, "started", u64::from(first));
        self.stacks[thread].push(Frame { call: id, hold: 0 });
        Token(Some(self.epoch))
    }

    pub(super) fn end(&mut self, thread: usize, id: usize, token: &Token, end: End) {
        if !self.armed || token.0 != Some(self.epoch) {
            return;
        }
        self.events[thread] += 1;
        let frame = self.stacks[thread].pop().expect("the frame is open");
        assert_eq!(frame.call, id, "frames nest");
        let proc = self.calls[id].proc;
        self.add(proc, "finished", 1);
        if let Some(below) = self.stacks[thread].last() {
            let parent = self.calls[below.call].proc;
            self.edge(proc, "await", parent, 1);
            self.edge(proc, "await time", parent, frame.hold);
        }
        match end {
            End::Pending => self.calls[id].state = State::Waiting,
            End::Ready => self.over(id, "ready"),
            End::Err => {
                self.add(proc, "err", 1);
                self.over(id, "ready");
            }
            End::Panicked => self.over(id, "panicked"),
        }
    }

    /// Ends the wait of a call that waits.
    fn end_wait(&mut self, id: usize) {
        let Account { proc, wait, .. } = self.calls[id];
        if self.calls[id].state == State::Waiting {
            self.add(proc, "waits", wait);
            self.edge(proc, "waits in bucket", bucket_of(wait), 1);
            self.calls[id].wait = 0;
        }
    }

    fn over(&mut self, id: usize, how: &'static str) {
        let call = &mut self.calls[id];
        call.state = State::Over;
        let (proc, polls) = (call.proc, call.polls);
        let (running, inclusive, wall) = (call.running, call.inclusive, call.wall);
        self.add(proc, how, 1);
        if polls == 0 {
            self.add(proc, "never polled", 1);
            self.add(proc, "started", 1);
        } else {
            self.add(proc, "ended", 1);
            self.add(proc, "call running", running);
            self.add(proc, "call inclusive", inclusive);
            self.add(proc, "call wall", wall);
            self.edge(proc, "call walls in bucket", bucket_of(wall), 1);
        }
        let live = self.sums.entry((proc, "live", NONE)).or_default();
        *live -= 1;
        self.sums.retain(|_, sum| *sum > 0);
    }

    pub(super) fn dropped(&mut self, thread: usize, id: usize) {
        self.leaked -= 1;
        let is_live = self.armed && self.calls[id].epoch == self.epoch;
        if is_live && matches!(self.calls[id].state, State::Unborn(..)) {
            self.bear(id);
        }
        if is_live && self.calls[id].state != State::Over {
            self.events[thread] += 1;
        }
        let call = &self.calls[id];
        if self.armed && call.epoch == self.epoch && call.state != State::Over {
            assert_ne!(call.state, State::Open, "a poll borrows its call");
            self.end_wait(id);
            self.over(id, "cancelled");
        }
    }

    /// Another thread takes the place of this one, with events of its own.
    pub(super) fn left(&mut self, thread: usize) {
        self.events[thread] += 1 << 32;
    }

    /// Calls that are not dropped.
    pub(super) fn leaked(&self) -> usize {
        self.leaked
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums.clone()
    }
}

/// The same words from what the process says.
pub(super) fn read(aggregate: &Aggregate, ids: &[u32], is_window: bool) -> Sums {
    let mut sums = Sums::new();
    let proc_of = |id: u32| {
        ids.iter()
            .position(|&known| known == id)
            .unwrap_or(NONE - 1)
    };
    for (proc, &id) in ids.iter().enumerate() {
        let Some(stats) = aggregate.procs.get(id as usize) else {
            continue;
        };
        let population = |which: Population| stats.populations[which as usize].total();
        let finished = population(Population::PollHold);
        assert_eq!(finished, population(Population::PollRunning));
        assert_eq!(
            population(Population::CallRunning),
            population(Population::CallInclusive)
        );
        let waited = stats.sites.iter().map(|site| site.waited);
        let waited = waited.fold(0, u64::wrapping_add);
        let words = [
            ("calls", stats.sum(Sum::Calls)),
            ("started", stats.sum(Sum::Started)),
            ("ready", stats.sum(Sum::Ready)),
            ("err", stats.sum(Sum::Err)),
            ("cancelled", stats.sum(Sum::Cancelled)),
            ("panicked", stats.sum(Sum::Panicked)),
            ("never polled", stats.sum(Sum::NeverPolled)),
            ("polls", stats.sum(Sum::Polls)),
            ("hold", stats.sum(Sum::Hold)),
            ("running", stats.sum(Sum::Running)),
            ("inclusive", stats.sum(Sum::Inclusive)),
            ("foreign", stats.sum(Sum::Foreign)),
            ("wall", stats.sum(Sum::Wall)),
            ("unstarted", stats.sum(Sum::Unstarted)),
            ("yielded", waited),
            ("call running", stats.sum(Sum::CallRunning)),
            ("call inclusive", stats.sum(Sum::CallInclusive)),
            ("call wall", stats.sum(Sum::CallWall)),
            ("finished", finished),
            ("ended", population(Population::CallRunning)),
            ("live", if is_window { 0 } else { stats.live() }),
            ("longest", if is_window { 0 } else { stats.longest() }),
        ];
        for (word, value) in words {
            sums.insert((proc, word, NONE), value);
        }
        let walls = &stats.populations[Population::CallWall as usize];
        for (bucket, count) in walls.iter() {
            sums.insert((proc, "call walls in bucket", bucket.into()), count);
        }
        let ended = stats.sites.iter().map(|site| site.ended);
        sums.insert((proc, "waits", NONE), ended.sum());
        for site in &stats.sites {
            for (bucket, count) in site.wait.iter() {
                let word = (proc, "waits in bucket", bucket.into());
                *sums.entry(word).or_default() += count;
            }
        }
        for (&other, edge) in &stats.edges {
            let other = proc_of(other);
            sums.insert((proc, "await", other), edge.polls);
            sums.insert((proc, "await time", other), edge.hold);
            sums.insert((proc, "created", other), edge.created);
            sums.insert((proc, "offspring", other), edge.offspring);
        }
        // The identity of every call, summed over the proc.
        let in_child = stats.sum(Sum::Hold) - stats.sum(Sum::Foreign) - stats.sum(Sum::Running);
        let parts = stats.sum(Sum::Unstarted)
            + stats.sum(Sum::Running)
            + in_child
            + stats.sum(Sum::Foreign)
            + waited;
        assert_eq!(stats.sum(Sum::Wall), parts, "wall is the sum of its parts");
    }
    let anomalies = &aggregate.anomalies;
    if !is_window {
        sums.insert(
            (NONE, "late", NONE),
            anomalies[Anomaly::LateAttach as usize],
        );
    }
    for (kind, &count) in anomalies.iter().enumerate() {
        assert!(kind == Anomaly::LateAttach as usize || count == 0);
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

/// Checks where the time of ended calls went, all of which were followed.
pub(super) fn check_slow(aggregate: &Aggregate, ids: &[u32]) {
    let stats = ids.iter().map(|&id| aggregate.procs.get(id as usize));
    stats.flatten().for_each(check_slow_calls);
}

fn check_slow_calls(stats: &ProcStats) {
    let slow = |wanted: SlowPart| {
        let own = stats.slow.iter().filter(|(_, part, _)| *part == wanted);
        own.map(|(.., value)| value).sum::<u64>()
    };
    let ended = stats.populations[Population::CallWall as usize].total();
    assert_eq!(
        slow(SlowPart::Calls) + stats.single.total(),
        ended,
        "slow calls"
    );
    // Those that ended in their only poll ran all the time.
    let single = stats.sum(Sum::CallWall) - slow(SlowPart::Wall);
    let bounds = stats.single.iter();
    let bounds = bounds.map(|(bucket, count)| upper_bound(bucket.into()) * count);
    assert!(single <= bounds.sum(), "wall time of slow calls");
    let running = stats.sum(Sum::CallRunning) - slow(SlowPart::Running);
    let called = stats.sum(Sum::CallInclusive) - stats.sum(Sum::CallRunning);
    assert_eq!(
        (running, called),
        (single, slow(SlowPart::Called)),
        "in polls"
    );
    let mut rest: BTreeMap<u16, i64> = BTreeMap::new();
    for (class, part, value) in stats.slow.iter() {
        *rest.entry(class).or_default() += match part {
            SlowPart::Calls | SlowPart::NoRoom => 0,
            SlowPart::Wall => value.cast_signed(),
            _ => -value.cast_signed(),
        };
    }
    assert!(
        rest.values().all(|rest| *rest >= 0),
        "parts of slow calls: {rest:?}"
    );
}

/// Follows the calls of these procs from this age on.
pub(super) fn follow_from(age: u64, procs: &[u32]) {
    let limits = procs.iter().map(|&proc| SlowLimit {
        proc,
        age,
        budget: u32::MAX,
    });
    let limits: Vec<SlowLimit> = limits.collect();
    crate::hot::thread::paths().renew_slow(&limits);
}

/// What came between two moments.
pub(super) fn between(before: &Sums, now: &Sums) -> Sums {
    let mut grown = now.clone();
    for (key, value) in before {
        if let Some(now) = grown.get_mut(key) {
            *now = now.wrapping_sub(*value);
        }
    }
    grown.retain(|&(proc, word, _), value| *value > 0 && proc != NONE && !STATES.contains(&word));
    grown
}

/// Fails with what differs.
pub(super) fn same(what: &str, got: &Sums, expected: &Sums) {
    let of = |sums: &Sums, key| sums.get(key).copied().unwrap_or(0);
    let keys = got.keys().chain(expected.keys());
    let differing = keys.filter(|key| of(got, *key) != of(expected, *key));
    let found: Vec<_> = differing
        .map(|key| (key, "got", of(got, key), "expected", of(expected, key)))
        .collect();
    assert!(found.is_empty(), "{what}: {found:?}");
}
