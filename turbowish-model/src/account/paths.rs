//! Paths: which call is polled by which, interned as numbers.
//!
//! A path is a proc, how its call is polled, and the path of the call that polls it, up to the root
//! of the task. A thread's counters are kept by path, so that one record of the innermost call can
//! be shared out to all of its callers by the reader.
//!
//! The table is shared by all threads of a process. Entries are only added. Finding the first one
//! of a bucket costs two loads; adding one takes no lock.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use once_cell::race::OnceBox;

use crate::account::counters::PROC_LIMIT;
use crate::account::slow::{SlowCalls, SlowLimit};

/// Number of a path; 0 stands for none.
pub type PathId = u32;

/// How a call is polled, or what else an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum PathKind {
    /// The root of a task.
    Root = 1,
    /// The operand of its caller's await: polled by nothing else.
    Direct,
    /// Polled by code of its caller: a combinator, a box, a timeout.
    Inner,
    /// An await point of the path above: where its call waits.
    Wait,
    /// The proc that created the calls of the paths below, where it is not the one that polls them.
    Creator,
    /// Polled by an unknown call: the table is full.
    Lost,
    /// Like `Lost`, below another call of the same proc.
    LostAgain,
    /// A pending call at an await point of its own, below the frame above: of an await stack. Such
    /// entries have a table of their own, where an entry stands for the whole chain down to it.
    Frame,
    /// Like `Frame`; the call awaits one instrumented call, with nothing around it.
    DirectFrame,
}

impl PathKind {
    /// The kind with this number; `None` if there is none.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Root,
            2 => Self::Direct,
            3 => Self::Inner,
            4 => Self::Wait,
            5 => Self::Creator,
            6 => Self::Lost,
            7 => Self::LostAgain,
            8 => Self::Frame,
            9 => Self::DirectFrame,
            _ => return None,
        })
    }
}

/// Number of the proc of a [`PathKind::Creator`] that stands for no proc.
pub const NOBODY: u32 = PROC_LIMIT;

const KIND_BITS: u32 = 4;
const SITE_BITS: u32 = 10;
const PROC_BITS: u32 = PROC_LIMIT.ilog2() + 1;
const PROC_AT: u32 = KIND_BITS + SITE_BITS;
const PARENT_AT: u32 = 32;

const _: () = assert!(PROC_AT + PROC_BITS <= PARENT_AT);

/// What a path consists of, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathKey(u64);

impl PathKey {
    /// Creates a key. `site` is an await point plus one, of the parent or, of a
    /// [`PathKind::Wait`] or a frame, of the path itself; 0 if it does not matter.
    #[inline]
    #[must_use]
    pub const fn new(parent: PathId, proc: u32, site: u32, kind: PathKind) -> Self {
        let site = (site & ((1 << SITE_BITS) - 1)) as u64;
        Self(
            (parent as u64) << PARENT_AT
                | (proc as u64) << PROC_AT
                | site << KIND_BITS
                | kind as u64,
        )
    }

    /// The key of a pending call's frame, below no entry.
    #[inline(always)]
    pub(crate) const fn of_frame(proc: u32, site: u32, direct: bool) -> Self {
        const { assert!(PathKind::DirectFrame as u64 == PathKind::Frame as u64 | 1) };
        let key = Self::new(0, proc, site, PathKind::Frame);
        Self(key.0 | direct as u64)
    }

    /// The same key below another entry.
    #[inline(always)]
    pub(crate) const fn below(self, parent: PathId) -> Self {
        Self((parent as u64) << PARENT_AT | self.0 & u32::MAX as u64)
    }

    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The entry above.
    #[inline]
    #[must_use]
    pub const fn parent(self) -> PathId {
        (self.0 >> PARENT_AT) as u32
    }

    /// Proc id.
    #[inline]
    #[must_use]
    pub const fn proc(self) -> u32 {
        (self.0 >> PROC_AT) as u32 & ((1 << PROC_BITS) - 1)
    }

    /// Await point plus one; 0 if it does not matter.
    #[inline]
    #[must_use]
    pub const fn site(self) -> u32 {
        (self.0 >> KIND_BITS) as u32 & ((1 << SITE_BITS) - 1)
    }

    /// Whether this is an entry of that kind.
    #[inline]
    #[must_use]
    pub const fn is(self, kind: PathKind) -> bool {
        self.0 & ((1 << KIND_BITS) - 1) == kind as u64
    }

    /// The kind, as a number: see [`PathKind::of`].
    #[must_use]
    pub const fn kind(self) -> u8 {
        (self.0 & ((1 << KIND_BITS) - 1)) as u8
    }

    #[inline]
    pub(crate) const fn hash(self) -> usize {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        (self.0.wrapping_mul(GOLDEN) >> (u64::BITS - BUCKET_BITS)) as usize
    }
}

/// The path of one callee's calls, below the caller that was seen first: most functions have one.
#[derive(Debug, Default)]
pub struct FirstPath(AtomicU64);

impl FirstPath {
    /// Knows none yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The caller's path and its await point, in the bits above those of the path.
    #[inline(always)]
    const fn caller(above: PathId, site: u32) -> u64 {
        (above as u64) << SITE_BITS | site as u64
    }

    /// The path of a call that this caller awaits, if it is the one that was seen first.
    #[inline(always)]
    fn get(&self, above: PathId, site: u32) -> Option<PathId> {
        // Acquire: who finds the path also finds its entry.
        let word = self.0.load(Acquire);
        (word >> u32::BITS == Self::caller(above, site)).then_some(word as u32)
    }

    #[cold]
    fn set(&self, above: PathId, site: u32, path: PathId) {
        let word = Self::caller(above, site) << u32::BITS | u64::from(path);
        // Only the first one, so that callers that take turns do not write to it. Release: the
        // entry may be another thread's, and a third one knows of it by this word alone.
        let _ = self.0.compare_exchange(0, word, Release, Relaxed);
    }
}

const _: () = assert!(PATH_IDS < 1 << (u32::BITS - SITE_BITS));

const PAGE: usize = 1024;
const BUCKET_BITS: u32 = if cfg!(test) { 10 } else { 14 };

/// Entries beside the fixed ones that a process can have.
pub const PATH_LIMIT: u32 = 1 << 16;
const PAGES: usize = PATH_LIMIT as usize / PAGE;

/// Entries that are not stored: a root, a lost call and a lost recursive call of each proc.
const FIXED: u32 = 3 * PROC_LIMIT;
/// All ids are below this one.
pub(crate) const PATH_IDS: u32 = FIXED + 1 + PATH_LIMIT;
/// Bits of an id.
pub(crate) const PATH_BITS: u32 = 17;
const _: () = assert!(PATH_IDS <= 1 << PATH_BITS);

/// One entry.
#[derive(Default)]
struct PathEntry {
    key: AtomicU64,
    /// The entry of the same bucket that was added before.
    next: AtomicU32,
    /// Distance from the root, shifted by one; the lowest bit is [`AGAIN`].
    facts: AtomicU32,
}

/// Another call of the same proc is further out in the task.
const AGAIN: u32 = 1;

/// The entries of which the keys have this hash.
#[derive(Default)]
struct PathBucket {
    /// Key of the first one; 0 until its id is there.
    key: AtomicU64,
    id: AtomicU32,
    /// The last one.
    last: AtomicU32,
}

const BUCKETS: usize = 1 << BUCKET_BITS;

type PathBuckets = [PathBucket; BUCKETS];

/// All buckets, made on the heap: a program's thread may have a small stack.
fn new_buckets() -> Result<Box<PathBuckets>, Box<[PathBucket]>> {
    let buckets: Box<[PathBucket]> = (0..BUCKETS).map(|_| PathBucket::default()).collect();
    buckets.try_into()
}

struct PathPage([PathEntry; PAGE]);

impl Default for PathPage {
    fn default() -> Self {
        Self(core::array::from_fn(|_| PathEntry::default()))
    }
}

/// The paths of a process.
pub struct Paths {
    pages: [OnceBox<PathPage>; PAGES],
    buckets: OnceBox<PathBuckets>,
    /// Number of entries; at most `limit`.
    len: AtomicU32,
    limit: u32,
    threads: AtomicU64,
    slow: OnceBox<SlowCalls>,
}

impl Default for Paths {
    fn default() -> Self {
        Self::new(PATH_LIMIT)
    }
}

impl Paths {
    /// Creates an empty table for at most `limit` entries.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self {
            pages: [const { OnceBox::new() }; PAGES],
            buckets: OnceBox::new(),
            len: AtomicU32::new(0),
            threads: AtomicU64::new(0),
            slow: OnceBox::new(),
            limit: if limit < PATH_LIMIT {
                limit
            } else {
                PATH_LIMIT
            },
        }
    }

    /// Number of entries that can still be added.
    #[must_use]
    pub fn room(&self) -> u32 {
        self.limit - self.len.load(Relaxed)
    }

    /// What the threads share about slow calls.
    pub(crate) fn slow(&self) -> &SlowCalls {
        self.slow.get_or_init(Box::default)
    }

    /// Begins a tick of the reader: sets from which age on calls are followed, in the procs that
    /// are in `limits`. [`Ledger::renew_slow`](crate::account::ledger::Ledger::renew_slow) is then
    /// to be called for each thread.
    pub fn renew_slow(&self, limits: &[SlowLimit]) {
        let slow = self.slow();
        slow.renew();
        for limit in limits {
            slow.set(limit);
        }
    }

    /// The first event number of a new thread: no two threads have the same number.
    pub(crate) fn first_event(&self) -> u64 {
        const EVENT_BITS: u32 = 40;
        (self.threads.fetch_add(1, Relaxed) + 1) << EVENT_BITS
    }

    /// The path of a task's root that nobody created in a poll; also where calls that are not
    /// polled yet are counted.
    #[inline]
    #[must_use]
    pub const fn root(proc: u32) -> PathId {
        1 + proc
    }

    const fn lost(proc: u32, again: bool) -> PathId {
        1 + PROC_LIMIT + if again { PROC_LIMIT } else { 0 } + proc
    }

    #[inline]
    fn entry(&self, id: PathId) -> Option<&PathEntry> {
        let at = id.checked_sub(FIXED + 1)? as usize;
        let page = self.pages.get(at / PAGE)?.get()?;
        Some(&page.0[at % PAGE])
    }

    /// What a path consists of.
    // A return and each pending poll look up some: a call would cost a quarter more.
    #[inline(always)]
    #[must_use]
    pub fn key(&self, id: PathId) -> PathKey {
        match self.entry(id) {
            Some(entry) => PathKey(entry.key.load(Relaxed)),
            None => Self::fixed(id),
        }
    }

    /// The entries after the first `known` ones, as far as they are complete.
    pub fn added(&self, known: u32) -> impl Iterator<Item = PathId> + '_ {
        let ids = (FIXED + 1 + known)..(FIXED + 1 + self.len.load(Relaxed));
        // Another thread may be about to store the entry.
        ids.take_while(|&id| self.key(id).0 != 0)
    }

    /// What a path consists of that every table has, the same in all processes. `None` for others.
    #[must_use]
    pub const fn fixed_key(id: PathId) -> Option<PathKey> {
        match id {
            1..=FIXED => Some(Self::fixed(id)),
            _ => None,
        }
    }

    const fn fixed(id: PathId) -> PathKey {
        let at = id.wrapping_sub(1);
        let kind = match at / PROC_LIMIT {
            0 => PathKind::Root,
            1 => PathKind::Lost,
            _ => PathKind::LostAgain,
        };
        PathKey::new(0, at % PROC_LIMIT, 0, kind)
    }

    fn facts(&self, id: PathId) -> u32 {
        match self.entry(id) {
            Some(entry) => entry.facts.load(Relaxed),
            None => u32::from(Self::fixed(id).is(PathKind::LostAgain)) * AGAIN,
        }
    }

    /// Distance from the task's root; 0 if it is not known.
    #[inline]
    #[must_use]
    pub fn level(&self, id: PathId) -> u32 {
        self.facts(id) >> 1
    }

    /// Whether another call of the same proc is further out in the task.
    #[inline]
    #[must_use]
    pub fn is_again(&self, id: PathId) -> bool {
        self.facts(id) & AGAIN != 0
    }

    /// The path of the call that waits at this await point, or that has this path.
    #[inline(always)]
    pub(crate) fn polled_by(&self, unit: PathId) -> PathId {
        let key = self.key(unit);
        if key.is(PathKind::Wait) {
            key.parent()
        } else {
            unit
        }
    }

    /// The procs of the innermost calls of this path, at most `most`, the outermost first, each
    /// with the await point plus one at which it polls the next one; 0 if that is not known. Also
    /// whether the first one is the root of the task.
    #[must_use]
    pub fn calls(&self, id: PathId, most: usize) -> (Vec<(u32, u32)>, bool) {
        let (mut calls, mut next, mut site) = (Vec::new(), id, 0);
        let mut has_root = false;
        while next != 0 && !has_root && calls.len() < most {
            let key = self.key(next);
            next = key.parent();
            if key.is(PathKind::Creator) {
                continue;
            }
            if !key.is(PathKind::Wait) {
                calls.push((key.proc(), site));
            }
            site = key.site();
            has_root = key.is(PathKind::Root);
        }
        calls.reverse();
        (calls, has_root)
    }

    /// The path of the call that polls the calls of this path; 0 if none does, or if it is unknown.
    #[inline]
    #[must_use]
    pub fn caller(&self, id: PathId) -> PathId {
        self.caller_and_key(id).0
    }

    /// Like [`Paths::caller`], and also returns what that path consists of, if there is one.
    #[inline(always)]
    pub(crate) fn caller_and_key(&self, id: PathId) -> (PathId, PathKey) {
        let parent = self.key(id).parent();
        if parent == 0 {
            return (0, PathKey(0));
        }
        let above = self.key(parent);
        if !above.is(PathKind::Creator) {
            return (parent, above);
        }
        match above.parent() {
            0 => (0, PathKey(0)),
            caller => (caller, self.key(caller)),
        }
    }

    /// The proc that created the calls of this path; `None` if none did, or if it is unknown.
    #[must_use]
    pub fn creator(&self, id: PathId) -> Option<u32> {
        let parent = self.key(id).parent();
        (parent != 0)
            .then(|| self.key(parent).proc())
            .filter(|&proc| proc != NOBODY)
    }

    /// Finds a path, if it was added before and is the first one of its bucket.
    #[inline(always)]
    pub(crate) fn known(&self, key: PathKey) -> Option<PathId> {
        let bucket = &self.buckets.get()?[key.hash()];
        // Acquire: with the key comes its id. They do not change any more.
        (bucket.key.load(Acquire) == key.0).then(|| bucket.id.load(Relaxed))
    }

    /// The path of a call of `proc` that the call on the path `above` awaits at `site`, if it was
    /// added before.
    #[inline(always)]
    pub(crate) fn awaited(
        &self,
        first: &FirstPath,
        (above, site): (PathId, u32),
        proc: u32,
    ) -> Option<PathId> {
        first.get(above, site).or_else(|| {
            let path = self.known(PathKey::new(above, proc, site, PathKind::Direct))?;
            if first.0.load(Relaxed) == 0 {
                first.set(above, site, path);
            }
            Some(path)
        })
    }

    /// Finds or adds a path; `None` if the table is full.
    #[inline]
    pub fn intern(&self, key: PathKey) -> Option<PathId> {
        let buckets = self.buckets.get_or_try_init(new_buckets).ok()?;
        let bucket = &buckets[key.hash()];
        if bucket.key.load(Acquire) == key.0 {
            return Some(bucket.id.load(Relaxed));
        }
        let last = bucket.last.load(Acquire);
        match self.find(last, 0, key) {
            Some(id) => Some(id),
            None => self.add(bucket, last, key),
        }
    }

    /// Searches a bucket from the entry `from` back to but without `until`.
    #[inline]
    fn find(&self, from: PathId, until: PathId, key: PathKey) -> Option<PathId> {
        let mut id = from;
        while id != until {
            let entry = self.entry(id)?;
            if entry.key.load(Relaxed) == key.0 {
                return Some(id);
            }
            id = entry.next.load(Relaxed);
        }
        None
    }

    #[cold]
    fn add(&self, bucket: &PathBucket, last: PathId, key: PathKey) -> Option<PathId> {
        let count = |len: u32| (len < self.limit).then_some(len + 1);
        let at = self.len.fetch_update(Relaxed, Relaxed, count).ok()?;
        let page = self.pages[at as usize / PAGE].get_or_init(Box::default);
        let entry = &page.0[at as usize % PAGE];
        entry.key.store(key.0, Relaxed);
        entry.facts.store(self.facts_of(key), Relaxed);
        let id = FIXED + 1 + at;
        let mut last = last;
        loop {
            entry.next.store(last, Relaxed);
            // Release: who finds the id also finds the entry.
            match bucket.last.compare_exchange(last, id, AcqRel, Acquire) {
                Ok(0) => {
                    bucket.id.store(id, Relaxed);
                    bucket.key.store(key.0, Release);
                    return Some(id);
                }
                Ok(_) => return Some(id),
                Err(now) => {
                    // Another thread has added an entry. If it is this one, the own entry is never
                    // found, and lost.
                    if let Some(other) = self.find(now, last, key) {
                        return Some(other);
                    }
                    last = now;
                }
            }
        }
    }

    fn facts_of(&self, key: PathKey) -> u32 {
        let parent = key.parent();
        if parent == 0 {
            return 0;
        }
        let (above, facts) = (self.key(parent), self.facts(parent));
        if key.is(PathKind::Wait) {
            return facts;
        }
        if key.is(PathKind::Creator) {
            return facts & !AGAIN;
        }
        // A creator without a caller is above a root.
        if key.is(PathKind::Root) || (above.is(PathKind::Creator) && above.parent() == 0) {
            return 0;
        }
        let level = (facts >> 1) + 1;
        (level << 1) | (u32::from(self.has(parent, key.proc())) * AGAIN)
    }

    /// Whether a call of `proc` is on a path.
    pub(crate) fn has(&self, path: PathId, proc: u32) -> bool {
        let mut at = path;
        while at != 0 {
            let key = self.key(at);
            if key.proc() == proc && !key.is(PathKind::Creator) {
                return true;
            }
            at = key.parent();
        }
        false
    }

    /// The path of a call of `proc` below `caller` that has no entry.
    #[cold]
    pub(crate) fn without_entry(&self, proc: u32, again: bool) -> PathId {
        Self::lost(proc, again)
    }
}

impl core::fmt::Debug for Paths {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Paths")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
