//! `intend!`: intents in the middle of a body. One grammar, whether there is something behind it or not.

/// Says in the middle of a body what it means to do with a resource, for as long as the guard lives that it gives back.
///
/// ```
/// # #[cfg(feature = "tokio")] mod example {
/// use turbowish::sync::{Mutex, mpsc};
///
/// #[turbowish::instrument]
/// async fn answer(db: &Mutex<u64>, tx: &mpsc::Sender<u64>) {
///     let answering = turbowish::intend!(may send(tx));
///     let count = *db.lock().await;
///     if count > 0 {
///         // There is no way around it any more.
///         answering.will();
///         // Done: it is no longer meant.
///         tx.send(count).await.ok();
///     }
///     answering.done();
/// }
/// # }
/// ```
///
/// | | |
/// |---|---|
/// | `intend!(will send(tx))` | it will, unless it is dropped |
/// | `intend!(may lock(self.db))` | it depends |
/// | `guard.will()` | the may has become a will |
/// | `guard.done()`, or to drop the guard | nothing is meant any more, done or not |
///
/// An operation of that kind on that resource, in that task, ends it by itself. A guard that is not bound ends at once, of which the
/// compiler warns: as a statement, write `let _sending = turbowish::intend!(will send(tx));`.
///
/// The verbs are those of [`instrument`](macro@crate::instrument): `send`, `recv`, `lock`, `read`, `write`, `acquire`, `wait`. The operand
/// is an expression, of which a reference is taken for a moment, and only if accounting is on is more done with it. What is meant
/// is shown by consoles and proves nothing: it changes nobody's turn, and no alert is certain because of it. Without the feature
/// `tokio`, and for tokio's own primitives, it does nothing.
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

/// The guard of an intent.
#[cfg(feature = "enabled")]
#[doc(hidden)]
#[macro_export]
macro_rules! __intent {
    ($how:literal $verb:ident($operand:expr)) => {
        $crate::__private::intent($crate::__private::Aim::new(
            $crate::__verb!($verb),
            &$operand,
            $how,
        ))
    };
}

/// Compiled out: nothing is evaluated, though names and verbs are checked.
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

/// What stands for a verb.
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

/// Compiled out: a verb, and nothing.
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

/// What is no verb.
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
