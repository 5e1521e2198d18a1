//! Plain functions: accounted like one poll of a call while they run.

use turbowish_model::account::call::{Call as Account, Origin, PollEnd};
use turbowish_model::account::ledger::Start;
use turbowish_model::event::CallEvent;

use super::{CLOSED, recorded};
use crate::hot::proc::Proc;
use crate::hot::{clock, events, switch, thread};

/// A call of a plain function: accounted as one poll until this is dropped.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Entered {
    pub(super) account: Account,
    epoch: u32,
    depth: u32,
    /// The thread was already unwinding when the function was called: from a destructor.
    unwinding: bool,
}

/// A plain function starts no visible task: calls polled below it belong to none.
pub(super) const PLAIN: Start = Start {
    root: false,
    straight: false,
    quiet: true,
    key: 0,
};

/// Records that a plain function begins.
pub fn enter(proc: &'static Proc) -> Entered {
    let mut entered = Entered {
        account: Account::new(Origin::UNSEEN),
        epoch: 0,
        depth: CLOSED,
        unwinding: false,
    };
    let Some(epoch) = switch::quick() else {
        recorded::enter(proc, &mut entered);
        return entered;
    };
    if let Some(key) = proc.key(0) {
        let depth = thread::with(epoch, |thread| {
            let t = clock::ticks();
            entered.account = Account::new(thread.ledger.born());
            events::call(|| CallEvent::Create { proc: key.id });
            let depth = thread
                .ledger
                .poll_start(&mut entered.account, key, t, PLAIN);
            events::call(|| CallEvent::PollStart {
                proc: Some(key.id),
                root: false,
            });
            depth
        });
        entered.begin(epoch, depth.flatten().unwrap_or(CLOSED));
    }
    entered
}

impl Entered {
    pub(super) fn begin(&mut self, epoch: u32, depth: u32) {
        self.epoch = epoch;
        self.depth = depth;
        self.unwinding = std::thread::panicking();
    }

    /// The number of the call and the depth of its frame, if its events are recorded.
    pub(super) fn numbered(&self) -> Option<(u32, u32)> {
        let number = recorded::number(self.epoch)?;
        (self.depth != CLOSED).then_some((number, self.depth))
    }

    pub(super) fn end(&self) -> PollEnd {
        match std::thread::panicking() && !self.unwinding {
            true => PollEnd::Panic,
            false => PollEnd::Ready,
        }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.depth == CLOSED || switch::epoch() != Some(self.epoch) {
            return recorded::left(self);
        }
        let end = self.end();
        thread::with_current(self.epoch, |thread| {
            let (account, depth) = (&mut self.account, self.depth);
            thread.ledger.poll_end(account, depth, clock::ticks(), end);
            events::call(|| CallEvent::PollEnd(end));
        });
    }
}
