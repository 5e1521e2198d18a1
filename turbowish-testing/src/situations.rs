//! Situations in few words: named tasks, what they hold, where they wait.

pub mod random;

use turbowish_model::account::resource::{Kind, Role};
use turbowish_model::diagnose::situation::{
    End, FutureRef, HandoffCandidate, HoldingTask, IntendingTask, Node, NodeKind, Resource,
    RootTasks, Situation, Strength, Task, WaitingTask, Wakes,
};
use turbowish_model::snapshot::{Place, Spot, TaskState};

/// A millisecond, in nanoseconds.
pub const MS: u64 = 1_000_000;
/// A second, in nanoseconds.
pub const SECOND: u64 = 1_000 * MS;

/// The instant at which situations begin; nothing in them is older.
pub const START: u64 = 1_000 * SECOND;

/// Builds a situation; tasks and resources are found by their names.
#[derive(Clone, Debug, Default)]
pub struct SituationBuilder {
    /// The situation so far.
    pub situation: Situation,
}

/// The location that a text like `conn.rs:84` names, below `src/`.
///
/// # Panics
///
/// If it is not FILE:LINE.
#[must_use]
pub fn spot(text: &str) -> Spot {
    let (file, line) = text.split_once(':').expect("file:line");
    Spot {
        file: format!("src/{file}"),
        line: line.parse().expect("a line"),
        column: 9,
    }
}

/// The expression that a text like `conn.rs:84 self.db.lock()` names, below `src/`.
///
/// # Panics
///
/// If it is not FILE:LINE EXPRESSION.
#[must_use]
pub fn place(text: &str) -> Place {
    let (at, expr) = text.split_once(' ').expect("file:line and expression");
    let spot = spot(at);
    Place {
        file: spot.file,
        line: spot.line,
        column: spot.column,
        end_line: spot.line,
        end_column: spot.column + expr.len() as u32 + 5,
        expr: expr.to_owned(),
    }
}

impl SituationBuilder {
    /// An empty situation.
    #[must_use]
    pub fn new() -> Self {
        let mut stage = Self::default();
        stage.situation.now = START;
        stage
    }

    /// A task that waits at a place of its root since the beginning.
    pub fn task(&mut self, name: &str, at: &str) -> &mut Task {
        let id = 100 + self.situation.tasks.len() as u64;
        self.situation.tasks.push(Task {
            id,
            name: name.to_owned(),
            root: format!(
                "app::{}",
                name.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit())
            ),
            since: START,
            created: START,
            polls: 1,
            state: TaskState::Waiting,
            wakes: Some(Wakes {
                live: Some(1),
                clones: 1,
                ..Wakes::default()
            }),
            ..Task::default()
        });
        let root = self.last().root.clone();
        self.node(name, None, NodeKind::Call, &root, at);
        self.last()
    }

    /// The number of tasks whose root is the proc `app::NAME`.
    pub fn tasks_of(&mut self, name: &str) -> &mut RootTasks {
        let path = format!("app::{name}");
        let roots = &mut self.situation.roots;
        let known = roots.iter().position(|root| root.path == path);
        let at = known.unwrap_or(roots.len());
        if known.is_none() {
            roots.push(RootTasks {
                path,
                ..RootTasks::default()
            });
        }
        &mut roots[at]
    }

    fn last(&mut self) -> &mut Task {
        self.situation.tasks.last_mut().expect("a task")
    }

    /// One more node in the tree of a task.
    pub fn node(
        &mut self,
        task: &str,
        parent: Option<u32>,
        kind: NodeKind,
        proc: &str,
        at: &str,
    ) -> u32 {
        let task = self.get(task);
        let id = task.tree.len() as u32;
        task.tree.push(Node {
            id,
            parent,
            kind,
            proc: proc.to_owned(),
            place: Some(place(at)),
            since: START,
            ..Node::default()
        });
        id
    }

    /// The task of this name.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn get(&mut self, name: &str) -> &mut Task {
        let task = self
            .situation
            .tasks
            .iter_mut()
            .find(|task| task.name == name);
        task.unwrap_or_else(|| panic!("no task {name}"))
    }

    /// Id of the task of this name.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn id(&self, name: &str) -> u64 {
        let task = self.situation.tasks.iter().find(|task| task.name == name);
        task.unwrap_or_else(|| panic!("no task {name}")).id
    }

    /// Adds a resource.
    pub fn resource(&mut self, kind: Kind, name: &str, capacity: Option<u64>) -> &mut Resource {
        let id = 1 + self.situation.resources.len() as u64;
        self.situation.resources.push(Resource {
            id,
            kind,
            name: format!("{} {name}", kind.word()),
            made: Some(spot("main.rs:10")),
            capacity,
            ..Resource::default()
        });
        self.situation.resources.last_mut().expect("a resource")
    }

    /// Adds a mutex.
    pub fn mutex(&mut self, name: &str) -> &mut Resource {
        self.resource(Kind::Mutex, name, Some(1))
    }

    /// The resource of this name, without its kind.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn on(&mut self, name: &str) -> &mut Resource {
        let mut all = self.situation.resources.iter_mut();
        let found = all.find(|resource| resource.name.split(' ').next_back() == Some(name));
        found.unwrap_or_else(|| panic!("no resource {name}"))
    }

    /// A task, or `?` for one that is not known, holds a resource.
    pub fn holds(
        &mut self,
        task: &str,
        role: Role,
        amount: u64,
        resource: &str,
    ) -> &mut HoldingTask {
        let (id, proc) = self.who(task);
        let resource = self.on(resource);
        resource.held += amount;
        resource.holders.push(HoldingTask {
            task: id,
            future: FutureRef::Unknown,
            role,
            amount,
            since: START - SECOND,
            spot: Some(spot("held.rs:1")),
            proc,
        });
        resource.holders.last_mut().expect("a holder")
    }

    /// A task, or `?`, holds a lock.
    pub fn locks(&mut self, task: &str, resource: &str) -> &mut HoldingTask {
        self.holds(task, Role::Lock, 1, resource)
    }

    /// The root of a task, or `?`, waits for a resource.
    pub fn waits(&mut self, task: &str, role: Role, resource: &str) -> &mut WaitingTask {
        self.waits_in(task, 0, role, 1, resource)
    }

    /// A node of a task, or `?`, waits for a resource.
    pub fn waits_in(
        &mut self,
        task: &str,
        node: u32,
        role: Role,
        amount: u64,
        resource: &str,
    ) -> &mut WaitingTask {
        let (id, proc) = self.who(task);
        let place = id.and_then(|_| self.get(task).tree[node as usize].place.clone());
        let resource = self.on(resource);
        resource.waiting += 1;
        resource.waiters.push(WaitingTask {
            task: id,
            future: if id.is_some() {
                FutureRef::Node(node)
            } else {
                FutureRef::Unknown
            },
            role,
            amount,
            since: START,
            proc,
            place,
            woken: None,
            woken_poll: None,
        });
        resource.waiters.last_mut().expect("a waiter")
    }

    /// A task, or `?`, used an end of a channel last.
    pub fn uses(&mut self, task: &str, role: Role, resource: &str) {
        let (user, _) = self.who(task);
        let ends = &mut self.on(resource).ends;
        let number = Some(ends.len() as u64);
        ends.push(End { role, user, number });
    }

    /// The source of a task's call says that it means to use a resource: the end that it used last,
    /// if it used one.
    pub fn means_to(
        &mut self,
        task: &str,
        strength: Strength,
        role: Role,
        resource: &str,
    ) -> &mut IntendingTask {
        let task = self.id(task);
        let resource = self.on(resource);
        let of_task = |end: &&End| end.role == role && end.user == Some(task);
        let end = resource
            .ends
            .iter()
            .find(of_task)
            .and_then(|end| end.number);
        resource.intending += 1;
        resource.intents.push(IntendingTask {
            task,
            role,
            strength,
            proven: true,
            end,
        });
        resource.intents.last_mut().expect("an intent")
    }

    /// A task, or `?` for one that the situation leaves out, was made at `made`, maybe by `of`.
    pub fn candidate(&mut self, of: &str, task: &str, made: u64) {
        let candidate = HandoffCandidate {
            of: self.id(of),
            task: self.who(task).0.unwrap_or(9_999),
            name: task.to_owned(),
            made,
        };
        self.situation.candidates.push(candidate);
    }

    fn who(&self, task: &str) -> (Option<u64>, Option<String>) {
        let found = self.situation.tasks.iter().find(|row| row.name == task);
        assert!(found.is_some() || task == "?", "no task {task}");
        (found.map(|row| row.id), found.map(|row| row.root.clone()))
    }
}
