//! Features of this build as constants. Code behind one of them is compiled in every build, and
//! removed by the compiler where the constant is `false`.

/// Whether the monitor has a thread, which evaluates alert rules and serves consoles. Without it,
/// nothing is recorded that only alert rules read.
pub(crate) const SERVER: bool = cfg!(feature = "server");

/// Whether there are instrumented primitives. Without them there are no resources and no timers,
/// and no call is marked.
pub(crate) const TOKIO: bool = cfg!(feature = "tokio");

/// Whether tokio's crate is there to ask about runtimes and running tasks.
pub(crate) const RUNTIMES: bool = SERVER || TOKIO;
