//! The `#[instrument]` attribute. It rewrites source without changing its meaning; with the feature
//! `enabled` off it returns the item unchanged.
//!
//! This is the only file that knows about the feature. The rewriting is described in `rewrite.rs`.
//! Users reach the attribute as `turbowish::instrument`, and the generated code names only
//! `::turbowish::__private`.

use proc_macro::TokenStream;

#[cfg(feature = "enabled")]
mod rewrite;

/// Measures every call of a function, and every `.await` in it.
///
/// ```
/// struct Db;
///
/// #[turbowish::instrument]
/// impl Db {
///     async fn row(&self, key: u32) -> u32 {
///         tokio::task::yield_now().await;
///         key * 10
///     }
///
///     async fn sum(&self, keys: std::ops::RangeInclusive<u32>) -> u32 {
///         let mut sum = 0;
///         for key in keys {
///             sum += self.row(key).await;
///         }
///         sum
///     }
/// }
///
/// #[tokio::main]
/// async fn main() -> std::io::Result<()> {
/// #   let folder = tempfile::tempdir()?;
/// #   let path = folder.path().join("report.json");
///     let turbowish = turbowish::Builder::new().report_to(&path).init();
///     assert_eq!(Db.sum(1..=3).await, 60);
///     drop(turbowish);
///
///     let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path)?)?;
///     let calls_of = |name: &str| {
///         let mut rows = report["procs"].as_array()?.iter();
///         rows.find(|row| row["proc"].as_str().unwrap_or("").ends_with(name))?["calls"].as_u64()
///     };
///     assert_eq!((calls_of("Db::sum"), calls_of("Db::row")), (Some(1), Some(3)));
///     Ok(())
/// }
/// ```
///
/// | on | effect |
/// |---|---|
/// | `async fn` (free, method, trait method with a body) | each call is measured: polls, running, yielded, how it ended |
/// | `impl`, `trait`, inline `mod` | the same for every `async fn` inside, recursively; other functions are left alone |
/// | `fn` that ends in `Box::pin(async move { … })` or `async move { … }` | that block is measured as the call |
/// | any other `fn`, annotated itself | the call is measured as one poll; `const fn` is refused |
///
/// `async` blocks and closures in the body are measured separately, under the name `async@LINE`;
/// an `async move` closure is not measured separately.
///
/// # Arguments
///
/// - `name = "…"` replaces the function's own name in the output; on functions only.
/// - `fields(shard = "7", tier = 2)` adds constant fields to the function in every table, to filter
///   by: `attr.shard:7`. Values are constants: text, numbers, `true` and `false`. The fields of a
///   block or module apply to everything inside that does not override them. Values that differ
///   from call to call belong to a task (`TaskBuilder::attribute`) or to a counter (`counter!`).
/// - `intends(send(tx), lock(self.db))` and `may(recv(rx))` declare what a call will or may do; on
///   functions only. See "Intents" below.
/// - `skip`, inside an annotated block or module, excludes one function or item.
/// - `crate = path` is the path of the `turbowish` crate, if it was renamed or is re-exported. Use
///   an absolute path: everything inside a block or module inherits it.
///
/// # Awaits inside macros
///
/// Awaits among the arguments of macros of std, tokio, futures, tracing, log and anyhow are
/// ordinary await points; in `select!` this includes awaits in conditions and arms. Awaits that
/// such a macro generates, and all awaits of any other macro, are not await points: a call that is
/// suspended there is shown at the macro, `tokio::select! {..}`, with the macro's lines and
/// columns. Several such macros in one statement are one await point. If the statement also has an
/// `.await` outside the macros, the call is shown at that `.await` until the end of the statement.
/// An `assert!` without a message and `dbg!` print their arguments as written, so they are not
/// rewritten: the awaits in one such statement are one await point.
///
/// # Intents
///
/// An intent is an operation that a call *will* or *may* do on a resource of `turbowish::sync`.
/// Consoles show it with the resource and with the task long before the call waits there: which
/// task will send into an empty channel, which one may take a lock. An intent ends when the
/// operation is done, and when the call returns, is cancelled or panics.
///
/// ```
/// use turbowish::sync::{Mutex, mpsc};
///
/// struct Server {
///     db: Mutex<u32>,
/// }
///
/// impl Server {
///     #[turbowish::instrument(intends(send(tx), lock(self.db)), may(recv(rx)))]
///     async fn serve(&self, tx: mpsc::Sender<u32>, mut rx: mpsc::Receiver<u32>) {
///         while let Some(query) = rx.recv().await {
///             let row = query + *self.db.lock().await;
///             tx.send(row).await.ok();
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let (queries, inbox) = mpsc::channel(1);
/// # let (outbox, mut rows) = mpsc::channel(1);
/// queries.send(2).await.ok();
/// drop(queries);
/// Server { db: Mutex::new(40) }.serve(outbox, inbox).await;
/// assert_eq!(rows.recv().await, Some(42));
/// # }
/// ```
///
/// The verbs are `send` and `recv` (ends of channels), `lock` (a Mutex), `read` and `write` (a
/// RwLock), `acquire` (a Semaphore), `wait` (a Notify, a Barrier, a OnceCell). The operand is a
/// place that exists when the body begins: a parameter, a field, or what one of them points to. In
/// the middle of a body, use `turbowish::intend!`.
///
/// Most intents are inferred. In the body of an `async fn` the attribute finds operations that are
/// awaited on a parameter or on a field of `self`: `tx.send(…)`, `rx.recv()`, `db.lock()`,
/// `.read()`, `.write()`, `.acquire()`, `.wait()`, `.notified()`, `.changed()`. On the
/// unconditional path the intent is a *will*. In a branch or a loop, and after anything that may
/// leave the function (`?`, `return`, `break`, unknown macros), it is a *may*. A parameter that is
/// used in other ways and not moved away yields a *may* for the operation of its type, if the type,
/// as written, is `Sender`, `Receiver`, `UnboundedSender`, `UnboundedReceiver`, `Mutex`, `RwLock`,
/// `Semaphore`, `Notify`, `Barrier` or `OnceCell`, or a reference, an `Arc`, a `Box` or an `Rc` of
/// one. Type aliases are not resolved.
///
/// Nothing is inferred for a name that the body rebinds or assigns, for the first operation that
/// the body awaits, for `async` blocks and closures, for statements behind a `#[cfg]`, and for
/// types that are not resources: your own method named `send` is left alone, at no cost. Operations
/// on a field of `self` are also not inferred inside an unknown macro, in a statement with an
/// `#[allow]` or `#[expect]`, or through a `Deref`, which is never called for this. A function
/// without intents does not change; with intents, its future is 16 bytes larger.
///
/// A declared intent is shown, but it is not evidence: it raises no alert and makes no alert
/// certain. With tokio's own primitives, and without the feature `tokio`, intents do nothing.
///
/// # What does not change
///
/// The signature as callers see it, attributes, documentation, drop order on completion and on
/// cancellation, and coercions of the returned value do not change. An `async fn` becomes a `fn`
/// that returns `impl Future`, which is what the compiler makes of it anyway. Where the compiler or
/// another macro must still read `async fn` (`#[must_use]`, attributes that may be macros such as
/// `#[tokio::main]`), it stays an `async fn` and its body is wrapped. `#[tracing::instrument]` is
/// expanded first, whether it stands above or below this attribute: a call stays one future, and
/// the cost of the span is charged to the function.
///
/// No lint, clippy's included, reports anything new, whatever a crate denies. The compiler's lints
/// report what they reported before, with three exceptions: an unused argument is not reported
/// (every argument is part of the call), an unfulfilled `#[expect(…)]` on an annotated item is not
/// reported, and `extern "C"` gets no warning that a future is not a C type. Some of clippy's lints
/// that look for an `async fn`, or at the end of its body, report nothing: `unused_async`,
/// `missing_errors_doc`, `needless_return`, `ptr_arg` and the like. An item that uses syntax newer
/// than this attribute knows is left unchanged.
#[proc_macro_attribute]
pub fn instrument(arguments: TokenStream, item: TokenStream) -> TokenStream {
    #[cfg(feature = "enabled")]
    {
        rewrite::instrument(arguments.into(), item.into()).into()
    }
    #[cfg(not(feature = "enabled"))]
    {
        drop(arguments);
        item
    }
}
