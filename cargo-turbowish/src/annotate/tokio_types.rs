//! The tokio types that TurboWish wraps. For tokio's own types, neither waiters nor holders are
//! visible.

/// A path of tokio, and its replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapped {
    /// An item, or a module with its contents: `tokio::sync::Mutex`.
    pub(crate) plain: &'static str,
    /// The TurboWish wrapper, `turbowish::sync::Mutex`; `None` where TurboWish re-exports tokio's
    /// own.
    pub(crate) wrapper: Option<&'static str>,
}

const fn wrapped(plain: &'static str, wrapper: &'static str) -> Wrapped {
    Wrapped {
        plain,
        wrapper: Some(wrapper),
    }
}

const fn same(plain: &'static str) -> Wrapped {
    Wrapped {
        plain,
        wrapper: None,
    }
}

/// All wrapped paths. The longest matching path counts.
pub(crate) const WRAPPED: &[Wrapped] = &[
    wrapped("tokio::sync", "turbowish::sync"),
    same("tokio::sync::AcquireError"),
    same("tokio::sync::BarrierWaitResult"),
    same("tokio::sync::SetError"),
    same("tokio::sync::SetOnceError"),
    same("tokio::sync::TryAcquireError"),
    same("tokio::sync::TryLockError"),
    same("tokio::sync::broadcast::error"),
    same("tokio::sync::mpsc::error"),
    same("tokio::sync::oneshot::error"),
    same("tokio::sync::watch::Ref"),
    same("tokio::sync::watch::error"),
    wrapped("tokio::time::Interval", "turbowish::time::Interval"),
    wrapped("tokio::time::Sleep", "turbowish::time::Sleep"),
    wrapped("tokio::time::Timeout", "turbowish::time::Timeout"),
    wrapped("tokio::time::interval", "turbowish::time::interval"),
    wrapped("tokio::time::interval_at", "turbowish::time::interval_at"),
    wrapped("tokio::time::sleep", "turbowish::time::sleep"),
    wrapped("tokio::time::sleep_until", "turbowish::time::sleep_until"),
    wrapped("tokio::time::timeout", "turbowish::time::timeout"),
    wrapped("tokio::time::timeout_at", "turbowish::time::timeout_at"),
    wrapped("tokio::spawn", "turbowish::spawn"),
    wrapped("tokio::task::JoinHandle", "turbowish::JoinHandle"),
    wrapped("tokio::task::JoinSet", "turbowish::JoinSet"),
    wrapped("tokio::task::join_set::JoinSet", "turbowish::JoinSet"),
    wrapped("tokio::task::spawn", "turbowish::spawn"),
    wrapped("tokio::task::spawn_local", "turbowish::spawn_local"),
];

/// The replacement of `path`, and the number of segments that matched.
pub(crate) fn instead_of(path: &[String], types: &[Wrapped]) -> Option<(String, usize)> {
    let fitting = types.iter().filter_map(|wrapped| {
        let names = wrapped.plain.split("::");
        let count = names.clone().count();
        let begins = path.len() >= count && path.iter().zip(names).all(|(a, b)| a == b);
        begins.then_some((wrapped, count))
    });
    let (wrapped, count) = fitting.max_by_key(|(_, count)| *count)?;
    let inside = path[count..].iter().map(|name| format!("::{name}"));
    let instead = wrapped.wrapper?.to_owned() + &inside.collect::<String>();
    Some((instead, count))
}

/// The replacement of `use path::*`, if it imports a wrapped item.
pub(crate) fn instead_of_all(path: &[String], types: &[Wrapped]) -> Option<String> {
    if let Some((module, _)) = instead_of(path, types) {
        return Some(format!("{module}::*"));
    }
    let module = path.join("::");
    let parent_of = |path: &'static str| path.rsplit_once("::").map(|(parent, _)| parent);
    let inside = types
        .iter()
        .filter(|wrapped| parent_of(wrapped.plain) == Some(&module));
    let wrappers: Vec<&str> = inside.filter_map(|wrapped| wrapped.wrapper).collect();
    let parent = parent_of(wrappers.first()?)?;
    // A module of the same name has all that tokio's has.
    if path
        .last()
        .is_some_and(|name| parent.ends_with(&format!("::{name}")))
    {
        return Some(format!("{parent}::*"));
    }
    Some(wrappers.join(", "))
}
