//! Which types of tokio have an instrumented twin: a table, so that the scanner need not know any.

/// A type or module, and what to write in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twin {
    /// `tokio::sync::Mutex`
    pub(crate) plain: &'static str,
    /// `turbowish::sync::Mutex`
    pub(crate) instrumented: &'static str,
}

/// Those that there are.
pub(crate) const TWINS: &[Twin] = &[];

/// The twin of what `path` names or lies in, and how many names of `path` that takes.
pub(crate) fn of<'a>(path: &[String], twins: &'a [Twin]) -> Option<(&'a Twin, usize)> {
    let found = twins.iter().filter_map(|twin| {
        let names = twin.plain.split("::");
        let count = names.clone().count();
        let begins = path.len() >= count && path.iter().zip(names).all(|(a, b)| a == b);
        begins.then_some((twin, count))
    });
    found.max_by_key(|(_, count)| *count)
}

/// Whether something with a twin lies directly in the module `path`.
pub(crate) fn are_in(path: &[String], twins: &[Twin]) -> bool {
    let module = path.join("::");
    twins.iter().any(|twin| {
        twin.plain
            .rsplit_once("::")
            .is_some_and(|(parent, _)| parent == module)
    })
}
