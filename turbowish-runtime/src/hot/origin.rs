//! Task origins: a future marked as the root of a task, with name, attributes, spawner and spawn
//! site.
//!
//! A task is seen without a mark, too. If the marked future is an instrumented call, that call is
//! the root, and the mark only adds the origin. Any other future becomes a call of a proc named
//! after the place of the mark.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use turbowish_model::account::task::{WakeCause, WakeSource};

use crate::hot::call::{self, Call};
use crate::hot::current;
use crate::hot::probe::Other;
use crate::hot::proc::{self, Proc, StaticProc};
use crate::hot::{clock, switch};
use crate::lock::lock;

/// Origin of a task: where it was marked, when and by which task.
#[derive(Debug)]
pub(crate) struct TaskOrigin {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) place: &'static Location<'static>,
    /// The task that marked it, if one did.
    pub(crate) parent: WakeSource,
    /// Time of the mark, in ticks.
    pub(crate) at: u64,
    /// A thread blocks on the task, and polls it even if it is not woken.
    pub(crate) blocks: bool,
    /// Whether its result can still be awaited.
    pub(crate) handle: AtomicU8,
}

/// The handle's state is unknown.
const UNKNOWN: u8 = 0;
/// The handle exists.
const HELD: u8 = 1;
/// The handle was dropped.
const DROPPED: u8 = 2;

impl TaskOrigin {
    /// A task is ready from the moment it is spawned.
    pub(crate) fn readied(&self) -> WakeCause {
        WakeCause {
            since: self.at,
            by: self.parent,
        }
    }

    /// Whether nothing can await its result any more; `None` if that is not known.
    pub(crate) fn is_detached(&self) -> Option<bool> {
        match self.handle.load(Ordering::Relaxed) {
            UNKNOWN => None,
            state => Some(state == DROPPED),
        }
    }
}

/// Held by a task's handle: records the drop of the handle in the task's origin.
#[derive(Debug)]
pub(crate) struct HandleGuard(Arc<TaskOrigin>);

impl Drop for HandleGuard {
    fn drop(&mut self) {
        self.0.handle.store(DROPPED, Ordering::Relaxed);
    }
}

impl<F> Task<F> {
    /// For the handle of the task that this becomes.
    pub(crate) fn handled(&self) -> Option<HandleGuard> {
        let origin = self.origin.clone()?;
        origin.handle.store(HELD, Ordering::Relaxed);
        Some(HandleGuard(origin))
    }
}

thread_local! {
    /// Origin of the task whose first poll is about to begin.
    static STORY: Cell<Option<Arc<TaskOrigin>>> = const { Cell::new(None) };
}

/// Takes the origin that the future polling this one has published.
pub(crate) fn origin() -> Option<Arc<TaskOrigin>> {
    STORY.try_with(Cell::take).ok().flatten()
}

/// Whether there is an origin to take.
#[cold]
pub(crate) fn is_told() -> bool {
    let told = STORY.try_with(|cell| {
        let origin = cell.take();
        let told = origin.is_some();
        cell.set(origin);
        told
    });
    told.unwrap_or(false)
}

pin_project! {
    /// A future marked as the root of a task: see [`task`] and [`TaskBuilder`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Task<F> {
        origin: Option<Arc<TaskOrigin>>,
        #[pin]
        call: Call<F, Other, StaticProc>,
    }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _told = tell(this.origin, cx.waker());
        if call::is_call::<F>() {
            this.call.future().poll(cx)
        } else {
            this.call.poll(cx)
        }
    }
}

/// Publishes the origin to the root that is polled next, if there is one. A call awaited in place
/// is not a root.
#[inline]
fn tell(origin: &mut Option<Arc<TaskOrigin>>, waker: &Waker) -> Option<OriginGuard> {
    let origin = origin.take()?;
    if call::is_child(waker) {
        return None;
    }
    let told = STORY.try_with(|cell| cell.set(Some(origin)));
    told.is_ok().then_some(OriginGuard)
}

/// Withdraws an origin that was not taken: the polled future may be no root. Also when the poll
/// unwinds, so that the next root does not take it.
struct OriginGuard;

impl Drop for OriginGuard {
    fn drop(&mut self) {
        drop(origin());
    }
}

/// Marks `future` as the root of a task, for executors of any kind: the task is identified by the
/// place of the mark and by the task that marked it.
///
/// Not needed for an instrumented call that an executor polls: that is seen as a task without a
/// mark. A nested executor other than tokio's, running inside a task's poll, is not recognized:
/// mark its futures, or they are accounted as children of that task.
///
/// ```
/// use futures::executor::block_on;
///
/// let _turbowish = turbowish::init();
/// // A future without the attribute becomes a task, too.
/// let sum = turbowish::task(async { 1 + 2 });
/// assert_eq!(block_on(sum), 3);
/// ```
#[track_caller]
pub fn task<F: Future>(future: F) -> Task<F> {
    TaskBuilder::new().task(future)
}

/// Same as [`task`].
#[deprecated(note = "use `task`")]
#[track_caller]
pub fn root<F: Future>(future: F) -> Task<F> {
    task(future)
}

/// Same as [`Task`].
#[deprecated(note = "use `Task`")]
pub type Root<F> = Task<F>;

/// Names a task and gives it attributes before it is spawned.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report.json");
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let turbowish = turbowish::Builder::new().report_to(&path).init();
/// let connection = turbowish::TaskBuilder::new()
///     .name("conn:51022")
///     .attribute("tenant", "acme")
///     .task(std::future::pending::<()>());
/// let handle = runtime.spawn(connection);
/// # runtime.block_on(tokio::task::yield_now());
/// drop(turbowish);
///
/// // The task waits when the guard drops, so it is in the report, under its name.
/// assert!(!handle.is_finished());
/// assert!(std::fs::read_to_string(&path)?.contains("conn:51022"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is spawned before `spawn`"]
pub struct TaskBuilder {
    name: Option<Arc<str>>,
    attributes: Vec<(String, String)>,
    blocks: bool,
}

impl TaskBuilder {
    /// Creates a builder without name and attributes.
    pub const fn new() -> Self {
        Self {
            name: None,
            attributes: Vec::new(),
            blocks: false,
        }
    }

    /// Records that a thread is going to block on the task.
    pub(crate) const fn blocking(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Sets the task's name, shown in place of its root proc and number.
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        self.name = Some(name.as_ref().into());
        self
    }

    /// Adds an attribute to find the task by; the name may occur several times.
    pub fn attribute(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.attributes.push((name.into(), value.to_string()));
        self
    }

    /// Marks `future` as the root of the task.
    #[track_caller]
    pub fn task<F: Future>(self, future: F) -> Task<F> {
        let place = Location::caller();
        let origin = switch::is_armed().then(|| {
            Arc::new(TaskOrigin {
                name: self.name,
                attributes: self.attributes,
                place,
                parent: current::spawner(),
                at: clock::ticks(),
                blocks: self.blocks,
                handle: AtomicU8::new(UNKNOWN),
            })
        });
        // A child of `fork` accounts nothing, and must not take a lock of its parent.
        let call = if call::is_call::<F>() || switch::is_child() {
            Call::bare(proc::uncounted().as_static(), Other, future)
        } else {
            call::call(proc_at::<F>(place).as_static(), Other, future)
        };
        Task { origin, call }
    }
}

/// The proc of futures that are marked at `place`.
fn proc_at<F>(place: &'static Location<'static>) -> &'static Proc {
    /// Procs by file, line and column.
    type Places = HashMap<(&'static str, u32, u32), &'static Proc>;
    static PROCS: Mutex<Option<Places>> = Mutex::new(None);
    let mut procs = lock(&PROCS);
    let key = (place.file(), place.line(), place.column());
    let procs = procs.get_or_insert_default();
    let on_line = |(file, line, _): &(&str, u32, u32)| (*file, *line) == (key.0, key.1);
    let shared = procs.keys().any(on_line);
    procs.entry(key).or_insert_with(|| {
        // The column is named only if the line has several.
        let name = match shared {
            false => format!("spawn@{}", place.line()),
            true => format!("spawn@{}:{}", place.line(), place.column()),
        };
        let name = String::leak(name);
        let places = String::leak(format!("{} {}", place.line(), place.file()));
        // Leaks one proc for each such place in the program's source.
        Box::leak(Box::new(Proc::new::<F>(name, places)))
    })
}
