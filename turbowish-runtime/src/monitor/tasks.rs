//! Live tasks: counts, names and rows.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use turbowish_model::account::branch::BranchReading;
use turbowish_model::account::task::{
    Pause, STACK_LIMIT, TaskMeta, TaskReading, WAKER_CALLS, WakeSource,
};
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::collect::read::OpenPollReading;
use turbowish_model::ordered::Map;
use turbowish_model::query::{QueryError, TaskSource};
use turbowish_model::snapshot::unique_suffix::UniqueSuffixes;
use turbowish_model::snapshot::{Spot, TaskParts, TaskRow, TaskState, TasksByState, WakerRow};
use turbowish_model::sorting;

use super::claims::Claims;
use crate::hot::origin::TaskOrigin;
use crate::hot::task::{self, TaskRow as Row};
use crate::hot::thread;
use crate::monitor::collector::ThreadNow;

/// The instant of a row, by that of the newest event in it: 0, which stands for that of the totals;
/// but a row that is newer is of the time when it is read.
pub(super) type RowInstant<'a> = &'a dyn Fn(u64) -> u64;

/// The live tasks. There may be a million, so they are read one after the other and not kept.
pub(super) struct LiveTasks<'a> {
    threads: &'a [ThreadNow],
    epoch: u32,
    pauses: Map<u64, Pause>,
    instant: RowInstant<'a>,
    /// The tasks that were read.
    counts: Cell<TasksByState>,
    total: Cell<u64>,
}

/// A live task.
pub(super) struct LiveTask {
    pub(super) meta: TaskMeta,
    pub(super) reading: TaskReading,
    pub(super) origin: Option<Arc<TaskOrigin>>,
    /// Whether it may have been polled while accounting was off: then it has given away wakers that
    /// are not TurboWish's.
    pub(super) unseen: bool,
}

impl LiveTask {
    /// Reads a row in this epoch. `None` if the task is over.
    pub(super) fn read(row: &Row, epoch: u32, instant: RowInstant<'_>) -> Option<Self> {
        let origin = row.origin();
        let (meta, mut reading) = row.read()?;
        let woken = reading.waker.and_then(|waker| waker.woken);
        reading.read_at = instant(reading.since.max(woken.unwrap_or(0)));
        let mut one = Self {
            meta,
            reading,
            origin,
            unseen: false,
        };
        if one.reading.epoch != epoch {
            one.forget();
        }
        Some(one)
    }

    /// Takes its branches from those of all tasks.
    pub(super) fn take_branches(
        &mut self,
        branches: &mut HashMap<u64, Vec<Row>>,
        instant: RowInstant<'_>,
    ) {
        let own = branches.remove(&self.meta.id);
        // What happened to them while accounting was off is unknown.
        let Some(own) = own.filter(|_| !self.unseen) else {
            return;
        };
        let reading = &mut self.reading;
        reading.branches = shown(&own, reading.epoch);
        let woken = reading.branches.iter().filter_map(|one| one.woken);
        let newest = instant(woken.max().unwrap_or(0));
        reading.read_at = reading.read_at.max(newest);
    }

    /// Discards await point and wakes of a task that was not polled since accounting was armed
    /// again: it waits, but where, what could wake it, and what has, is unknown.
    fn forget(&mut self) {
        self.reading.forget_place(self.meta.root());
        if let Some(waker) = &mut self.reading.waker {
            waker.woken = None;
        }
        self.unseen = true;
    }
}

impl<'a> LiveTasks<'a> {
    /// Prepares to read all tasks. The threads were read before.
    pub(super) fn new(
        threads: &'a [ThreadNow],
        epoch: u32,
        pauses: Map<u64, Pause>,
        instant: RowInstant<'a>,
    ) -> Self {
        Self {
            threads,
            epoch,
            pauses,
            instant,
            counts: Cell::default(),
            total: Cell::default(),
        }
    }

    /// Reads every live task once: those with a row, and those in their first poll.
    pub(super) fn each(
        &self,
        see: &mut dyn FnMut(LiveTask) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        self.total.set(0);
        self.counts.set(TasksByState {
            ready: task::is_wrapped().then_some(0),
            ..TasksByState::default()
        });
        let mut first_poll = first_polls(self.threads);
        // Of a branch that is over by the time that its task is read, nothing is shown.
        let mut branches = task::branches(|_| true);
        for row in task::each() {
            // The threads were read first: a task in its first poll may have got its row since.
            first_poll.retain(|one| one.meta.id != row.id());
            if let Some(one) = LiveTask::read(&row, self.epoch, self.instant) {
                see(self.whole(one, &mut branches))?;
            }
        }
        for mut one in first_poll {
            if one.reading.epoch != self.epoch {
                one.forget();
            }
            see(self.whole(one, &mut branches))?;
        }
        Ok(())
    }

    /// Adds what is not in the task's own row, and counts it.
    fn whole(&self, mut one: LiveTask, branches: &mut HashMap<u64, Vec<Row>>) -> LiveTask {
        one.take_branches(branches, self.instant);
        one.reading.pause = self.pauses.get(&one.meta.id).cloned().map(Box::new);
        let (reading, mut counts) = (&one.reading, self.counts.get());
        let is_woken = reading.waker.is_some_and(|waker| waker.woken.is_some());
        match (reading.thread, &mut counts.ready) {
            (Some(_), _) => counts.polling += 1,
            (None, _) if reading.pause.is_some() => counts.paused += 1,
            (None, Some(ready)) if is_woken => *ready += 1,
            (None, _) => counts.waiting += 1,
        }
        self.counts.set(counts);
        self.total.set(self.total.get() + 1);
        one
    }

    /// Number of tasks that were read, by state.
    pub(super) fn by_state(&self) -> TasksByState {
        self.counts.get()
    }

    /// Number of tasks that were read.
    pub(super) fn total(&self) -> u64 {
        self.total.get()
    }
}

/// The tasks in their first poll.
pub(super) fn first_polls(threads: &[ThreadNow]) -> Vec<LiveTask> {
    let first_poll = |thread: &ThreadNow| {
        let meta = thread.first_poll?;
        let is_open = !open_of(threads, thread.index, meta.created).is_empty();
        let origin = thread.origin.clone();
        let readied = origin.as_deref().map(TaskOrigin::readied);
        is_open.then(|| LiveTask {
            meta,
            reading: TaskReading::first(&meta, thread.epoch, thread.index, readied),
            origin,
            unseen: false,
        })
    };
    threads.iter().filter_map(first_poll).collect()
}

/// Maximum number of branches shown per task; woken ones come first.
const BRANCHES: usize = STACK_LIMIT as usize;

fn shown(branches: &[Row], epoch: u32) -> Vec<BranchReading> {
    let readings = branches.iter().filter_map(|branch| {
        let (reading, polled_in) = branch.read_branch()?;
        // What happened to it while accounting was off is unknown.
        (polled_in == epoch).then_some(reading)
    });
    let mut shown: Vec<BranchReading> = readings.collect();
    if shown.len() > BRANCHES {
        sorting::by_key(&mut shown, |branch| (branch.woken.is_none(), branch.id));
        shown.truncate(BRANCHES);
    }
    shown
}

/// The part of a thread's stack that belongs to the root poll begun at `since`; empty if the thread
/// has moved on to another one since the ledgers were read.
fn open_of(threads: &[ThreadNow], index: u32, since: u64) -> &[OpenPollReading] {
    let thread = threads.iter().find(|thread| thread.index == index);
    let open = thread.map_or(&[][..], |thread| &thread.open);
    let root = open
        .iter()
        .position(|poll| poll.root && poll.start == since);
    root.map_or(&[], |at| &open[at..])
}

/// Names of tasks: given ones, or the end of the root's path and a number.
pub(super) struct NameTable<'a> {
    /// Name of tasks without their ordinal, by root proc.
    words: Vec<&'a str>,
    given: HashMap<u64, Arc<str>>,
    /// Given names of all tasks, if they were asked for.
    others: OnceCell<HashMap<u64, Arc<str>>>,
    threads: Map<u32, &'a str>,
    /// Positions in the list of workers.
    workers: Map<u32, u32>,
}

impl<'a> NameTable<'a> {
    pub(super) fn of(
        assembly: &Assembly<'a, super::registry::Registry>,
        tasks: &[LiveTask],
        threads: &'a [ThreadNow],
        epoch: u32,
    ) -> Self {
        let shared = UniqueSuffixes::of(assembly.names.paths());
        let words = assembly.names.paths().map(|path| shared.shortest(path));
        let given = tasks.iter().filter_map(|one| {
            let name = one.origin.as_ref()?.name.clone()?;
            Some((one.meta.id, name))
        });
        let workers = super::snapshot::worker_threads(assembly, threads, epoch);
        Self {
            workers: workers.map(|thread| thread.index).zip(0..).collect(),
            words: words.collect(),
            given: given.collect(),
            others: OnceCell::new(),
            threads: threads
                .iter()
                .map(|thread| (thread.index, &*thread.name))
                .collect(),
        }
    }

    /// Name of a worker as in the list of workers, `w1`; else the name of its thread.
    pub(super) fn worker(&self, thread: u32, name: &str) -> String {
        let position = self.workers.get(&thread);
        position.map_or_else(|| name.to_owned(), |position| format!("w{position}"))
    }

    /// Name of what woke a task: another task, or `thread w1`, or `thread NAME` of a thread that is
    /// not in the list of workers.
    pub(super) fn waker(&self, by: WakeSource) -> Option<String> {
        match by.thread() {
            None => self.name(by.task()),
            Some(thread) => Some(format!("thread {}", self.thread(thread)?)),
        }
    }

    /// Name of a worker as in the list of workers, else of a thread; `None` for an ended one, whose
    /// name is unknown.
    pub(super) fn thread(&self, thread: u32) -> Option<String> {
        let name = self.threads.get(&thread)?;
        Some(self.worker(thread, name))
    }

    /// Name of a live or ended task; `None` for 0.
    pub(super) fn name(&self, id: u64) -> Option<String> {
        if let Some(name) = self.given.get(&id) {
            return Some(name.to_string());
        }
        // Not all tasks are read for a situation.
        if let Some(name) = self.others.get_or_init(task::named).get(&id) {
            return Some(name.to_string());
        }
        let meta = TaskMeta::of(id);
        let word = self.words.get(meta.root() as usize).filter(|_| id != 0)?;
        Some(format!("{word}-{}", meta.ordinal()))
    }

    /// Name, without ordinal, of tasks with this root proc.
    fn word(&self, proc: u32) -> &'a str {
        self.words.get(proc as usize).copied().unwrap_or_default()
    }
}

/// Rows of all live tasks.
pub(super) struct Rows<'a, N> {
    pub(super) assembly: &'a Assembly<'a, N>,
    pub(super) live: &'a LiveTasks<'a>,
    pub(super) known: &'a NameTable<'a>,
    pub(super) claims: &'a Claims<'a, N>,
}

impl<N: Names> TaskSource for Rows<'_, N> {
    type Task = LiveTask;

    fn count(&self) -> usize {
        usize::try_from(task::live()).unwrap_or(usize::MAX)
    }

    fn each(
        &self,
        see: &mut dyn FnMut(LiveTask) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        self.live.each(see)
    }

    fn row(&self, one: &LiveTask, parts: TaskParts) -> Option<TaskRow> {
        let word = self.known.word(one.meta.root());
        let open = one.reading.thread;
        let open = open.map(|index| open_of(self.live.threads, index, one.reading.since));
        let (meta, reading) = (&one.meta, &one.reading);
        let mut row = self.assembly.task(meta, reading, open, word, parts)?;
        row.os_thread_id = open.and(self.os_thread(one));
        self.tell(&mut row, one, parts);
        if parts.claims {
            self.claims.tell(&mut row);
            let waits = row.state == TaskState::Waiting && row.waits_on.is_empty();
            row.waits_unknown = waits && (one.unseen || self.claims.hides_waits());
        }
        Some(row)
    }
}

impl<N: Names> Rows<'_, N> {
    /// The operating system's ID of the thread that polls a task.
    fn os_thread(&self, one: &LiveTask) -> Option<u64> {
        let index = one.reading.thread?;
        let thread = self
            .live
            .threads
            .iter()
            .find(|thread| thread.index == index);
        thread?.os_id
    }

    /// `serve src/conn.rs:70 > push`: the innermost calls that ran in the task that woke another
    /// one; `.. >` before them if the first one is not its root.
    fn calls(&self, by: WakeSource) -> Option<String> {
        let (calls, has_root) = thread::paths().calls(by.path(), WAKER_CALLS);
        let told = calls.iter().map(|&(proc, site)| {
            let word = self.known.word(proc);
            let index = site.checked_sub(1).and_then(|at| u16::try_from(at).ok());
            match index.and_then(|at| self.assembly.names.place(proc, at)) {
                Some(place) => format!("{word} {}:{}", place.file, place.line),
                None => word.to_owned(),
            }
        });
        let told: Vec<String> = told.collect();
        let outer = if has_root { "" } else { ".. > " };
        (!told.is_empty()).then(|| format!("{outer}{}", told.join(" > ")))
    }

    /// Adds what is known from the task's waker and its origin.
    fn tell(&self, row: &mut TaskRow, one: &LiveTask, parts: TaskParts) {
        let known = self.known;
        row.waker = one.reading.waker.map(|waker| WakerRow {
            woken_by: parts.waker.then(|| known.waker(waker.by)).flatten(),
            woken_in: parts.waker.then(|| self.calls(waker.by)).flatten(),
            wakes: waker.wakes,
            own_wakes: waker.own_wakes,
            clones: waker.clones,
            live: waker.live.into(),
        });
        if parts.last_poll
            && let (Some(row), Some(last)) = (&mut row.last_poll, one.reading.last)
        {
            let thread = known.threads.get(&last.thread);
            row.thread = thread.map(|&name| name.to_owned());
            row.worker = known.workers.get(&last.thread).copied();
            row.ready_by = last.readied.and_then(|readied| known.waker(readied.by));
            row.ready_in = last.readied.and_then(|readied| self.calls(readied.by));
        }
        let Some(origin) = &one.origin else {
            return;
        };
        if let Some(name) = origin.name.as_ref().filter(|_| parts.name) {
            row.name = name.to_string();
        }
        if parts.attributes {
            row.attributes.clone_from(&origin.attributes);
        }
        if parts.origin {
            row.parent = known.name(origin.parent.task());
            row.spawned_in = self.calls(origin.parent);
            row.spawned_at = Some(spot(origin.place));
        }
    }
}

/// A source location.
pub(super) fn spot(place: &std::panic::Location<'_>) -> Spot {
    Spot {
        file: place.file().to_owned(),
        line: place.line(),
        column: place.column(),
    }
}

#[cfg(test)]
mod tests;
