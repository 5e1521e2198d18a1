//! The attribute rewrites source and never its meaning: with the feature `enabled` off it returns the item unchanged.
//!
//! This is the only file that knows about the feature. What the rewriting does is told in `rewrite.rs`; users reach the
//! attribute as `turbowish::instrument`, and the code that it prints names `::turbowish::__private` alone.

use proc_macro::TokenStream;

#[cfg(feature = "enabled")]
mod rewrite;

/// Accounts every call of a function, and every `.await` in it.
///
/// | on | effect |
/// |---|---|
/// | `async fn` (free, method, trait method with a body) | each call is accounted: polls, running, paused, how it ended |
/// | `impl`, `trait`, inline `mod` | the same for every `async fn` inside, recursively; other functions are left alone |
/// | `fn` that ends in `Box::pin(async move { … })` or `async move { … }` | that block is accounted as the call |
/// | any other `fn`, annotated itself | the call is accounted as one poll; `const fn` is refused |
///
/// `async` blocks and closures in the body are accounted by themselves, under the name `async@LINE`; a closure that is `move` is not.
///
/// # Arguments
///
/// - `name = "…"` is shown in place of the function's own name; on functions only.
/// - `fields(shard = "7", tier = 2)` stand beside the function's name in every table, to find it by: `attr.shard:7`. Values are
///   constants: text, numbers, `true` and `false`. On a block or module everything inside has them, unless it says otherwise. What
///   differs from call to call belongs to a task (`TaskBuilder::attribute`), or is counted (`counter!`).
/// - `intends(send(tx), lock(self.db))` and `may(recv(rx))` say what a call means to do; on functions only. See below.
/// - `skip`, inside an annotated block or module, leaves one function or item out.
/// - `crate = path` says where the `turbowish` crate is, if it was renamed or is re-exported. Write it absolute: everything
///   inside a block or module inherits it.
///
/// # Awaits inside macros
///
/// Awaits among the arguments of the macros of std, tokio, futures, tracing, log and anyhow are await points like any other, in
/// `select!` also those in conditions and arms. What such a macro awaits by itself, and what any other macro awaits, is no
/// await point: a call that is suspended in there is shown at the macro, `tokio::select! {..}`, with its lines and columns.
/// Several such macros in one statement are one place. If one statement also has an `.await` outside the macros, the call is
/// shown there from that `.await` to the end of the statement. An `assert!` without a message and `dbg!` print their arguments as
/// written, and are left as written: the awaits in one statement of this kind are one place.
///
/// # Intents
///
/// What a call *will* or *may* do with a resource of `turbowish::sync` is shown with that resource and with the call's task, long before
/// the call waits there: who will send into a channel that is empty, who may want a lock. It is dropped when it is done, and when the call
/// ends, is cancelled or panics.
///
/// ```text
/// #[turbowish::instrument(intends(send(tx), lock(self.db)), may(recv(rx)))]
/// async fn serve(&self, tx: mpsc::Sender<Row>, mut rx: mpsc::Receiver<Query>) { … }
/// ```
///
/// The verbs are `send` and `recv` (ends of channels), `lock` (a Mutex), `read` and `write` (a RwLock), `acquire` (a Semaphore), `wait` (a
/// Notify, a Barrier, a OnceCell). The operand is a place that is there when the body begins: a parameter, a field, what one of them
/// points to. In the middle of a body there is `turbowish::intend!`.
///
/// Most need not be said. The attribute finds in the body of an `async fn` what is awaited on a parameter or on a field of `self`:
/// `tx.send(…)`, `rx.recv()`, `db.lock()`, `.read()`, `.write()`, `.acquire()`, `.wait()`, `.notified()`, `.changed()`. On the straight path
/// that is a *will*; in a branch or a loop, and behind anything that may leave the function (`?`, `return`, `break`, macros that are not
/// known), a *may*. A parameter that is used in other ways, and not given away, *may* be used as what it is for, if its type, as
/// written, is `Sender`, `Receiver`, `UnboundedSender`, `UnboundedReceiver`, `Mutex`, `RwLock`, `Semaphore`, `Notify`, `Barrier` or `OnceCell`, or
/// a reference, an `Arc`, a `Box` or an `Rc` of one. A type alias is not seen through.
///
/// Nothing is found of a name that the body binds again or assigns, of what is awaited before anything else (nobody could see the
/// intent before the wait), of `async` blocks and closures, of statements behind a `#[cfg]`, and of types that are no resource: a method
/// `send` of yours is left alone, and costs nothing. Nor is a field found in a macro that is not known, where lints are allowed, or if its
/// type has a `Deref`, which is never run for this. A function without intents is what it was; with some, its future is 16 bytes larger.
///
/// What an author says is shown, and proves nothing: no alert is raised or becomes certain because of it. With tokio's own primitives, and
/// without the feature `tokio`, intents do nothing.
///
/// # What stays as it was
///
/// Signature as callers see it, attributes, documentation, drop order on completion and on cancellation, coercions of
/// the returned value. An `async fn` becomes a `fn` that returns `impl Future`, which is what the compiler makes of it
/// anyway. Where the compiler or another macro must still read `async fn` (`#[must_use]`, attributes that may be macros such as
/// `#[tokio::main]`), it stays an `async fn` and its body is wrapped. `#[tracing::instrument]` goes first, above ours or below: a call
/// stays one future, and what the span costs is accounted to the function.
///
/// No lint finds anything new, whatever a crate denies, clippy's included. The compiler's find what they found, but for three: an unused
/// argument is not told of (every argument is part of the call), an `#[expect(…)]` on an annotated item does not tell when it is unfulfilled, and
/// `extern "C"` is not told that a future is no type of C. Some of clippy's that ask for an `async fn`, or how its body ends, find nothing:
/// `unused_async`, `missing_errors_doc`, `needless_return`, `ptr_arg` and the like. An item that uses syntax newer than this attribute
/// knows stays as it is.
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
