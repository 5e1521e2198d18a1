//! Procs and their await points: statics emitted by the attribute, numbered at their first call.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use turbowish_model::account::call::ProcKey;
use turbowish_model::account::counters::PROC_LIMIT;
use turbowish_model::account::paths::FirstPath;
use turbowish_model::snapshot::combinator::Combinator;

use crate::lock::lock;

/// An instrumented function as written: one static each, shared by all its instances.
///
/// It is compiled into every annotated function, so it is little more than text, which is parsed
/// when the proc is registered.
#[derive(Debug)]
pub struct Proc {
    path: fn() -> &'static str,
    name: &'static str,
    places: &'static str,
    /// Number plus one; 0 before the first call.
    id: AtomicU32,
    tasks: AtomicU64,
    /// Await points known to poll several calls: a bit for each of the first [`FORKS`].
    forks: AtomicU64,
    /// Bytes of the largest future of its calls.
    bytes: AtomicU32,
    /// Whether calls are created before other things happen, so that their creation needs a time.
    early: AtomicBool,
    pub(super) first_path: FirstPath,
}

/// A reference to a proc.
#[derive(Clone, Copy, Debug)]
pub struct StaticProc(pub(super) &'static Proc);

/// Number of await points of a proc that can be marked as polling several calls.
const FORKS: u32 = u64::BITS;

/// Marks a proc beyond the maximum number of procs.
const LOST: u32 = u32::MAX;

/// Procs of this process.
struct Procs {
    /// By number.
    known: Mutex<Vec<Registered>>,
    /// The statics of all of them, by number.
    statics: Mutex<Vec<&'static Proc>>,
    /// Number of procs beyond the maximum.
    lost: AtomicU64,
    uncounted: Proc,
}

static PROCS: Procs = Procs {
    known: Mutex::new(Vec::new()),
    statics: Mutex::new(Vec::new()),
    lost: AtomicU64::new(0),
    uncounted: Proc::new::<()>("", ""),
};

/// A registered proc, as shown to users.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) path: Arc<str>,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    /// Await points by index.
    pub(crate) sites: Arc<[Option<Site>]>,
    /// Attributes written beside the function's name.
    pub(crate) attributes: Arc<[(String, String)]>,
}

/// An await point as written: `OPERAND.await` from its first to its last character, lines and
/// columns from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
    /// The operand's text.
    pub(crate) expr: &'static str,
}

impl Proc {
    /// Creates a proc. `P` is a type inside the function; `name`, if not empty, replaces the last
    /// segment of its path. The first line of `places` is `LINE FILE`; then there is `=NAME VALUE`
    /// for each attribute, and `LINE COLUMN END_LINE END_COLUMN EXPRESSION` for each await point.
    #[must_use]
    pub const fn new<P>(name: &'static str, places: &'static str) -> Self {
        Self {
            path: std::any::type_name::<P>,
            name,
            places,
            id: AtomicU32::new(0),
            tasks: AtomicU64::new(0),
            forks: AtomicU64::new(0),
            bytes: AtomicU32::new(0),
            early: AtomicBool::new(false),
            first_path: FirstPath::new(),
        }
    }

    /// Returns a reference without a lifetime.
    #[inline]
    #[must_use]
    pub const fn as_static(&'static self) -> StaticProc {
        StaticProc(self)
    }

    /// Whether a future of this size is the largest so far.
    #[inline]
    pub(crate) fn is_large(&self, bytes: usize) -> bool {
        bytes as u32 > self.bytes.load(Ordering::Relaxed)
    }

    /// Records the size of a large future.
    pub(crate) fn grows(&self, bytes: usize) {
        self.bytes.fetch_max(bytes as u32, Ordering::Relaxed);
    }

    /// Whether the creation of a call is to be recorded at once, with its time.
    #[inline]
    pub(crate) fn is_early(&self) -> bool {
        #[cfg(test)]
        if EARLY.load(Ordering::Relaxed) {
            return true;
        }
        self.early.load(Ordering::Relaxed)
    }

    /// Forgets that calls were created early.
    #[cfg(test)]
    pub(crate) fn forget_early(&self) {
        self.early.store(false, Ordering::Relaxed);
    }

    /// Records that a call was first polled when other things had happened since its creation.
    #[cold]
    pub(crate) fn is_created_early(&self) {
        self.early.store(true, Ordering::Relaxed);
    }

    /// A proc beyond the maximum number of procs.
    #[cfg(test)]
    pub(crate) const fn lost() -> Self {
        Self {
            id: AtomicU32::new(LOST),
            ..Self::new::<()>("", "")
        }
    }

    /// The proc's number; `None` beyond the maximum.
    #[inline]
    pub(crate) fn id(&'static self) -> Option<u32> {
        match self.id.load(Ordering::Relaxed) {
            0 => self.register(),
            LOST => None,
            id => Some(id - 1),
        }
    }

    /// The proc's number, if it has one already.
    #[inline(always)]
    pub(crate) fn known(&self) -> Option<u32> {
        let id = self.id.load(Ordering::Relaxed).wrapping_sub(1);
        (id < PROC_LIMIT).then_some(id)
    }

    /// The key under which the ledger accounts the proc, for a future of `bytes` bytes.
    #[inline]
    pub(crate) fn key(&'static self, bytes: usize) -> Option<ProcKey> {
        Some(ProcKey {
            id: self.id()?,
            future_bytes: bytes as u64,
        })
    }

    #[cold]
    fn register(&'static self) -> Option<u32> {
        let mut procs = lock(&PROCS.known);
        // Two threads may register at once: the second finds the number here.
        match self.id.load(Ordering::Relaxed) {
            0 => {}
            LOST => return None,
            id => return Some(id - 1),
        }
        let id = u32::try_from(procs.len()).unwrap_or(PROC_LIMIT);
        if id >= PROC_LIMIT {
            PROCS.lost.fetch_add(1, Ordering::Relaxed);
            self.id.store(LOST, Ordering::Relaxed);
            return None;
        }
        let read = Registered::read((self.path)(), self.name, self.places);
        self.forks.fetch_or(read.forks(), Ordering::Relaxed);
        procs.push(read);
        lock(&PROCS.statics).push(self);
        self.id.store(id + 1, Ordering::Relaxed);
        Some(id)
    }

    /// Whether the await point with this index is known to poll several calls.
    #[inline]
    pub(crate) fn is_fork(&self, site: u32) -> bool {
        site < FORKS && self.forks.load(Ordering::Relaxed) >> site & 1 != 0
    }

    /// The ordinal of a new task whose root is this proc, which has the number `id`; from 1.
    #[inline]
    pub(crate) fn next_task(&self, id: u32) -> u64 {
        let own = ORDINALS.try_with(|all| {
            let cell = &all[id as usize % BLOCKS];
            let mut block = cell.get();
            if block.proc != id + 1 || block.left == 0 {
                block = self.reserve(id, block);
            }
            let ordinal = block.next;
            block.next += 1;
            block.left -= 1;
            cell.set(block);
            ordinal
        });
        own.unwrap_or_else(|_| self.tasks.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Reserves ordinals for this thread, which has used up `before`, or needs its place.
    #[cold]
    fn reserve(&self, id: u32, before: Ordinals) -> Ordinals {
        let is_next = before.proc == id + 1;
        let length = if is_next {
            (before.length * 2).min(LONGEST)
        } else {
            1
        };
        Ordinals {
            proc: id + 1,
            next: self.tasks.fetch_add(length.into(), Ordering::Relaxed) + 1,
            left: length,
            length,
        }
    }
}

/// Ordinals of tasks that a thread has reserved, so that a new task changes no word that threads
/// share. Twice as many each time, so that the first tasks of a proc have the first ordinals.
#[derive(Clone, Copy)]
struct Ordinals {
    /// Number of the proc, plus one; 0 for none.
    proc: u32,
    left: u16,
    /// How many were reserved.
    length: u16,
    next: u64,
}

/// Maximum number of ordinals that are reserved at once. Each time writes to the proc, which all
/// threads read at each of its calls.
const LONGEST: u16 = 512;

/// Number of procs for which a thread has ordinals.
const BLOCKS: usize = 16;

thread_local! {
    static ORDINALS: [Cell<Ordinals>; BLOCKS] = const {
        [const {
            Cell::new(Ordinals {
                proc: 0,
                left: 0,
                length: 0,
                next: 0,
            })
        }; BLOCKS]
    };
}

/// Tests that compare every time record every creation at once.
#[cfg(test)]
pub(crate) static EARLY: AtomicBool = AtomicBool::new(false);

/// Placeholder proc: its calls are never accounted.
pub(crate) fn uncounted() -> &'static Proc {
    &PROCS.uncounted
}

/// Records that an await point (its index plus one) was seen to poll several calls.
#[cold]
pub(crate) fn learn(proc: u32, site: u16) {
    let site = u32::from(site).wrapping_sub(1);
    if site < FORKS
        && let Some(proc) = lock(&PROCS.statics).get(proc as usize)
    {
        proc.forks.fetch_or(1 << site, Ordering::Relaxed);
    }
}

/// All procs by number.
pub(crate) fn all() -> Vec<Registered> {
    lock(&PROCS.known).clone()
}

/// Number of the procs in [`all`].
pub(crate) fn count() -> usize {
    lock(&PROCS.known).len()
}

/// Number of procs beyond the maximum.
pub(crate) fn lost() -> u64 {
    PROCS.lost.load(Ordering::Relaxed)
}

impl Registered {
    fn read(path: &str, name: &str, places: &'static str) -> Registered {
        let mut lines = places.lines();
        let (line, file) = lines.next().and_then(number).unwrap_or((0, ""));
        let (attributes, sites): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with('='));
        let attribute = |line: &str| {
            let (name, value) = line[1..].split_once(' ')?;
            Some((name.to_owned(), value.to_owned()))
        };
        Registered {
            path: shown_path(path, name).into(),
            file,
            line,
            sites: sites.into_iter().map(Site::read).collect(),
            attributes: attributes.into_iter().filter_map(attribute).collect(),
        }
    }

    /// Bits of the await points whose text says that they poll several calls.
    fn forks(&self) -> u64 {
        let sites = self.sites.iter().take(FORKS as usize).zip(0..);
        let forks = sites.filter(|(site, _)| {
            site.is_some_and(|site| Combinator::from_expr(site.expr).is_some())
        });
        forks.fold(0, |bits, (_, index)| bits | 1 << index)
    }
}

impl Site {
    fn read(line: &'static str) -> Option<Site> {
        let (line, rest) = number(line)?;
        let (column, rest) = number(rest)?;
        let (end_line, rest) = number(rest)?;
        let (end_column, expr) = number(rest)?;
        Some(Site {
            line,
            column,
            end_line,
            end_column,
            expr,
        })
    }
}

/// Splits `text` at the first blank into a number and the rest.
fn number(text: &'static str) -> Option<(u32, &'static str)> {
    let (number, rest) = text.split_once(' ')?;
    Some((number.parse().ok()?, rest))
}

/// Suffix of the marker type that the attribute emits.
const MARKER: &str = "::__TurbowishPath";

/// `kv::db::Db<_>::get::__TurbowishPath` is shown as `kv::db::Db::get`; blocks named by the
/// compiler are removed.
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
    // An `async` block, or a spawned future without a proc, is named after its line, below the
    // function whose path it shares.
    if name.starts_with("async@") || name.starts_with("spawn@") {
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
    use super::{Registered, Site, shown_path};

    #[test]
    fn places_are_read_from_text() {
        let places = "12 src/my files/lib.rs\n=shard 7\n=note two words\n=\n=none\n13 5 13 20 self.read(a, b)\n\
                      nonsense\n15 9 17 11 select! {..}";
        let read = Registered::read("kv::get::__TurbowishPath", "", places);
        assert_eq!(
            (&*read.path, read.file, read.line),
            ("kv::get", "src/my files/lib.rs", 12)
        );
        let site = |line, column, end_line, end_column, expr| {
            Some(Site {
                line,
                column,
                end_line,
                end_column,
                expr,
            })
        };
        let expected = [
            site(13, 5, 13, 20, "self.read(a, b)"),
            None,
            site(15, 9, 17, 11, "select! {..}"),
        ];
        assert_eq!(*read.sites, expected);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            *read.attributes,
            [pair("shard", "7"), pair("note", "two words")]
        );
        let read = Registered::read("kv::get::__TurbowishPath", "", "");
        assert_eq!((read.file, read.line, read.sites.len()), ("", 0, 0));
    }

    #[test]
    fn paths_read_as_written() {
        let check = |marker: &str, name: &str, expected: &str| {
            assert_eq!(shown_path(marker, name), expected)
        };
        check("kv::db::Db<_>::get::__TurbowishPath", "", "kv::db::Db::get");
        check(
            "kv::db::Db<_, _>::get::__TurbowishPath",
            "",
            "kv::db::Db::get",
        );
        check(
            "<kv::db::Db<_> as kv::db::Store>::get::__TurbowishPath",
            "",
            "<kv::db::Db as kv::db::Store>::get",
        );
        check("kv::main::run::__TurbowishPath", "", "kv::main::run");
        check(
            "kv::main::run::{{closure}}::__TurbowishPath",
            "",
            "kv::main::run",
        );
        check("kv::main::run::__TurbowishPath", "start", "kv::main::start");
        check("kv::main::run::__TurbowishPath", "own::start", "own::start");
        check(
            "<kv::Db<_> as kv::Store>::get::__TurbowishPath",
            "async@12",
            "<kv::Db as kv::Store>::get::async@12",
        );
    }
}
