//! Whatever a body does with things that look like resources, the attribute compiles it as it was:
//! intents take 16 bytes, and only where there are some; nobody's own `send` or `lock` is taken for
//! one of ours.

use std::future::{Future, ready};
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use turbowish::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot, watch};

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { use super::*; $($items)* }
        #[turbowish::instrument]
        mod annotated { use super::*; $($items)* }
    };
}

/// Polls it until it is ready.
fn run<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..100 {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("it waits");
}

/// Somebody's own, of the same names.
#[derive(Clone, Copy)]
pub(crate) struct Sender(u32);

impl Sender {
    pub(crate) async fn send(self, more: u32) -> u32 {
        self.0 + more
    }
}

/// A lock that is neither ours nor `Sync`, nor made to be moved twice.
pub(crate) struct Own<T>(std::cell::Cell<Option<T>>);

impl<T> Own<T> {
    pub(crate) async fn lock(&self) -> Option<T> {
        self.0.take()
    }
    pub(crate) async fn recv(self) -> Option<T> {
        self.0.into_inner()
    }
}

/// What anybody may be asked to do.
pub(crate) trait Sends {
    fn send(&self, n: u32) -> impl Future<Output = u32>;
}

impl Sends for u32 {
    fn send(&self, n: u32) -> impl Future<Output = u32> {
        ready(self + n)
    }
}

twice! {
    /// Fields that are reached through somebody's `Deref`.
    pub(crate) struct Outer(pub(crate) Inner);
    pub(crate) struct Inner {
        pub(crate) db: Mutex<u32>,
        pub(crate) own: Own<u32>,
    }

    impl Deref for Outer {
        type Target = Inner;
        fn deref(&self) -> &Inner {
            &self.0
        }
    }

    pub(crate) struct Server<S> {
        pub(crate) db: Mutex<u32>,
        pub(crate) shared: Arc<RwLock<u32>>,
        pub(crate) permits: Arc<Semaphore>,
        pub(crate) tx: mpsc::Sender<u32>,
        pub(crate) any: S,
        pub(crate) std: std::sync::Mutex<u32>,
    }

    pub(crate) fn server() -> (Server<u32>, mpsc::Receiver<u32>) {
        let (tx, rx) = mpsc::channel(8);
        let server = Server {
            db: Mutex::new(1),
            shared: Arc::new(RwLock::new(2)),
            permits: Arc::new(Semaphore::new(1)),
            tx,
            any: 4,
            std: std::sync::Mutex::new(8),
        };
        (server, rx)
    }

    pub(crate) async fn own_send(tx: Sender) -> u32 {
        ready(()).await;
        tx.send(1).await
    }

    pub(crate) async fn own_lock(x: &Own<u32>) -> Option<u32> {
        ready(()).await;
        x.lock().await
    }

    pub(crate) async fn own_recv(rx: Own<u32>) -> Option<u32> {
        ready(()).await;
        rx.recv().await
    }

    pub(crate) async fn any<T: Sends>(tx: T) -> u32 {
        ready(()).await;
        tx.send(1).await
    }

    pub(crate) async fn opaque(tx: &impl Sends, n: u32) -> u32 {
        ready(()).await;
        if n > 1 { tx.send(n).await } else { 0 }
    }

    pub(crate) async fn resources<T: Send + Default>(
        db: &Mutex<T>,
        tx: mpsc::Sender<T>,
        mut rx: mpsc::Receiver<T>,
        signal: &Notify,
    ) -> Option<T> {
        ready(()).await;
        std::mem::take(&mut *db.lock().await);
        tx.send(T::default()).await.ok();
        signal.notified().await;
        rx.recv().await
    }

    pub(crate) async fn hands(
        tx: &mut mpsc::Sender<u32>,
        barrier: Arc<Barrier>,
        reply: oneshot::Sender<u32>,
        seen: &mut watch::Receiver<u32>,
    ) -> bool {
        ready(()).await;
        barrier.wait().await;
        tx.send(1).await.ok();
        seen.changed().await.ok();
        reply.send(1).is_ok()
    }

    pub(crate) async fn without(db: &Mutex<u32>) -> u32 {
        let before = [*db.lock().await; 16];
        ready(()).await;
        before[0]
    }

    impl Outer {
        pub(crate) async fn through(&self) -> Option<u32> {
            let n = *self.db.lock().await;
            let m = self.own.lock().await;
            drop(self.db.lock().await);
            m.map(|m| m + n)
        }
    }

    impl<S: Sends> Server<S> {
        pub(crate) async fn serve(&self) -> u32 {
            ready(()).await;
            let n = *self.db.lock().await + *self.shared.read().await;
            let permit = self.permits.acquire().await;
            self.tx.send(n).await.ok();
            *self.shared.write().await += 1;
            drop(permit);
            self.any.send(n).await + self.std.lock().map_or(0, |n| *n)
        }

        pub(crate) async fn consumed(self) -> u32 {
            ready(()).await;
            self.tx.send(1).await.ok();
            self.db.into_inner()
        }

        pub(crate) async fn boxed(self: Box<Self>) -> u32 {
            ready(()).await;
            *self.db.lock().await
        }

        pub(crate) async fn pinned(self: Pin<&mut Self>) -> u32 {
            ready(()).await;
            *self.db.lock().await
        }

        pub(crate) async fn replaced(&mut self, tx: mpsc::Sender<u32>) -> u32 {
            ready(()).await;
            let before = std::mem::replace(&mut self.tx, tx);
            before.send(1).await.ok();
            self.tx.send(2).await.ok();
            0
        }
    }

    pub(crate) fn boxed<'a>(tx: &'a mpsc::Sender<u32>) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            ready(()).await;
            tx.send(1).await.ok();
        })
    }
}

#[test]
fn the_same_comes_out() {
    macro_rules! both {
        ($($call:tt)*) => {{
            let one = { use plain::*; run($($call)*) };
            let two = { use annotated::*; run($($call)*) };
            assert_eq!(one, two);
        }};
    }
    let own = |n| Own(std::cell::Cell::new(Some(n)));
    both!(own_send(Sender(1)));
    both!(own_lock(&own(1)));
    both!(own_recv(own(1)));
    both!(any(7));
    both!(opaque(&7, 2));
    both!({
        let (tx, rx) = mpsc::channel(1);
        let signal = Box::leak(Box::new(Notify::new()));
        signal.notify_one();
        resources(Box::leak(Box::new(Mutex::new(1_u8))), tx, rx, signal)
    });
    both!(async {
        let (mut tx, _rx) = mpsc::channel(1);
        let (reply, _answer) = oneshot::channel();
        let (last, mut seen) = watch::channel(0);
        last.send(1).ok();
        hands(&mut tx, Arc::new(Barrier::new(1)), reply, &mut seen).await
    });
    both!(without(&Mutex::new(3)));
    let (tx, _rx) = mpsc::channel(4);
    both!(boxed(&tx));
    both!(async {
        let db = Mutex::new(5);
        let own = Own(std::cell::Cell::new(Some(6)));
        Outer(Inner { db, own }).through().await
    });
    both!(async {
        let (mut server, _rx) = server();
        let replaced = server.replaced(server.tx.clone()).await;
        let pinned = Pin::new(&mut server).pinned().await;
        let served = server.serve().await;
        (replaced, pinned, served, Box::new(server).boxed().await)
    });
    both!(async {
        let (server, _rx) = server();
        server.consumed().await
    });
}

#[turbowish::instrument]
#[test]
fn said_ones_compile_on_whatever_there_is() {
    static DONE: Notify = Notify::const_new();

    struct Db {
        shards: (Mutex<u32>, RwLock<u32>),
    }

    impl Db {
        #[turbowish::instrument(intends(lock(self.shards.0)), may(read(self.shards.1), wait(DONE)))]
        async fn get(&self) -> u32 {
            *self.shards.0.lock().await
        }

        #[turbowish::instrument(intends(write(self.shards.1)))]
        fn now(&self) -> u32 {
            0
        }
    }

    #[turbowish::instrument(intends(send(tx)), may(lock(*db)))]
    async fn pointed(tx: &mut &mpsc::Sender<u32>, db: Arc<Mutex<u32>>) {
        let guard = turbowish::intend!(will send(tx));
        guard.will();
        tx.send(*db.lock().await).await.ok();
        guard.done();
        let _locking = turbowish::intend!(may lock(db));
    }

    // tokio's own are seen by nobody, and may be named all the same.
    #[turbowish::instrument(intends(lock(db)), may(send(tx)))]
    async fn foreign(db: &tokio::sync::Mutex<u32>, tx: tokio::sync::mpsc::Sender<u32>) {
        tx.send(*db.lock().await).await.ok();
    }

    #[turbowish::instrument(intends(recv(rx)))]
    fn tail(mut rx: mpsc::Receiver<u32>) -> impl Future<Output = Option<u32>> {
        async move { rx.recv().await }
    }

    let db = Db {
        shards: (Mutex::new(1), RwLock::new(2)),
    };
    assert_eq!(run(db.get()) + db.now(), 1);
    let (tx, mut rx) = mpsc::channel(4);
    run(pointed(&mut &tx, Arc::new(Mutex::new(5))));
    assert_eq!(rx.try_recv(), Ok(5));
    assert_eq!(
        run(async {
            tx.send(6).await.ok();
            tail(rx).await
        }),
        Some(6)
    );
    let (tx, mut rx) = tokio::sync::mpsc::channel(4);
    run(foreign(&tokio::sync::Mutex::new(7), tx));
    assert_eq!(rx.try_recv(), Ok(7));
}

/// Whether the type of a value has a trait.
macro_rules! is {
    ($Trait:path, $value:expr) => {{
        #[allow(dead_code, reason = "one of the two methods is called")]
        struct Of<'a, T>(&'a T);
        #[allow(dead_code, reason = "one of the two methods is called")]
        trait Otherwise {
            fn is(&self) -> bool {
                false
            }
        }
        impl<T> Otherwise for Of<'_, T> {}
        #[allow(dead_code, reason = "one of the two methods is called")]
        impl<T: $Trait> Of<'_, T> {
            fn is(&self) -> bool {
                true
            }
        }
        Of(&$value).is()
    }};
}

macro_rules! auto_traits {
    ($value:expr) => {
        [
            is!(Send, $value),
            is!(Sync, $value),
            is!(Unpin, $value),
            is!(UnwindSafe, $value),
            is!(RefUnwindSafe, $value),
        ]
    };
}

/// A handle that the attribute does not know by this name.
type Alias = Mutex<u32>;
type StdAlias = std::sync::Mutex<u32>;
type Other<T> = mpsc::Sender<T>;

#[turbowish::instrument]
mod seen {
    use super::{Mutex, mpsc, ready};

    pub(crate) async fn lock(db: &Mutex<u32>) -> u32 {
        ready(()).await;
        *db.lock().await
    }

    pub(crate) async fn send(tx: mpsc::Sender<std::rc::Rc<u32>>) {
        ready(()).await;
        tx.send(std::rc::Rc::new(1)).await.ok();
    }

    pub(crate) async fn std(db: &std::sync::Mutex<u32>) -> u32 {
        ready(()).await;
        db.lock().map_or(0, |n| *n)
    }

    pub(crate) async fn first(db: &Mutex<u32>) -> u32 {
        let n = *db.lock().await;
        ready(()).await;
        n
    }
}

#[turbowish::instrument]
mod unseen {
    use super::{Alias, Other, StdAlias, ready};

    pub(crate) async fn lock(db: &Alias) -> u32 {
        ready(()).await;
        *db.lock().await
    }

    pub(crate) async fn send(tx: Other<std::rc::Rc<u32>>) {
        ready(()).await;
        tx.send(std::rc::Rc::new(1)).await.ok();
    }

    pub(crate) async fn std(db: &StdAlias) -> u32 {
        ready(()).await;
        db.lock().map_or(0, |n| *n)
    }

    pub(crate) async fn first(db: &Alias) -> u32 {
        let n = *db.lock().await;
        ready(()).await;
        n
    }
}

#[test]
fn a_future_with_intents_is_sixteen_bytes_larger_and_else_what_it_was() {
    let db = Mutex::new(1);
    let tx = mpsc::channel(1).0;
    macro_rules! check {
        ($larger:literal, $one:expr, $two:expr) => {{
            let (one, two) = ($one, $two);
            assert_eq!(size_of_val(&two), size_of_val(&one) + $larger);
            assert_eq!(auto_traits!(one), auto_traits!(two));
        }};
    }
    check!(16, unseen::lock(&db), seen::lock(&db));
    check!(16, unseen::send(tx.clone()), seen::send(tx));
    let std = std::sync::Mutex::new(1);
    check!(0, unseen::std(&std), seen::std(&std));
    check!(0, unseen::first(&db), seen::first(&db));
    assert!(is!(Send, seen::lock(&db)));
    assert!(!is!(Send, seen::send(mpsc::channel(1).0)));
}
