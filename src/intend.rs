//! `intend!`: intents in the middle of a body. The grammar is the same with and without the feature
//! `enabled`.

/// Declares, in the middle of a body, what the body intends to do with a resource. The intent lasts
/// as long as the returned guard.
///
/// ```
/// # #[cfg(feature = "tokio")]
/// # mod example {
/// use turbowish::sync::{Mutex, mpsc};
///
/// #[turbowish::instrument]
/// async fn answer(db: &Mutex<u64>, tx: &mpsc::Sender<u64>) {
///     let answering = turbowish::intend!(may send(tx));
///     let count = *db.lock().await;
///     if count > 0 {
///         // From here on every path sends.
///         answering.will();
///         // Sending ends the intent.
///         tx.send(count).await.ok();
///     }
///     answering.done();
/// }
/// # #[tokio::main]
/// # pub async fn main() {
///
/// let (tx, mut rx) = mpsc::channel(1);
/// answer(&Mutex::new(7), &tx).await;
/// assert_eq!(rx.recv().await, Some(7));
/// # }
/// # }
/// # #[cfg(not(feature = "tokio"))]
/// # mod example { pub fn main() {} }
/// # fn main() { example::main() }
/// ```
///
/// | | |
/// |---|---|
/// | `intend!(will send(tx))` | the task will send, unless it is dropped |
/// | `intend!(may lock(self.db))` | the task may lock: it depends |
/// | `guard.will()` | turns the `may` into a `will` |
/// | `guard.done()`, or dropping the guard | ends the intent, whether or not it was carried out |
///
/// An operation of that kind on that resource, in that task, ends the intent. A guard that is not
/// bound ends at once, and the compiler warns: as a statement, write
/// `let _sending = turbowish::intend!(will send(tx));`.
///
/// The verbs are those of [`instrument`](macro@crate::instrument): `send`, `recv`, `lock`, `read`,
/// `write`, `acquire`, `wait`. The operand is an expression. The macro borrows it only while the
/// macro runs. Consoles show intents, but an intent is no evidence: it changes no queue order, and
/// makes no alert certain. Without the feature `tokio`, and for tokio's own primitives, `intend!`
/// does nothing.
#[macro_export]
macro_rules! intend {
    (will $verb:ident($operand:expr $(,)?)) => {
        $crate::__intent!(9 $verb($operand))
    };
    (may $verb:ident($operand:expr $(,)?)) => {
        $crate::__intent!(8 $verb($operand))
    };
    ($strength:ident $verb:ident $(())?) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($verb), "` needs a resource: `intend!(",
            ::core::stringify!($strength), " ", ::core::stringify!($verb), "(tx))`"
        ))
    };
    ($verb:ident($operand:expr)) => {
        ::core::compile_error!(::core::concat!(
            "certain or not? write `intend!(will ", ::core::stringify!($verb), "(…))` or `intend!(may ",
            ::core::stringify!($verb), "(…))`"
        ))
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "an intent is `will` or `may`, a verb and a resource: `intend!(will send(tx))`"
        )
    };
}

/// Guard of an intent.
#[cfg(feature = "enabled")]
#[doc(hidden)]
#[macro_export]
macro_rules! __intent {
    ($how:literal $verb:ident($operand:expr)) => {
        $crate::__private::intent($crate::__private::IntentSpec::new(
            $crate::__verb!($verb),
            &$operand,
            $how,
        ))
    };
}

/// Compiled out: checks names and verbs, evaluates nothing.
#[cfg(not(feature = "enabled"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __intent {
    ($how:literal $verb:ident($operand:expr)) => {{
        $crate::__verb!($verb);
        if false {
            let _ = &$operand;
        }
        $crate::Intent::__nothing()
    }};
}

/// Expands to the verb of an intent.
#[cfg(feature = "enabled")]
#[doc(hidden)]
#[macro_export]
macro_rules! __verb {
    (send) => {
        $crate::__private::verb::Send
    };
    (recv) => {
        $crate::__private::verb::Recv
    };
    (lock) => {
        $crate::__private::verb::Lock
    };
    (read) => {
        $crate::__private::verb::Read
    };
    (write) => {
        $crate::__private::verb::Write
    };
    (acquire) => {
        $crate::__private::verb::Acquire
    };
    (wait) => {
        $crate::__private::verb::Wait
    };
    ($other:ident) => {
        $crate::__no_verb!($other)
    };
}

/// Compiled out: checks the verb, expands to nothing.
#[cfg(not(feature = "enabled"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __verb {
    (send) => {};
    (recv) => {};
    (lock) => {};
    (read) => {};
    (write) => {};
    (acquire) => {};
    (wait) => {};
    ($other:ident) => {
        $crate::__no_verb!($other)
    };
}

/// Rejects an unknown verb.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_verb {
    ($other:ident) => {
        ::core::compile_error!(::core::concat!(
            "unknown verb `",
            ::core::stringify!($other),
            "`; the verbs are `send`, `recv`, `lock`, `read`, `write`, `acquire` and `wait`"
        ))
    };
}
