//! What is found in a body may not be there, runs nothing of the user's, and is told of by no lint.
#![deny(warnings, missing_docs, unused, clippy::pedantic)]

use std::cell::Cell;
use std::future::{Future, IntoFuture, Ready, ready};
use std::ops::{Deref, DerefMut};

use tokio::sync::{Mutex, mpsc};

/// With a field that is not compiled.
pub struct Configured {
    #[cfg(any())]
    metrics: mpsc::Sender<u8>,
    db: Mutex<u8>,
    _hidden: Mutex<u8>,
    /// That one was better.
    #[deprecated]
    pub old: Mutex<u8>,
}

/// A macro of one's own, to which a field is only a name.
macro_rules! call {
    ($own:ident.$service:ident.$verb:ident($argument:expr).await) => {
        concat!(stringify!($service), stringify!($verb), $argument)
    };
}

#[turbowish::instrument]
impl Configured {
    async fn configured(&self) -> u8 {
        ready(()).await;
        #[cfg(any())]
        self.metrics.send(1).await;
        #[cfg(any())]
        {
            *self.metrics.lock().await = 1;
        }
        match *self.db.lock().await {
            #[cfg(any())]
            2 => *self.metrics.lock().await,
            db => db,
        }
    }

    async fn named(&self) -> &'static str {
        let db = *self.db.lock().await;
        ready(db).await;
        *self.db.lock().await += 1;
        call!(self.users.send(3).await)
    }

    async fn quiet(&self) -> u8 {
        ready(()).await;
        #[allow(deprecated)]
        let old = *self.old.lock().await;
        #[allow(clippy::used_underscore_binding)]
        let hidden = *self._hidden.lock().await;
        old + hidden
    }
}

struct Rows(mpsc::Receiver<u8>);

struct Connection {
    rows: Rows,
    reached: Cell<u32>,
}

impl Rows {
    async fn recv(&mut self) -> Option<u8> {
        self.0.recv().await
    }
}

struct Inner {
    rows: Rows,
    db: Mutex<u8>,
}

/// What it points to is looked at as often as the body does it.
struct Outer {
    inner: Inner,
    looked: Cell<u32>,
}

impl Deref for Outer {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        self.looked.set(self.looked.get() + 1);
        &self.inner
    }
}

impl DerefMut for Outer {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

#[turbowish::instrument]
impl Outer {
    async fn looks(&self) -> u8 {
        ready(()).await;
        *self.db.lock().await
    }

    async fn receives(&mut self) -> Option<u8> {
        ready(()).await;
        self.rows.0.try_recv().ok();
        self.rows.recv().await
    }
}

#[turbowish::instrument]
impl Connection {
    async fn receives(&mut self) -> Option<u8> {
        ready(()).await;
        self.reached.set(1);
        self.rows.recv().await
    }
}

impl IntoFuture for Connection {
    type Output = Rows;
    type IntoFuture = Ready<Rows>;

    fn into_future(self) -> Self::IntoFuture {
        ready(self.rows)
    }
}

#[turbowish::instrument]
impl Connection {
    async fn awaited(self) -> Option<u8> {
        ready(()).await;
        self.await.recv().await
    }
}

/// All of them are found; nothing is left that another type would need.
#[turbowish::instrument]
pub async fn found(tx: mpsc::Sender<u8>, db: &Mutex<u8>) {
    ready(()).await;
    let db = *db.lock().await;
    tx.send(db).await.ok();
}

fn is_sent<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    #[allow(deprecated)]
    let configured = Configured { db: Mutex::new(1), _hidden: Mutex::new(2), old: Mutex::new(3) };
    assert_eq!(configured.configured().await, 1);
    assert_eq!(configured.named().await, "userssend3");
    assert_eq!(configured.quiet().await, 5);
    let (tx, rx) = mpsc::channel(8);
    found(tx.clone(), &Mutex::new(1)).await;
    is_sent(found_owned(tx.clone())).await;
    let inner = Inner { rows: Rows(rx), db: Mutex::new(7) };
    let mut outer = Outer { inner, looked: Cell::new(0) };
    assert_eq!((outer.looks().await, outer.looked.get()), (7, 1));
    assert_eq!((outer.receives().await, outer.looked.get()), (Some(2), 1));
    let mut connection = Connection { rows: outer.inner.rows, reached: Cell::new(0) };
    tx.send(4).await.ok();
    assert_eq!(connection.receives().await, Some(4));
    tx.send(5).await.ok();
    assert_eq!(connection.awaited().await, Some(5));
}

#[turbowish::instrument]
async fn found_owned(tx: mpsc::Sender<u8>) {
    ready(()).await;
    tx.send(2).await.ok();
}
