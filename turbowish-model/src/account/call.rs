//! Per-call account: the few words stored in a call itself, from which a poll learns about earlier
//! polls.

mod age;
mod number;

use self::age::Age;
pub(crate) use self::age::EXACT_BELOW;
pub use self::number::CALL_NUMBERS;
use crate::account::ledger::Charge;
use crate::account::paths::{PATH_IDS, PathId};

/// A proc as a ledger addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcKey {
    /// Proc id, below [`crate::account::counters::PROC_LIMIT`].
    pub id: u32,
    /// Bytes of this call's future.
    pub future_bytes: u64,
}

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PollEnd {
    /// `Poll::Pending`.
    Pending,
    /// `Poll::Ready` with anything but an `Err`.
    Ready,
    /// `Poll::Ready(Err(_))`.
    Err,
    /// The poll unwound with a panic.
    Panic,
    /// The frame was closed without a result and without a panic.
    Torn,
}

impl PollEnd {
    /// All of them, each at the place that its number as an integer says.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Ready,
        Self::Err,
        Self::Panic,
        Self::Torn,
    ];

    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Ready => Outcome::Ready,
            Self::Err => Outcome::Err,
            Self::Panic => Outcome::Panicked,
            Self::Pending | Self::Torn => Outcome::Cancelled,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Returned anything but an `Err`.
    Ready,
    /// Returned an `Err`, as its return type shows.
    Err,
    /// Dropped before it returned.
    Cancelled,
    /// Ended by a panic in its poll.
    Panicked,
}

/// Epoch number that is never used: the call is not registered.
const UNREGISTERED: u32 = 0;

/// Bits for the await point plus one (0 if unknown), in the state word of a call and in `place` of
/// a frame. The flags below share that word.
pub(crate) const SITE: u32 = (1 << 10) - 1;
/// The call has taken or given something that a drop loses or leaves half-done.
pub(crate) const MARK: u32 = 1 << 10;
/// The call polls several calls at this await point, as far as is known.
pub(crate) const FORK: u32 = 1 << 11;
/// The operand of the await is itself an instrumented call.
pub(crate) const DIRECT: u32 = 1 << 12;
/// In a call: its last accounted poll ended pending. In a frame: the poll before it ended pending,
/// and the call has not reached another await point since.
pub(crate) const PENDING: u32 = 1 << 13;
/// The call has ended.
const ENDED: u32 = 1 << 14;
/// A poll of the call was accounted.
const POLLED: u32 = 1 << 15;
/// The call is the root of a task for which there was no room.
const ROWLESS: u32 = 1 << 16;
/// The bits of the state word below the upper half of the call's age, and of the word of its path
/// below the lower half.
const BELOW_AGE: u32 = !Age::HALF;

const _: () = assert!(ROWLESS <= BELOW_AGE && PATH_IDS <= BELOW_AGE);

/// Flags below the epoch in the word of a call.
const FLAG_BITS: u32 = 2;
/// The call is the operand of its caller's await: polled by nothing else.
const FUSED: u32 = 1 << 0;
/// The call awaits another one directly, which was pending at the end of the last poll.
const PASSES: u32 = 1 << 1;

/// Origin of a call: the epoch it is registered with, who created it, and when. Two words, so that
/// it is passed to a new call in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Origin {
    /// Two words of the call: the epoch, and the path of the call that created it.
    word: u64,
    birth: u64,
}

/// Set in the birth of a call that was counted at its creation. Below it are the lower bits of the
/// time of the creation.
pub(crate) const COUNTED: u64 = 1 << 63;

impl Origin {
    /// Origin of a call that no ledger has seen.
    pub const UNSEEN: Self = Self {
        word: UNREGISTERED as u64,
        birth: COUNTED,
    };

    /// `birth` is the number of the thread's last event at the creation.
    #[inline]
    pub(crate) const fn new(epoch: u32, creator: PathId, birth: u64) -> Self {
        Self {
            word: (creator as u64) << u32::BITS | (epoch << FLAG_BITS) as u64,
            birth,
        }
    }

    /// Origin of a call that is counted at its creation, at `t`.
    #[inline]
    pub(crate) const fn counted(epoch: u32, creator: PathId, t: u64) -> Self {
        Self::new(epoch, creator, COUNTED | t)
    }
}

/// One call's own account. A call never overlaps itself, so plain fields suffice.
///
/// Of the fields that are zero in a new call, two lie side by side: one instruction sets these
/// sixteen bytes. The others lie apart: a longer row of zeros would be set as one block, and copied
/// through memory each time that the call is moved.
// Packed, so that a program can keep four bytes of its own beside it without padding.
#[derive(Clone, Debug)]
#[repr(C, packed(4))]
pub struct Call {
    pub(crate) running: u64,
    pub(crate) inclusive: u64,
    /// The epoch it is registered with, [`FUSED`] and [`PASSES`]: what a poll compares first.
    word: u32,
    /// [`Call::unit`], below the lower half of the age.
    unit: u32,
    /// Await point and flags, below the upper half of the age.
    state: u32,
    /// Of the operand of an await: the part of `inclusive` that its caller knows of. Of any other
    /// call: end of the last poll that ended pending, in ticks. Before the first poll: the number
    /// of its thread's last event at the creation, or [`COUNTED`].
    told_or_suspended: u64,
    /// End of the poll in which the call reached its present await point, in ticks; the age is that
    /// of this moment. Until then, if the call was counted at its creation: the time of that.
    pub(crate) since: u64,
}

const _: () = assert!(size_of::<Call>() == 44);

impl Default for Call {
    fn default() -> Self {
        Self::new(Origin::UNSEEN)
    }
}

impl Call {
    /// Creates the account of a new call.
    #[inline]
    #[must_use]
    pub const fn new(origin: Origin) -> Self {
        Self {
            word: origin.word as u32,
            unit: (origin.word >> u32::BITS) as u32,
            state: 0,
            running: 0,
            inclusive: 0,
            told_or_suspended: origin.birth,
            since: 0,
        }
    }

    /// Whether the call is registered with this epoch and has not ended.
    #[inline]
    #[must_use]
    pub const fn is_live(&self, epoch: u32) -> bool {
        self.epoch() == epoch && self.state & ENDED == 0
    }

    /// Whether the call has ended. Later polls and drops of it are not accounted.
    #[inline]
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.state & ENDED != 0
    }

    /// Whether the call is registered with any epoch, a past one included, and has not ended.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.epoch() != UNREGISTERED && self.state & ENDED == 0
    }

    /// The epoch the call is registered with; 0 if none.
    #[inline]
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.word >> FLAG_BITS
    }

    /// What [`Call::is_straight`] compares with if no call is straight: the word of no call.
    pub const NOT_STRAIGHT: u32 = UNREGISTERED << FLAG_BITS | FUSED;

    /// What [`Call::is_straight`] compares with in polls below a task's root that has nothing to do
    /// in them, in the given epoch.
    #[inline]
    #[must_use]
    pub const fn straight(epoch: u32) -> u32 {
        epoch << FLAG_BITS | FUSED | PASSES
    }

    /// Whether the call has nothing to do in a poll as long as what it awaits is pending: all of
    /// its callers have nothing to do, as `straight` says.
    #[inline(always)]
    #[must_use]
    pub const fn is_straight(&self, straight: u32) -> bool {
        self.word == straight
    }

    /// Whether the call is the operand of its caller's await.
    #[inline]
    #[must_use]
    pub const fn is_fused(&self) -> bool {
        self.word & FUSED != 0
    }

    /// Whether it awaits another call directly, which was pending at the end of the last poll.
    #[inline]
    pub(crate) const fn passes(&self) -> bool {
        self.word & PASSES != 0
    }

    #[inline]
    pub(crate) const fn set_passes(&mut self, passes: bool) {
        self.word = self.word & !PASSES | if passes { PASSES } else { 0 };
    }

    /// Goes on in a poll that it was no part of until what it awaits ended.
    pub(crate) const fn resume(&mut self) {
        self.state &= !PENDING;
    }

    /// Marks the call, whose poll has ended.
    pub(crate) const fn mark(&mut self) {
        self.state |= MARK;
        self.set_passes(false);
    }

    /// Whether a poll of the call was accounted.
    #[inline]
    #[must_use]
    pub const fn is_polled(&self) -> bool {
        self.state & POLLED != 0
    }

    /// Records that there was no room for the task whose root this call is.
    pub const fn set_rowless(&mut self) {
        self.state |= ROWLESS;
    }

    /// Whether there was no room for the task whose root this call is.
    #[must_use]
    pub const fn is_rowless(&self) -> bool {
        self.state & ROWLESS != 0
    }

    /// Whether the call is marked: see [`Ledger::mark`](crate::account::ledger::Ledger::mark).
    #[inline]
    #[must_use]
    pub const fn is_marked(&self) -> bool {
        self.state & MARK != 0
    }

    /// Removes the mark: the call holds nothing any more of what it was marked for.
    pub const fn unmark(&mut self) {
        self.state &= !MARK;
    }

    /// Whether the last accounted poll ended pending.
    #[inline]
    pub(crate) const fn is_suspended(&self) -> bool {
        self.state & PENDING != 0
    }

    /// Await point of the call plus one; 0 if unknown.
    #[inline]
    #[must_use]
    pub const fn site(&self) -> u32 {
        self.state & SITE
    }

    /// [`Call::site`], with the flag [`DIRECT`].
    #[inline]
    pub(crate) const fn place(&self) -> u32 {
        self.state & (SITE | DIRECT)
    }

    /// Whether the call was created by the call on this path after this event of the thread, and
    /// nothing has happened to it.
    #[inline(always)]
    pub(crate) const fn is_new(&self, event: u64, creator: PathId) -> bool {
        self.state == 0 && self.birth() == event && self.unit == creator
    }

    /// The await point at which it waits, or who polls it if it does not wait at a known one:
    /// [`Paths::polled_by`](crate::account::paths::Paths::polled_by) tells the latter from either.
    /// Before the first poll: the path of the call that created it; 0 if none did.
    #[inline(always)]
    pub(crate) const fn unit(&self) -> PathId {
        self.unit & BELOW_AGE
    }

    #[inline(always)]
    pub(crate) const fn set_unit(&mut self, unit: PathId) {
        self.unit = self.unit & !BELOW_AGE | unit;
    }

    /// Before the first poll: the number of its thread's last event at the creation, or
    /// [`COUNTED`] and the time of that.
    #[inline(always)]
    const fn birth(&self) -> u64 {
        self.told_or_suspended
    }

    /// Before the first poll: whether the call was counted at its creation.
    #[inline(always)]
    pub(crate) const fn is_counted(&self) -> bool {
        self.birth() & COUNTED != 0
    }

    /// Starts the first poll, at `t`, of a call that may have been counted at its creation. Returns
    /// its birth.
    #[inline]
    pub(crate) const fn keep_birth(&mut self, t: u64) -> u64 {
        // The upper bits of the time are those of `t`, which is close to it.
        let age = (t.wrapping_sub(self.birth()) << 1).cast_signed() >> 1;
        self.since = t;
        if self.is_counted() && age > 0 {
            self.since = t.wrapping_sub(age.cast_unsigned());
        }
        self.birth()
    }

    /// Records that the call, `lived` ticks old, reached its present await point in the poll that
    /// ends at `t`.
    #[inline(always)]
    pub(crate) const fn reach(&mut self, lived: u64, t: u64) {
        let age = Age::of(lived);
        self.state = self.state & BELOW_AGE | age.upper();
        self.unit = self.unit & BELOW_AGE | age.lower();
        self.since = t;
    }

    /// Time from the birth to `t`, if a poll has ended: wall time.
    #[inline(always)]
    pub(crate) const fn lived(&self, t: u64) -> u64 {
        Age::of_halves(self.state & !BELOW_AGE, self.unit & !BELOW_AGE)
            .ticks()
            .wrapping_add(t.saturating_sub(self.since))
    }

    /// End of the last poll that ended pending, in ticks; `None` for the operand of an await, whose
    /// polls end with its caller's.
    #[inline(always)]
    pub(crate) const fn suspended(&self) -> Option<u64> {
        if self.is_fused() {
            None
        } else {
            Some(self.told_or_suspended)
        }
    }

    #[inline(always)]
    const fn set_suspended(&mut self, t: u64) {
        if !self.is_fused() {
            self.told_or_suspended = t;
        }
    }

    /// Tells the caller, which awaits the call, of a part of the inclusive time.
    #[inline(always)]
    pub(crate) const fn tell(&mut self, inclusive: u64) {
        if self.is_fused() {
            self.told_or_suspended = self.told_or_suspended.wrapping_add(inclusive);
        }
    }

    /// The part of the inclusive time that the caller knows of.
    #[inline(always)]
    pub(crate) const fn told(&self) -> u64 {
        if self.is_fused() {
            self.told_or_suspended
        } else {
            0
        }
    }

    /// Starts the first poll of a call that its caller awaits.
    #[inline(always)]
    pub(crate) const fn begin_awaited(&mut self, path: PathId) {
        self.fuse();
        self.begin_root(path);
    }

    /// Starts the first poll of a task's root.
    #[inline(always)]
    pub(crate) const fn begin_root(&mut self, path: PathId) {
        self.state = POLLED;
        self.unit = path;
    }

    /// Starts a poll of a call that waits, unless anything about it is special. Returns its place.
    #[inline(always)]
    pub(crate) const fn again(&mut self) -> Option<u32> {
        let state = self.state;
        if state & BELOW_AGE & !(SITE | DIRECT | FORK) != PENDING | POLLED {
            return None;
        }
        self.state = state & !PENDING;
        Some(state & (SITE | DIRECT | FORK | PENDING))
    }

    /// Ends the first poll at `t`. The `times` are the running time, the inclusive time and the
    /// duration, which the caller knows of if it awaits the call.
    #[inline(always)]
    pub(crate) const fn suspend_new(
        &mut self,
        place: u32,
        unit: PathId,
        t: u64,
        times: [u64; 3],
        passes: bool,
    ) {
        let [running, inclusive, hold] = times;
        let age = Age::of(hold);
        self.state = POLLED | PENDING | place & (SITE | DIRECT) | age.upper();
        self.unit = unit | age.lower();
        self.since = t;
        [self.running, self.inclusive] = [running, inclusive];
        self.told_or_suspended = if self.is_fused() { hold } else { t };
        self.set_passes(passes);
    }

    /// Ends a poll at `t` in which the call, `lived` ticks old, reached the await point `unit`.
    #[inline(always)]
    pub(crate) const fn suspend_moved(
        &mut self,
        (place, unit): (u32, PathId),
        lived: u64,
        t: u64,
        passes: bool,
    ) {
        let age = Age::of(lived);
        self.leave(place);
        self.state = self.state & BELOW_AGE | PENDING | age.upper();
        self.unit = unit | age.lower();
        self.since = t;
        self.set_suspended(t);
        self.set_passes(passes);
    }

    /// Ends a poll at `t` in which the call has not moved, with its running and inclusive time. It
    /// may have turned out to poll several calls where it stands, as `place` says.
    #[inline(always)]
    pub(crate) const fn suspend_again(
        &mut self,
        place: u32,
        t: u64,
        [running, inclusive]: [u64; 2],
        passes: bool,
    ) {
        self.leave(place);
        self.suspend(t);
        self.running = self.running.wrapping_add(running);
        self.inclusive = self.inclusive.wrapping_add(inclusive);
        self.set_passes(passes);
    }

    /// The running time of all polls and their inclusive time, together with these of the last one.
    #[inline(always)]
    pub(crate) const fn with_last(&self, [running, inclusive]: [u64; 2]) -> [u64; 2] {
        [
            self.running.wrapping_add(running),
            self.inclusive.wrapping_add(inclusive),
        ]
    }

    /// The part of the inclusive time that the caller does not know of.
    #[inline]
    pub(crate) const fn untold(&self) -> u64 {
        self.inclusive.wrapping_sub(self.told())
    }

    /// Starts a poll. Returns the call's place, for the frame.
    #[inline]
    pub(crate) const fn enter(&mut self) -> u32 {
        let state = self.state;
        self.state = state & !PENDING | POLLED;
        state & (SITE | MARK | FORK | DIRECT | PENDING)
    }

    /// Records that the call is the operand of its caller's await.
    #[inline]
    pub(crate) const fn fuse(&mut self) {
        self.word |= FUSED;
        self.told_or_suspended = 0;
    }

    /// Ends a poll; `place` is that of the frame.
    #[inline]
    pub(crate) const fn leave(&mut self, place: u32) {
        const PLACE: u32 = SITE | MARK | FORK | DIRECT;
        self.state = self.state & !PLACE | place & PLACE;
    }

    /// Records that the poll just closed ended pending at `t`.
    #[inline]
    pub(crate) const fn suspend(&mut self, t: u64) {
        self.state |= PENDING;
        self.set_suspended(t);
    }

    #[inline]
    pub(crate) const fn charge(&mut self, charge: &Charge) {
        self.running = self.running.wrapping_add(charge.running);
        self.inclusive = self.inclusive.wrapping_add(charge.inclusive);
    }

    /// Closes a poll that had no end of its own (R3).
    pub const fn close(&mut self, charge: &Charge) {
        self.leave(0);
        self.charge(charge);
    }

    #[inline]
    pub(crate) const fn end(&mut self) {
        self.state |= ENDED;
    }
}
