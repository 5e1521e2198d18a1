//! Ends of a channel, and the task that last used each.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use turbowish_model::account::resource::{End as Shown, SHOWN};

use super::{Resource, Role};
use crate::hot::{current, switch};
use crate::lock::lock;
use crate::resource::cancel_safety;
use turbowish_model::ordered::Map;
use turbowish_model::sorting;

/// All ends of one channel.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    senders: AtomicUsize,
    receivers: AtomicUsize,
    /// Number of ends that were ever used.
    numbers: AtomicUsize,
    /// The senders that were used or are named by an intent, in that order.
    used_senders: Mutex<UsedEnds>,
    /// The receivers, likewise. Separate, so that they are found however many senders there are.
    used_receivers: Mutex<UsedEnds>,
}

/// Used ends by number.
type UsedEnds = Map<usize, Arc<Used>>;

/// An end that was used, or is named by an intent.
#[derive(Debug)]
struct Used {
    number: usize,
    /// ID of the task that used it last; 0 if none did, or none that is seen.
    user: AtomicU64,
}

impl Ends {
    const fn count(&self, role: Role) -> &AtomicUsize {
        match role {
            Role::Receive => &self.receivers,
            _ => &self.senders,
        }
    }

    fn used(&self, role: Role) -> MutexGuard<'_, UsedEnds> {
        let used = match role {
            Role::Receive => &self.used_receivers,
            _ => &self.used_senders,
        };
        lock(used)
    }

    /// The ends of each side, those of unknown users last. Ends beyond [`SHOWN`] are represented by
    /// one whose user is unknown: a search for an end that could still be used must not miss them.
    pub(super) fn read(&self) -> Vec<Shown> {
        let mut shown = Vec::new();
        for role in [Role::Send, Role::Receive] {
            let used = self.used(role);
            // Limited: the lock is not held for very many ends.
            let known = used.values().take(SHOWN).map(|used| {
                let user = used.user.load(Ordering::Relaxed);
                Shown {
                    role,
                    user: (user != 0).then_some(user),
                    number: Some(used.number as u64),
                }
            });
            let mut ends: Vec<Shown> = known.collect();
            sorting::by_key(&mut ends, |end| end.user.is_none());
            // The lock is held, so every end in the total that was used is among them.
            let total = self.count(role).load(Ordering::Acquire);
            drop(used);
            let unknown = Shown {
                role,
                ..Shown::default()
            };
            ends.resize(total.clamp(ends.len(), SHOWN + 1), unknown);
            shown.extend(ends);
        }
        shown
    }
}

/// One end of a channel.
#[derive(Debug)]
pub(crate) struct End {
    ends: Arc<Ends>,
    role: Role,
    used: OnceLock<Arc<Used>>,
}

impl Resource {
    /// Creates an end that was not used yet.
    pub(crate) fn end(&self, role: Role) -> End {
        End::new(self.ends.get_or_init(Arc::default), role)
    }
}

impl End {
    fn new(ends: &Arc<Ends>, role: Role) -> Self {
        ends.count(role).fetch_add(1, Ordering::Relaxed);
        Self {
            ends: ends.clone(),
            role,
            used: OnceLock::new(),
        }
    }

    /// Records the current task as its user.
    #[inline]
    pub(crate) fn used(&self) {
        if !switch::is_armed() {
            return;
        }
        let user = current::ledger(|ledger| {
            if self.role == Role::Receive {
                cancel_safety::asks(ledger);
            }
            ledger.current_call().task
        });
        let user = user.unwrap_or(0);
        match self.used.get() {
            Some(used) => used.user.store(user, Ordering::Relaxed),
            None => {
                self.first(user);
            }
        }
    }

    /// Its number among the ends that were used, or that an intent names.
    pub(super) fn number(&self) -> u64 {
        match self.used.get() {
            Some(used) => used.number as u64,
            None => self.first(0).number as u64,
        }
    }

    #[cold]
    fn first(&self, user: u64) -> &Used {
        self.used.get_or_init(|| {
            let number = self.ends.numbers.fetch_add(1, Ordering::Relaxed);
            let used = Arc::new(Used {
                number,
                user: AtomicU64::new(user),
            });
            self.ends.used(self.role).insert(number, used.clone());
            used
        })
    }
}

impl Clone for End {
    fn clone(&self) -> Self {
        Self::new(&self.ends, self.role)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if !switch::is_child()
            && let Some(used) = self.used.get()
        {
            self.ends.used(self.role).remove(&used.number);
        }
        self.ends.count(self.role).fetch_sub(1, Ordering::Release);
    }
}
