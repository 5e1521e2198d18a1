//! The last tasks that ended by a panic.

use std::sync::Arc;

use turbowish_model::account::task::TaskMeta;

use super::panics::{self, PanicNote};
use super::registry::TASKS;
use crate::features;
use crate::hot::clock;
use crate::hot::origin::TaskOrigin;
use crate::lock::lock;

/// A task that ended by a panic.
#[derive(Clone, Debug)]
pub(crate) struct Panicked {
    pub(crate) meta: TaskMeta,
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// Time of the panic, in ticks.
    pub(crate) at: u64,
    /// Whether nothing could await its result any more.
    pub(crate) detached: Option<bool>,
    /// What the panic hook was told, if it was added to.
    pub(crate) note: Option<PanicNote>,
}

/// Number of panicked tasks that are kept.
const ENDED_LIMIT: usize = 64;

/// Records a task that ends by a panic, for the alert rules.
#[cold]
pub(crate) fn panicked(meta: TaskMeta, origin: &Option<Arc<TaskOrigin>>) {
    if !features::SERVER {
        return;
    }
    let note = panics::take(meta.id);
    let mut ended = lock(&TASKS.ended);
    if ended.len() == ENDED_LIMIT {
        ended.pop_front();
    }
    ended.push_back(Panicked {
        meta,
        detached: origin.as_ref().and_then(|origin| origin.is_detached()),
        origin: origin.clone(),
        at: clock::ticks(),
        note,
    });
}

/// The last tasks that ended by a panic.
pub(crate) fn ended() -> Vec<Panicked> {
    lock(&TASKS.ended).iter().cloned().collect()
}
