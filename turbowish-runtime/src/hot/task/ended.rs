//! The last tasks that ended by a panic.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use turbowish_model::account::task::TaskMeta;

use crate::hot::clock;
use crate::hot::origin::TaskOrigin;

/// A task that ended by a panic.
#[derive(Clone, Debug)]
pub(crate) struct Panicked {
    pub(crate) birth: TaskMeta,
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// Time of the panic, in ticks.
    pub(crate) at: u64,
    /// Whether nothing could await its result any more.
    pub(crate) detached: Option<bool>,
}

/// The last [`ENDED_LIMIT`] of them.
static ENDED: Mutex<VecDeque<Panicked>> = Mutex::new(VecDeque::new());

/// Number of panicked tasks that are kept.
const ENDED_LIMIT: usize = 64;

/// Records a task that ends by a panic.
#[cold]
pub(crate) fn panicked(birth: TaskMeta, origin: &Option<Arc<TaskOrigin>>) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if ended.len() == ENDED_LIMIT {
        ended.pop_front();
    }
    ended.push_back(Panicked {
        birth,
        detached: origin.as_ref().and_then(|origin| origin.is_detached()),
        origin: origin.clone(),
        at: clock::ticks(),
    });
}

/// The last tasks that ended by a panic.
pub(crate) fn ended() -> Vec<Panicked> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.iter().cloned().collect()
}
