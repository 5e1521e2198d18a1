//! Messages and places of panics. Only the panic hook knows them, and the hook belongs to the
//! program: it is added to when the program asks for it.

use std::panic::{self, PanicHookInfo};
use std::sync::atomic::Ordering;
use std::thread;

use turbowish_model::snapshot::{Spot, sanitize};

use super::registry::TASKS;
use crate::hot::{switch, thread as threads};

/// Number of characters of a message that are kept.
const MESSAGE_LIMIT: usize = 200;

/// A panic, as the panic hook sees it.
#[derive(Clone, Debug)]
pub(crate) struct PanicNote {
    /// ID of the task that was polled.
    pub(crate) task: u64,
    pub(crate) message: Option<String>,
    pub(crate) place: Option<Spot>,
}

/// Records message and place of each panic in a task, for the alert *detached failure*.
///
/// It adds to the panic hook of the program: the hook that is installed now is called after it.
/// Call it after [`init`](crate::init()), and after the program has installed its own hook. Without
/// it, the alert tells which task panicked, but not why. A second call changes nothing.
///
/// ```
/// let _turbowish = turbowish::init();
/// turbowish::record_panics();
/// ```
pub fn record_panics() {
    // The hook of a thread that is panicking cannot be changed.
    if thread::panicking() || TASKS.hooked.swap(true, Ordering::Relaxed) {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        note(info);
        before(info);
    }));
}

fn note(info: &PanicHookInfo<'_>) {
    let Some(epoch) = switch::epoch() else { return };
    threads::with_current(epoch, |thread| {
        let task = thread.ledger.current_task();
        // The lock is free, unless the panic comes from under it.
        if task != 0
            && let Ok(mut noted) = thread.panic.try_lock()
        {
            *noted = Some(PanicNote {
                task,
                message: message(info),
                place: info.location().map(|at| Spot {
                    file: at.file().to_owned(),
                    line: at.line(),
                    column: at.column(),
                }),
            });
        }
    });
}

/// The message, on one line.
fn message(info: &PanicHookInfo<'_>) -> Option<String> {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))?;
    let end = text.char_indices().nth(MESSAGE_LIMIT);
    let kept = end.map_or(text, |(end, _)| &text[..end]);
    Some(sanitize::line(kept).into_owned())
}

/// Takes what was noted of the panic with which this task has just ended on this thread.
pub(super) fn take(task: u64) -> Option<PanicNote> {
    let epoch = switch::epoch()?;
    threads::with_current(epoch, |thread| {
        let mut noted = thread.panic.try_lock().ok()?;
        noted.take().filter(|note| note.task == task)
    })
    .flatten()
}
