//! Names: what the numbers in polls stand for. They are defined once in the life of a process, and
//! never change.

use std::collections::HashMap;

use turbowish_model::account::paths::{PathId, PathKey, PathKind, Paths};

use crate::varint::{Bytes, put, put_text};

/// A function, as an event refers to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcName {
    /// Its path.
    pub path: String,
    /// The source file.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// Its await points by number; `None` for those that are not known.
    pub awaits: Vec<Option<AwaitName>>,
}

impl ProcName {
    /// One of its await points, by number; `None` if it is not known.
    #[must_use]
    pub fn await_point(&self, site: u32) -> Option<&AwaitName> {
        self.awaits.get(site as usize)?.as_ref()
    }
}

/// An await point of a function, in the function's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwaitName {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is awaited, as written.
    pub expression: String,
}

/// A place in the source at which the program records an event of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventName {
    /// The name of the event.
    pub name: String,
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The names of its numbers.
    pub keys: Vec<String>,
}

/// A call in a path or a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallName {
    /// Number of its function.
    pub proc: u32,
    /// Number of the await point at which it stands, if that is known.
    pub site: Option<u32>,
}

/// An entry of the table of paths, or of that of chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    parent: u32,
    proc: u32,
    /// Await point plus one.
    site: u32,
    kind: u8,
}

impl Entry {
    const fn of(key: PathKey) -> Self {
        Self {
            parent: key.parent(),
            proc: key.proc(),
            site: key.site(),
            kind: key.kind(),
        }
    }
}

const PROC: u64 = 1;
const PATH: u64 = 2;
const CHAIN: u64 = 3;
const THREAD: u64 = 4;
const EVENT: u64 = 5;

/// Writes the body of a chunk of names.
#[derive(Debug, Default)]
pub struct NameEncoder {
    body: Vec<u8>,
    entry: Vec<u8>,
}

impl NameEncoder {
    fn entry(&mut self, tag: u64, write: impl FnOnce(&mut Vec<u8>)) {
        self.entry.clear();
        write(&mut self.entry);
        put(&mut self.body, tag);
        put(&mut self.body, self.entry.len() as u64);
        self.body.extend_from_slice(&self.entry);
    }

    /// Defines a function: its path, its file and its line. `awaits` has the lines, columns and
    /// expressions of its await points.
    pub fn proc<'a>(
        &mut self,
        proc: u32,
        (path, file, line): (&str, &str, u32),
        awaits: impl ExactSizeIterator<Item = Option<(u32, u32, &'a str)>>,
    ) {
        self.entry(PROC, |into| {
            put(into, proc.into());
            put_text(into, path);
            put_text(into, file);
            put(into, line.into());
            put(into, awaits.len() as u64);
            for (line, column, expression) in awaits.map(Option::unwrap_or_default) {
                put(into, line.into());
                put(into, column.into());
                put_text(into, expression);
            }
        });
    }

    /// Defines the paths with these numbers.
    pub fn paths(&mut self, table: &Paths, ids: impl Iterator<Item = PathId>) {
        self.entries(PATH, table, ids);
    }

    /// Defines the chains with these numbers.
    pub fn chains(&mut self, table: &Paths, ids: impl Iterator<Item = PathId>) {
        self.entries(CHAIN, table, ids);
    }

    fn entries(&mut self, tag: u64, table: &Paths, ids: impl Iterator<Item = PathId>) {
        for id in ids {
            let entry = Entry::of(table.key(id));
            self.entry(tag, |into| {
                for number in [id, entry.parent, entry.proc, entry.site, entry.kind.into()] {
                    put(into, number.into());
                }
            });
        }
    }

    /// Names a thread.
    pub fn thread(&mut self, thread: u32, name: &str) {
        self.entry(THREAD, |into| {
            put(into, thread.into());
            put_text(into, name);
        });
    }

    /// Defines the event of a place: its name, and the names of its numbers.
    pub fn event(&mut self, site: u32, (name, file, line): (&str, &str, u32), keys: &[&str]) {
        self.entry(EVENT, |into| {
            put(into, site.into());
            put_text(into, name);
            put_text(into, file);
            put(into, line.into());
            put(into, keys.len() as u64);
            keys.iter().for_each(|key| put_text(into, key));
        });
    }

    /// The body.
    #[must_use]
    pub fn end(self) -> Vec<u8> {
        self.body
    }
}

/// The names of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    procs: HashMap<u32, ProcName>,
    paths: HashMap<u32, Entry>,
    chains: HashMap<u32, Entry>,
    threads: HashMap<u32, String>,
    events: HashMap<u32, EventName>,
}

/// The most calls that are looked up for a path: beyond, it is damaged.
const DEEPEST: usize = 1 << 16;

impl Names {
    /// Adds the names in the body of a chunk. Returns whether it is such a body; if it is not, what
    /// precedes the fault was added.
    pub fn read(&mut self, body: &[u8]) -> bool {
        let mut bytes = Bytes(body);
        while !bytes.is_empty() {
            let entry = bytes.number().zip(bytes.part());
            if entry
                .and_then(|(tag, entry)| self.add(tag, entry))
                .is_none()
            {
                return false;
            }
        }
        true
    }

    fn add(&mut self, tag: u64, mut bytes: Bytes<'_>) -> Option<()> {
        if !(PROC..=EVENT).contains(&tag) {
            // Of a later version.
            return Some(());
        }
        let id = bytes.small()?;
        match tag {
            PROC => {
                self.procs.insert(id, proc(&mut bytes)?);
            }
            PATH => {
                self.paths.insert(id, entry(&mut bytes)?);
            }
            CHAIN => {
                self.chains.insert(id, entry(&mut bytes)?);
            }
            EVENT => {
                self.events.insert(id, event(&mut bytes)?);
            }
            _ => {
                self.threads.insert(id, bytes.text()?.to_owned());
            }
        }
        Some(())
    }

    /// A function.
    #[must_use]
    pub fn proc(&self, proc: u32) -> Option<&ProcName> {
        self.procs.get(&proc)
    }

    /// The name of a thread.
    #[must_use]
    pub fn thread(&self, thread: u32) -> Option<&str> {
        self.threads.get(&thread).map(String::as_str)
    }

    /// The program's own event at a place.
    #[must_use]
    pub fn event(&self, site: u32) -> Option<&EventName> {
        self.events.get(&site)
    }

    /// The calls of a path, the root of the task first. Empty if the path is not known.
    #[must_use]
    pub fn path(&self, path: u32) -> Vec<CallName> {
        let (mut calls, mut next) = (Vec::new(), path);
        // Where the call further out stands, that is at which of its await points it polls this.
        let mut site = 0;
        for _ in 0..DEEPEST {
            let fixed = || Paths::fixed_key(next).map(Entry::of);
            let Some(entry) = self.paths.get(&next).copied().or_else(fixed) else {
                break;
            };
            next = entry.parent;
            match PathKind::of(entry.kind) {
                Some(PathKind::Wait) => site = entry.site,
                Some(PathKind::Creator) | None => {}
                Some(_) => {
                    calls.push(call(entry.proc, site));
                    site = entry.site;
                }
            }
        }
        calls.reverse();
        calls
    }

    /// The calls of a chain, the root of the task first, each with the await point at which it
    /// waits. Empty if the chain is not known.
    #[must_use]
    pub fn chain(&self, chain: u32) -> Vec<CallName> {
        let (mut calls, mut next) = (Vec::new(), chain);
        while let (Some(entry), true) = (self.chains.get(&next), calls.len() < DEEPEST) {
            calls.push(call(entry.proc, entry.site));
            next = entry.parent;
        }
        calls.reverse();
        calls
    }
}

const fn call(proc: u32, site: u32) -> CallName {
    CallName {
        proc,
        site: site.checked_sub(1),
    }
}

fn proc(bytes: &mut Bytes<'_>) -> Option<ProcName> {
    let (path, file) = (bytes.text()?.to_owned(), bytes.text()?.to_owned());
    let (line, count) = (bytes.small()?, bytes.number()?);
    let mut awaits = Vec::new();
    for _ in 0..count {
        let (line, column) = (bytes.small()?, bytes.small()?);
        let expression = bytes.text()?.to_owned();
        awaits.push((line > 0).then_some(AwaitName {
            line,
            column,
            expression,
        }));
    }
    Some(ProcName {
        path,
        file,
        line,
        awaits,
    })
}

fn event(bytes: &mut Bytes<'_>) -> Option<EventName> {
    let (name, file) = (bytes.text()?.to_owned(), bytes.text()?.to_owned());
    let (line, count) = (bytes.small()?, bytes.number()?);
    let keys = (0..count).map(|_| bytes.text().map(str::to_owned));
    Some(EventName {
        name,
        file,
        line,
        keys: keys.collect::<Option<_>>()?,
    })
}

fn entry(bytes: &mut Bytes<'_>) -> Option<Entry> {
    Some(Entry {
        parent: bytes.small()?,
        proc: bytes.small()?,
        site: bytes.small()?,
        kind: bytes.byte()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turbowish_model::account::paths::{PathKey, PathKind, Paths};

    use super::{AwaitName, CallName, EventName, NameEncoder, Names, ProcName};

    #[test]
    fn names_read_back() {
        let (table, chains) = (Paths::default(), Paths::default());
        // `serve` (1) polls `handle` (2) at its await point 4, by code of its own `send` (3).
        let root = Paths::root(1);
        let add = |key| table.intern(key).expect("room");
        let handle = add(PathKey::new(root, 2, 5, PathKind::Direct));
        let send = add(PathKey::new(handle, 3, 0, PathKind::Inner));
        let waits = add(PathKey::new(send, 3, 7, PathKind::Wait));
        let link = |parent, proc, site| {
            let key = PathKey::new(parent, proc, site, PathKind::Frame);
            chains.intern(key).expect("room")
        };
        let chain = link(link(0, 1, 5), 2, 9);

        let mut names = NameEncoder::default();
        let awaits = [None, Some((12, 5, "tx.send(1)"))];
        names.proc(3, ("app::send", "src/send.rs", 10), awaits.into_iter());
        names.thread(0, "worker");
        names.event(6, ("cache.miss", "src/send.rs", 14), &["key", "bytes"]);
        let first = names.end();
        let mut names = NameEncoder::default();
        names.paths(&table, table.added(0));
        names.chains(&chains, chains.added(0));
        let second = names.end();

        let mut names = Names::default();
        assert!(names.read(&first) && names.read(&second));
        let expected = ProcName {
            path: "app::send".into(),
            file: "src/send.rs".into(),
            line: 10,
            awaits: vec![
                None,
                Some(AwaitName {
                    line: 12,
                    column: 5,
                    expression: "tx.send(1)".into(),
                }),
            ],
        };
        assert_eq!((names.proc(3), names.proc(4)), (Some(&expected), None));
        let event = EventName {
            name: "cache.miss".into(),
            file: "src/send.rs".into(),
            line: 14,
            keys: vec!["key".into(), "bytes".into()],
        };
        assert_eq!((names.event(6), names.event(0)), (Some(&event), None));
        assert_eq!((names.thread(0), names.thread(1)), (Some("worker"), None));
        let call = |proc, site| CallName { proc, site };
        let path = [call(1, Some(4)), call(2, None), call(3, Some(6))];
        assert_eq!(names.path(waits), path);
        assert_eq!(names.path(root), [call(1, None)]);
        assert_eq!(names.chain(chain), [call(1, Some(4)), call(2, Some(8))]);
        assert_eq!((names.path(0), names.chain(0)), (vec![], vec![]));
        assert_eq!(table.added(2).collect::<Vec<_>>(), [waits]);
    }

    #[test]
    fn an_unknown_entry_is_skipped_and_a_damaged_one_ends_the_names() {
        let mut names = Names::default();
        let mut encoder = NameEncoder::default();
        encoder.thread(7, "after");
        let mut body = vec![99, 2, 0xff, 0xff];
        body.extend(encoder.end());
        assert!(names.read(&body));
        assert_eq!(names.thread(7), Some("after"));
        body.extend([4, 9, 1]);
        assert!(!names.read(&body));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in any::<Vec<u8>>(), path in any::<u32>()) {
            let mut names = Names::default();
            let _ = names.read(&body);
            let _ = (names.path(path), names.chain(path));
        }
    }
}
