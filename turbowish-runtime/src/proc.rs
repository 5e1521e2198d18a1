//! Procs and their await points: statics printed by the attribute, numbered at their first call.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turbowish_model::call::ProcKey;
use turbowish_model::row::PROC_LIMIT;

/// An await point as written: `OPERAND.await` from its first to its last column.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
    pub(crate) expr: &'static str,
}

impl Site {
    /// Lines and columns from 1, both ends inside; `expr` is the operand's text.
    #[must_use]
    pub const fn new(
        line: u32,
        column: u32,
        end_line: u32,
        end_column: u32,
        expr: &'static str,
    ) -> Self {
        Self {
            line,
            column,
            end_line,
            end_column,
            expr,
        }
    }
}

/// An instrumented function as written: one static each, shared by all its instances.
#[derive(Debug)]
pub struct Proc {
    path: fn() -> &'static str,
    name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) sites: &'static [Site],
    /// Number plus one; 0 before the first call.
    id: AtomicU32,
    tasks: AtomicU64,
}

/// The proc has a number, but beyond what can be accounted.
const LOST: u32 = u32::MAX;

static PROCS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());
static LOST_PROCS: AtomicU64 = AtomicU64::new(0);

/// A proc with the path that users read.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) proc: &'static Proc,
    pub(crate) path: Arc<str>,
}

impl Proc {
    /// `path` returns its own path, inside the function; `name` replaces the last word, if not empty.
    #[must_use]
    pub const fn new(
        path: fn() -> &'static str,
        name: &'static str,
        file: &'static str,
        line: u32,
        _column: u32,
        sites: &'static [Site],
    ) -> Self {
        Self {
            path,
            name,
            file,
            line,
            sites,
            id: AtomicU32::new(0),
            tasks: AtomicU64::new(0),
        }
    }

    /// The proc's number, if it can be accounted.
    #[inline]
    pub(crate) fn id(&'static self) -> Option<u32> {
        match self.id.load(Ordering::Relaxed) {
            0 => self.register(),
            LOST => None,
            id => Some(id - 1),
        }
    }

    /// What the ledger needs to know of it, for a future of `bytes` bytes.
    #[inline]
    pub(crate) fn key(&'static self, bytes: usize) -> Option<ProcKey> {
        Some(ProcKey {
            id: self.id()?,
            future_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        })
    }

    #[cold]
    fn register(&'static self) -> Option<u32> {
        let mut procs = lock();
        // Two threads may come here at once; the second finds the number there.
        match self.id.load(Ordering::Relaxed) {
            0 => {}
            LOST => return None,
            id => return Some(id - 1),
        }
        let id = u32::try_from(procs.len()).unwrap_or(PROC_LIMIT);
        if id >= PROC_LIMIT {
            LOST_PROCS.fetch_add(1, Ordering::Relaxed);
            self.id.store(LOST, Ordering::Relaxed);
            return None;
        }
        procs.push(Registered {
            proc: self,
            path: shown_path((self.path)(), self.name).into(),
        });
        self.id.store(id + 1, Ordering::Relaxed);
        Some(id)
    }

    /// The ordinal of a new task of which this proc is the root, from 1.
    pub(crate) fn next_task(&self) -> u64 {
        self.tasks.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn lock() -> MutexGuard<'static, Vec<Registered>> {
    PROCS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All procs by number.
pub(crate) fn all() -> Vec<Registered> {
    lock().clone()
}

/// How many procs are beyond the limit.
pub(crate) fn lost() -> u64 {
    LOST_PROCS.load(Ordering::Relaxed)
}

/// The marker that the attribute prints ends in this.
const MARKER: &str = "::__turbowish_path";

/// `kv::db::Db<_>::get::__turbowish_path` reads `kv::db::Db::get`; blocks named by the compiler go.
fn shown_path(marker: &str, name: &str) -> String {
    let path = marker.strip_suffix(MARKER).unwrap_or(marker);
    let mut shown = path
        .replace("<_>", "")
        .replace("<'_>", "")
        .replace("::{{closure}}", "");
    while let Some(at) = shown.find("::<_, ").or_else(|| shown.find("<_, ")) {
        let Some(end) = shown[at..].find('>') else {
            break;
        };
        shown.replace_range(at..=at + end, "");
    }
    if name.is_empty() {
        return shown;
    }
    // An `async` block is named after its line, and stands inside the function whose path it shares.
    if name.starts_with("async@") {
        return format!("{shown}::{name}");
    }
    match shown.rfind("::") {
        Some(at) if !name.contains("::") && !shown.ends_with('>') => {
            format!("{}::{name}", &shown[..at])
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_path;

    #[test]
    fn paths_read_as_written() {
        let check = |marker: &str, name: &str, expected: &str| {
            assert_eq!(shown_path(marker, name), expected)
        };
        check(
            "kv::db::Db<_>::get::__turbowish_path",
            "",
            "kv::db::Db::get",
        );
        check(
            "kv::db::Db<_, _>::get::__turbowish_path",
            "",
            "kv::db::Db::get",
        );
        check(
            "<kv::db::Db<_> as kv::db::Store>::get::__turbowish_path",
            "",
            "<kv::db::Db as kv::db::Store>::get",
        );
        check("kv::main::run::__turbowish_path", "", "kv::main::run");
        check(
            "kv::main::run::{{closure}}::__turbowish_path",
            "",
            "kv::main::run",
        );
        check(
            "kv::main::run::__turbowish_path",
            "start",
            "kv::main::start",
        );
        check(
            "kv::main::run::__turbowish_path",
            "own::start",
            "own::start",
        );
        check(
            "<kv::Db<_> as kv::Store>::get::__turbowish_path",
            "async@12",
            "<kv::Db as kv::Store>::get::async@12",
        );
    }
}
