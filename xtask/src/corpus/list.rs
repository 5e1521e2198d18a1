//! The crates of the corpus. Each is listed because its code has constructs that others lack, and
//! because its tests run without a network.

/// A published crate, its version, and the way to run its tests.
#[derive(Clone, Copy)]
pub(super) struct Crate<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    /// Features and targets: arguments of `cargo test` and `cargo check`.
    pub(super) features: &'a [&'a str],
    /// Tests whose names contain one of these are left out, of the plain crate as well.
    pub(super) skip: &'a [&'a str],
    /// Whether the examples of its documentation are run.
    pub(super) doc: bool,
    /// The reason for its presence, and for skipped tests.
    pub(super) why: &'a str,
}

impl<'a> Crate<'a> {
    /// Without a word about its features and tests.
    pub(super) const fn new(name: &'a str, version: &'a str, why: &'a str) -> Self {
        Self {
            name,
            version,
            features: &[],
            skip: &[],
            doc: true,
            why,
        }
    }

    /// The crate without these tests.
    pub(super) const fn without(self, skip: &'a [&'a str]) -> Self {
        Self { skip, ..self }
    }

    /// With these arguments to cargo.
    pub(super) const fn with(self, features: &'a [&'a str]) -> Self {
        Self { features, ..self }
    }
}

/// The crates of the corpus.
pub(super) const CRATES: &[Crate<'static>] = &[
    Crate::new(
        "mini-redis",
        "0.4.1",
        "an application: tracing's attribute, select!, spawned tasks",
    ),
    Crate::new("bb8", "0.9.1", "a pool: traits whose futures must be Send"),
    Crate::new(
        "tokio-stream",
        "0.1.19",
        "streams; tests with macros of their own",
    )
    .with(&["--all-features"]),
    Crate::new(
        "deadpool",
        "0.13.1",
        "a pool: hooks, cancellation at every await",
    ),
    Crate::new(
        "tokio-util",
        "0.7.20",
        "codecs, polls by hand, tests with mocks of time and I/O",
    )
    .with(&["--all-features"]),
    Crate::new(
        "async-lock",
        "3.5.0",
        "no_std, listeners, #[cold] async fns",
    ),
    Crate::new(
        "tarpc",
        "0.38.0",
        "raw identifiers, no_implicit_prelude, a macro that makes async fns; its compile-fail tests build everything anew, for minutes",
    )
    .with(&["--features", "full"])
    .without(&["ui"]),
    Crate::new(
        "kameo",
        "0.22.2",
        "actors: async fns in traits with Send bounds, an attribute that makes messages of methods",
    ),
    Crate::new("tower", "0.5.3", "services by hand, edition 2018").with(&["--features", "full"]),
    Crate::new("multer", "3.1.0", "a parser over streams, edition 2018").with(&["--all-features"]),
    Crate::new(
        "moka",
        "0.12.16",
        "generic caches, Arc<Self> receivers, named lifetimes",
    )
    .with(&["--features", "future,sync"]),
    Crate::new(
        "axum",
        "0.8.9",
        "handlers by trait: coercions, patterns, impl Trait",
    )
    .with(&["--all-features", "--features", "axum-macros/__private"]),
    Crate::new(
        "salvo_core",
        "1.1.0",
        "#[handler] makes structs of async fns; async_trait",
    ),
    Crate::new(
        "async-graphql",
        "7.2.1",
        "#[Object] on blocks, attributes on arguments, edition 2024",
    )
    .with(&["--features", "dataloader,futures-channel/sink"]),
    Crate::new(
        "object_store",
        "0.14.2",
        "async_trait, streams, locks held over awaits",
    ),
];
