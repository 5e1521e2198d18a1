//! Labels: what tasks, threads, functions and await points are called in an export.

use std::borrow::Cow;
use std::collections::HashMap;

use turbowish_model::account::event_ring::EVENT_VALUES;
use turbowish_model::account::task::{TaskMeta, WAKER_CALLS};
use turbowish_model::snapshot::{Process, Snapshot, sanitize};
use turbowish_recording::{AwaitName, CallName, Names, PollEvent, ProcName, WokenBy};

/// A function, task or path of which nothing is known.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// Where a task waits whose chain was not recorded as one.
pub(crate) const SEVERAL: &str = "[several awaits]";

/// The names of a recording, and those that its states give to tasks and to the process.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    names: Names,
    tasks: HashMap<u64, String>,
    resources: HashMap<u64, String>,
    process: Process,
}

/// `get` of `kv::db::get`
fn last_word(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn clean(text: &str) -> String {
    sanitize::line(text).into_owned()
}

impl Labels {
    pub(crate) fn new(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// Takes the names that a state has.
    pub(super) fn add(&mut self, state: &Snapshot) {
        for row in &state.tasks.rows {
            self.tasks.entry(row.id).or_insert_with(|| clean(&row.name));
        }
        for row in &state.resources.rows {
            let known = self.resources.entry(row.id);
            known.or_insert_with(|| clean(&row.name));
        }
        if !state.process.name.is_empty() {
            self.process = state.process.clone();
        }
    }

    /// `kv`
    pub(crate) fn process(&self) -> Cow<'_, str> {
        sanitize::line(&self.process.name)
    }

    /// Process ID; 0 if it is not known.
    pub(crate) const fn pid(&self) -> u32 {
        self.process.pid
    }

    /// A thread's name, else `thread 3`.
    pub(crate) fn thread(&self, thread: u32) -> String {
        match self.names.thread(thread) {
            Some(name) if !name.is_empty() => clean(name),
            _ => format!("thread {thread}"),
        }
    }

    /// A task's name, as the console has it.
    pub(crate) fn task(&self, id: u64) -> String {
        match (id, self.tasks.get(&id)) {
            (0, _) => UNKNOWN.to_owned(),
            (_, Some(name)) => name.clone(),
            _ => format!(
                "{}-{}",
                last_word(&self.root(id)),
                TaskMeta::of(id).ordinal()
            ),
        }
    }

    /// `mutex db`, else `resource 17`: those of no state have no name here.
    pub(crate) fn resource(&self, id: u64) -> String {
        let known = self.resources.get(&id).cloned();
        known.unwrap_or_else(|| format!("resource {id}"))
    }

    /// The name of an event of the program's own, and its numbers with their names.
    pub(crate) fn event(&self, site: u32, values: &[i64]) -> (String, Vec<(String, i64)>) {
        let (name, keys) = self.event_names(site);
        let keys = keys.into_iter();
        (name, keys.zip(values.iter().copied()).collect())
    }

    /// The name of an event of the program's own, and those of its numbers.
    pub(super) fn event_names(&self, site: u32) -> (String, Vec<String>) {
        let Some(known) = self.names.event(site) else {
            return (UNKNOWN.to_owned(), Vec::new());
        };
        let keys = known.keys.iter().take(EVENT_VALUES);
        (clean(&known.name), keys.map(|key| clean(key)).collect())
    }

    /// The function of a task's root.
    pub(crate) fn root(&self, task: u64) -> String {
        root_of(task).map_or_else(|| UNKNOWN.to_owned(), |root| self.proc(root))
    }

    /// The path of a function.
    pub(crate) fn proc(&self, proc: u32) -> String {
        let known = self.names.proc(proc);
        known.map_or_else(|| UNKNOWN.to_owned(), |known| clean(&known.path))
    }

    /// What is known of the await point at which a call stands.
    pub(crate) fn site(&self, call: CallName) -> Option<(&ProcName, &AwaitName)> {
        let proc = self.names.proc(call.proc)?;
        let site = proc.await_point(call.site?)?;
        Some((proc, site))
    }

    /// `src/db.rs:41 lock(users)`; `None` if the await point is not known.
    pub(crate) fn place(&self, call: CallName) -> Option<String> {
        let (proc, site) = self.site(call)?;
        let AwaitName {
            line, expression, ..
        } = site;
        Some(clean(&format!("{}:{line} {expression}", proc.file)))
    }

    /// What is known of a function.
    pub(super) fn known(&self, proc: u32) -> Option<&ProcName> {
        self.names.proc(proc)
    }

    /// The calls of the path of a poll, the root of the task first: at least one.
    pub(crate) fn path(&self, poll: &PollEvent) -> Vec<CallName> {
        self.calls(poll.path, root_of(poll.task))
    }

    /// The calls of a path. Of an unknown one, the function of the task's root.
    pub(super) fn calls(&self, path: u32, root: Option<u32>) -> Vec<CallName> {
        let path = self.names.path(path);
        match path.is_empty() {
            true => vec![CallName {
                proc: root.unwrap_or(u32::MAX),
                site: None,
            }],
            false => path,
        }
    }

    /// The calls of a chain, the root of the task first. Empty if it is not known.
    pub(crate) fn chain(&self, chain: u32) -> Vec<CallName> {
        self.names.chain(chain)
    }

    /// `kv::serve > kv::db::get`: the first function of the path of a poll, and the last one.
    pub(crate) fn poll(&self, poll: &PollEvent) -> String {
        let path = self.path(poll);
        match &path[..] {
            [first, .., last] => format!("{} > {}", self.proc(first.proc), self.proc(last.proc)),
            [only] => self.proc(only.proc),
            [] => UNKNOWN.to_owned(),
        }
    }

    /// `kv::db::get at src/db.rs:41 lock(users)`: where a task waits, innermost.
    pub(crate) fn wait(&self, chain: u32) -> String {
        let chain = self.chain(chain);
        let Some(last) = chain.last() else {
            return SEVERAL.to_owned();
        };
        let proc = self.proc(last.proc);
        match self.place(*last) {
            Some(place) => format!("{proc} at {place}"),
            None => proc,
        }
    }

    /// `kv::serve at src/conn.rs:70 push(&item) > kv::queue::push`: the innermost calls that ran in
    /// the task that woke another one; `.. >` before them if there are others around. `None` if
    /// they are not known.
    pub(crate) fn woken_in(&self, by: WokenBy) -> Option<String> {
        let WokenBy::Task { path, .. } = by else {
            return None;
        };
        let calls = self.names.path(path);
        let inner = &calls[calls.len().saturating_sub(WAKER_CALLS)..];
        let told = inner.iter().map(|&call| match self.place(call) {
            Some(place) => format!("{} at {place}", self.proc(call.proc)),
            None => self.proc(call.proc),
        });
        let told: Vec<String> = told.collect();
        let outer = if inner.len() < calls.len() {
            ".. > "
        } else {
            ""
        };
        (!told.is_empty()).then(|| format!("{outer}{}", told.join(" > ")))
    }

    /// `task conn-7`, `thread 0 (main)`, `unknown`: who woke a task.
    pub(crate) fn woken_by(&self, by: WokenBy) -> String {
        match by {
            WokenBy::Unknown => "unknown".to_owned(),
            WokenBy::Task { id, .. } => format!("task {}", self.task(id)),
            WokenBy::Thread(thread) => match self.names.thread(thread) {
                Some(name) if !name.is_empty() => format!("thread {thread} ({})", clean(name)),
                _ => format!("thread {thread}"),
            },
        }
    }
}

/// Number of the function of a task's root.
pub(super) const fn root_of(task: u64) -> Option<u32> {
    match task {
        0 => None,
        task => Some(TaskMeta::of(task).root()),
    }
}
