//! `turbowish pause` and `turbowish resume`, and the lookup of a task by name.

use std::fmt::Display;

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::column::Row;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Snapshot, TaskRow, TaskState};
use turbowish_wire::client::{CONNECT_TIMEOUT, Connection, Target};
use turbowish_wire::{Action, PauseTask};

use crate::args::{PauseArgs, TaskArgs};
use crate::failure::{Failure, print_lines};
use crate::source;

/// Length of a pause lease: a task is resumed after this time unless its console renews the lease.
pub(crate) const LEASE_NS: u64 = 60 * units::SECOND;

/// A task found by name, and its process.
pub(crate) struct FoundTask {
    pub(crate) connection: Connection,
    pub(crate) row: TaskRow,
}

impl FoundTask {
    /// Finds the task that the arguments of a command name.
    ///
    /// # Errors
    /// The process cannot be reached; it has no such task, or several of that name.
    pub(crate) async fn find(target: Option<Target>, name: &str) -> Result<Self, Failure> {
        let connection = source::connect(target.as_ref(), CONNECT_TIMEOUT).await?;
        let snapshot = connection.snapshot(&query(name)).await?;
        let row = named(&snapshot, name)?.clone();
        Ok(Self { connection, row })
    }

    /// Pauses the task: it is not polled until it is resumed.
    ///
    /// # Errors
    /// The process does not allow it, or is gone.
    pub(crate) async fn pause(
        &self,
        by: &str,
        lease_ns: Option<u64>,
        renew: bool,
    ) -> Result<(), Failure> {
        let order = PauseTask {
            task: self.row.id,
            by: by.to_owned(),
            lease_ns,
            renew,
        };
        self.connection.control(Action::PauseTask(order)).await?;
        Ok(())
    }

    /// Resumes the task.
    ///
    /// # Errors
    /// The task is not paused; the process does not allow it, or is gone.
    pub(crate) async fn resume(&self) -> Result<(), Failure> {
        let action = Action::ResumeTask(self.row.id);
        self.connection.control(action).await?;
        Ok(())
    }

    /// Updates the row of the task.
    ///
    /// # Errors
    /// The task has ended, or the process is gone.
    pub(crate) async fn again(&mut self) -> Result<(), Failure> {
        let snapshot = self.connection.snapshot(&query(&self.row.name)).await?;
        let mut rows = snapshot.tasks.rows.into_iter();
        let row = rows.find(|row| row.id == self.row.id);
        self.row = row.ok_or_else(|| {
            Failure::Local(format!("task {} has ended in the meantime", self.row.name))
        })?;
        Ok(())
    }
}

/// Runs `pause`.
///
/// # Errors
/// As [`FoundTask::find`] and [`FoundTask::pause`].
pub(crate) fn pause(args: &PauseArgs, token: Option<&str>) -> Result<(), Failure> {
    let (word, name) = args.task.split();
    let target = source::target(word, token)?;
    let during = u64::try_from(args.during.as_nanos()).unwrap_or(u64::MAX);
    let lease_ns = (!args.keep).then_some(during);
    let told = source::runtime()?.block_on(async {
        let mut found = FoundTask::find(target, name).await?;
        found.pause("turbowish pause", lease_ns, false).await?;
        found.again().await?;
        Ok::<_, Failure>(paused(&found, word, lease_ns))
    })?;
    print_lines(&[told])
}

/// `serve-17 is paused for 60.0 s; it goes on before with: turbowish resume 4242 serve-17`
fn paused(found: &FoundTask, word: Option<&str>, lease_ns: Option<u64>) -> String {
    let name = &found.row.name;
    let during = lease_ns.map_or_else(String::new, |ns| format!(" for {}", time(ns)));
    let poll = match found.row.state {
        TaskState::Polling => " as soon as its poll ends",
        _ => "",
    };
    let resume = resume_words(word, found.connection.process().pid, found.row.id);
    format!("{name} is paused{during}{poll}; resume it with: {resume}")
}

/// The process as the user named it, if they did: on this host, its process ID may belong to
/// another process.
fn resume_words(word: Option<&str>, pid: u32, task: u64) -> String {
    let process = word.map_or_else(|| pid.to_string(), str::to_owned);
    format!("turbowish resume {process} {task}")
}

/// Runs `resume`.
///
/// # Errors
/// As [`FoundTask::find`] and [`FoundTask::resume`].
pub(crate) fn resume(args: &TaskArgs, token: Option<&str>) -> Result<(), Failure> {
    let (target, name) = args.split();
    let target = source::target(target, token)?;
    let told = source::runtime()?.block_on(async {
        let found = FoundTask::find(target, name).await?;
        found.resume().await?;
        let woken = found.row.pause.as_ref().is_some_and(|pause| pause.woken);
        let woken = if woken { "; it was woken" } else { "" };
        Ok::<_, Failure>(format!("{} resumed{woken}", found.row.name))
    })?;
    print_lines(&[told])
}

/// The query for the rows that contain a task of this name.
fn query(name: &str) -> Query {
    // The process searches for the text anywhere in a name; it cannot search by ID.
    let all = name.contains('"') || is_id(name);
    let filter = match all {
        true => String::new(),
        false => format!("task:\"{name}\""),
    };
    Query {
        tasks: Some(Rows {
            filter,
            ..Rows::default()
        }),
        ..Query::default()
    }
}

fn is_id(name: &str) -> bool {
    name.parse::<u64>().is_ok()
}

/// The only task with this name, or the one with this ID.
fn named<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a TaskRow, Failure> {
    let rows = &snapshot.tasks.rows;
    let process = &snapshot.process;
    let label = format!("{} {}", process.name, process.pid);
    let same: Vec<&TaskRow> = rows.iter().filter(|row| row.name == name).collect();
    match same[..] {
        [one] => Ok(one),
        [] => {
            let id = name.parse().ok();
            let of_id = rows.iter().find(|row| Some(row.id) == id);
            of_id.ok_or_else(|| unknown(rows, name, &label))
        }
        _ => Err(several(&same, name, &label)),
    }
}

/// `no task serve in kv 4242; did you mean serve-17?`
fn unknown(rows: &[TaskRow], name: &str, label: &dyn Display) -> Failure {
    let near = rows.iter().map(|row| row.name().0);
    let near = near.filter(|known| known.contains(name)).min();
    let hint = near.map_or_else(
        || "turbowish query tasks lists them".to_owned(),
        |near| format!("did you mean {near}?"),
    );
    Failure::Local(format!("no task {name} in {label}; {hint}"))
}

/// `2 tasks of kv 4242 are called conn; say which by its id: 33 (waiting 3.10 s), 49 (ready
/// 10.0µs)`
fn several(same: &[&TaskRow], name: &str, label: &dyn Display) -> Failure {
    const SHOWN: usize = 8;
    let each = same.iter().take(SHOWN);
    let mut each: Vec<String> = each
        .map(|row| format!("{} ({} {})", row.id, row.state.word(), time(row.since_ns)))
        .collect();
    if same.len() > SHOWN {
        each.push("..".to_owned());
    }
    Failure::usage(format!(
        "{} tasks of {label} have the name {name}; give the ID of one: {}",
        same.len(),
        each.join(", ")
    ))
}

fn time(ns: u64) -> String {
    units::duration(ns, Micro::Unicode)
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::{Process, Snapshot, TaskRow};

    use super::{named, query, resume_words};
    use crate::failure::Failure;

    fn snapshot() -> Snapshot {
        let task = |id, name: &str| TaskRow {
            id,
            name: name.to_owned(),
            since_ns: 3_100_000_000,
            ..TaskRow::default()
        };
        let mut snapshot = Snapshot {
            process: Process {
                name: "kv".to_owned(),
                pid: 4242,
                ..Process::default()
            },
            ..Snapshot::default()
        };
        snapshot.tasks.rows = vec![
            task(33, "conn"),
            task(49, "conn"),
            task(65, "serve-17"),
            task(81, "33"),
        ];
        snapshot
    }

    fn check(name: &str, expected: Result<u64, &str>) {
        let snapshot = snapshot();
        let found = named(&snapshot, name).map(|row| row.id);
        let found = found.map_err(|failure| match failure {
            Failure::Usage(text) | Failure::Local(text) => text,
            other => format!("{other:?}"),
        });
        assert_eq!(found, expected.map_err(str::to_owned), "{name}");
    }

    #[test]
    fn a_task_is_named_or_has_an_id() {
        check("serve-17", Ok(65));
        check("49", Ok(49));
        check("33", Ok(81));
        check(
            "serve",
            Err("no task serve in kv 4242; did you mean serve-17?"),
        );
        check(
            "50",
            Err("no task 50 in kv 4242; turbowish query tasks lists them"),
        );
        check(
            "conn",
            Err(
                "2 tasks of kv 4242 have the name conn; give the ID of one: 33 (waiting 3.10 s), 49 (waiting 3.10 s)",
            ),
        );
    }

    #[test]
    fn what_is_to_be_typed_names_the_same_process() {
        let check = |word, expected| assert_eq!(resume_words(word, 4242, 17), expected);
        check(None, "turbowish resume 4242 17");
        check(Some("4242"), "turbowish resume 4242 17");
        check(Some("box:6680"), "turbowish resume box:6680 17");
        check(Some("/run/kv.sock"), "turbowish resume /run/kv.sock 17");
    }

    #[test]
    fn an_id_is_looked_for_among_all() {
        let filter = |name| query(name).tasks.map(|rows| rows.filter);
        assert_eq!(filter("49").as_deref(), Some(""));
        assert_eq!(filter("a\"b").as_deref(), Some(""));
        assert_eq!(filter("conn:1").as_deref(), Some("task:\"conn:1\""));
    }
}
