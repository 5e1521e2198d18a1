//! Awaits in events, spans and errors of tracing, log and anyhow: the same records with the same values, in the same order.
#![deny(warnings, unused, rust_2018_idioms)]

use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use anyhow::{anyhow, bail, ensure};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata, Subscriber, span};

thread_local!(static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

fn note(text: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(text.into()));
}

struct Recorder;

struct Fields;

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        note(format!("{field} is {value:?}"));
    }
}

static SPANS: AtomicU64 = AtomicU64::new(1);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }
    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        note(format!("span {}", span.metadata().name()));
        span.record(&mut Fields);
        span::Id::from_u64(SPANS.fetch_add(1, Ordering::Relaxed))
    }
    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut Fields);
    }
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        note(format!("event {} {:?}", event.metadata().target(), event.metadata().line()));
        event.record(&mut Fields);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

impl log::Log for Recorder {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        note(format!("log {} {:?} {}", record.target(), record.line(), record.args()));
        let _ = record.key_values().visit(&mut Pairs);
    }
    fn flush(&self) {}
}

struct Pairs;

impl<'kvs> log::kv::VisitSource<'kvs> for Pairs {
    fn visit_pair(&mut self, key: log::kv::Key<'kvs>, value: log::kv::Value<'kvs>) -> Result<(), log::kv::Error> {
        note(format!("{key} is {value}"));
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
struct Loud(u32);

impl Drop for Loud {
    fn drop(&mut self) {
        note(format!("{} dropped", self.0));
    }
}

impl std::fmt::Display for Loud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "loud {}", self.0)
    }
}

/// Pending once.
async fn slow<T>(value: T) -> T {
    tokio::task::yield_now().await;
    note("slow");
    value
}

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { use super::*; $($items)* }
        #[turbowish::instrument]
        mod rewritten { use super::*; $($items)* }
    };
}

twice! {
    pub(super) async fn events(n: u32) {
        let (given, other) = (Loud(n), n);
        tracing::info!(target: "own", a = slow(1).await, b.c = ?slow(&Loud(2)).await, "d" = %slow(Loud(3)).await, ?given, other, "{} {e}", slow(4).await, e = slow(&Loud(5)).await);
        tracing::warn!("{} and {}", slow(6).await, n);
        tracing::error!({ a = n }, "text {}", slow(7).await);
        tracing::event!(Level::INFO, a = slow(n).await, given = %given);
        tracing::debug!(never = slow(8).await, "not enabled");
        tracing::trace!("not enabled {}", slow(Loud(9)).await);
        let future = slow(10);
        // The name of the field is the source of its value.
        tracing::info!(future = future.await, "{n}");
    }

    pub(super) async fn spans(n: u32) -> u32 {
        let span = tracing::info_span!("first", a = slow(n).await, b = ?slow(&Loud(1)).await, later = tracing::field::Empty);
        span.record("later", slow(2).await);
        let inner = tracing::span!(parent: &span, Level::INFO, "second", %n, c = async { slow(3).await }.await);
        let none = tracing::debug_span!("third", d = slow(4).await);
        tracing::Instrument::instrument(async { slow(n).await }, inner).await + u32::from(none.is_disabled())
    }

    pub(super) async fn logs(n: u32) {
        log::info!("{} {n}", slow(Loud(1)).await);
        log::warn!(target: "own", a = slow(n).await, b:? = slow(Some(n)).await, c:% = slow(&Loud(2)).await, n; "{} {e}", slow(3).await, e = slow(4).await);
        log::log!(log::Level::Error, "{}", slow(&Loud(5)).await);
    }

    pub(super) async fn errors(n: u32) -> Result<u32, String> {
        fails(n).await.map_err(|error| format!("{error:#}"))
    }

    async fn fails(n: u32) -> anyhow::Result<u32> {
        if n == 0 {
            bail!("{} {}", slow(Loud(1)).await, slow(2).await);
        }
        ensure!(slow(n).await != 1, "{} is one", slow(n).await);
        ensure!(slow(n).await != 2);
        ensure!(slow(Loud(n)).await == Loud(3));
        Err(anyhow!("{}", slow("end").await).context(anyhow!(slow("context").await)))
    }
}

fn run<T: Debug>(polls: usize, future: impl Future<Output = T>) -> Vec<String> {
    {
        let mut future = pin!(future);
        for poll in 0..polls {
            note(format!("poll {poll}"));
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                note(format!("{value:?}"));
                break;
            }
        }
    }
    // The twins are modules.
    LOG.take().iter().map(|line| line.replace("::rewritten", "::plain")).collect()
}

macro_rules! check {
    ($($call:ident)*) => {$(
        for n in 0..5 {
            for polls in 1..18 {
                let expected = run(polls, plain::$call(n));
                assert_eq!(run(polls, rewritten::$call(n)), expected, "{}({n}) polled {polls} times", stringify!($call));
            }
        }
    )*};
}

fn main() {
    tracing::subscriber::set_global_default(Recorder).unwrap();
    log::set_logger(&Recorder).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    check!(events spans logs errors);
}
