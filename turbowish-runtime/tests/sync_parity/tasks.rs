//! Tasks that are polled by hand, one step at a time, so that two runs of a script can be compared
//! word by word.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;

/// What to do, and with which of those that are there.
pub(crate) type Step = (u8, u8);

/// Counts how often it is woken.
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Task {
    future: Pin<Box<dyn Future<Output = String>>>,
    bell: Arc<Bell>,
}

/// The tasks of a script.
#[derive(Default)]
pub(crate) struct Tasks(Vec<Option<Task>>);

impl Tasks {
    /// Begins one: what came out, if it is over.
    pub(crate) fn begin(&mut self, future: impl Future<Output = String> + 'static) -> String {
        let bell = Arc::new(Bell(AtomicUsize::new(0)));
        let future = Box::pin(future);
        self.0.push(Some(Task { future, bell }));
        self.poll(self.0.len() - 1)
    }

    fn poll(&mut self, at: usize) -> String {
        let Some(Some(task)) = self.0.get_mut(at) else {
            return "no task".to_owned();
        };
        let waker = Waker::from(task.bell.clone());
        match task.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => {
                self.0[at] = None;
                format!("{at} ends: {result}")
            }
            Poll::Pending => format!("{at} waits"),
        }
    }

    /// Polls one of those that are not over.
    pub(crate) fn poll_one(&mut self, which: u8) -> String {
        match self.pick(which) {
            Some(at) => self.poll(at),
            None => "no task".to_owned(),
        }
    }

    /// Drops one of those that are not over.
    pub(crate) fn drop_one(&mut self, which: u8) -> String {
        let Some(at) = self.pick(which) else {
            return "no task".to_owned();
        };
        self.0[at] = None;
        format!("{at} is dropped")
    }

    fn pick(&self, which: u8) -> Option<usize> {
        let live: Vec<usize> = (0..self.0.len())
            .filter(|&at| self.0[at].is_some())
            .collect();
        live.get(usize::from(which) % live.len().max(1)).copied()
    }

    /// How often each was woken.
    pub(crate) fn woken(&self) -> Vec<Option<usize>> {
        let woken = |task: &Task| task.bell.0.load(Ordering::Relaxed);
        self.0.iter().map(|task| task.as_ref().map(woken)).collect()
    }
}

/// How often what `make` makes is ready at once, in one poll of a task.
pub(crate) async fn at_once<F: Future>(mut make: impl FnMut() -> F) -> usize {
    tokio::task::yield_now().await;
    let ready = (0..10_000).take_while(|_| make().now_or_never().is_some());
    let count = ready.count();
    tokio::task::yield_now().await;
    count
}
