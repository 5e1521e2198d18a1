//! Property tests of picked tasks: the result equals that of building, filtering, sorting and
//! cutting all rows, for any rows and any query.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use proptest::{collection, option};

use super::TaskSource;
use crate::account::resource::Role;
use crate::query::{Budget, Overrun, Query, QueryError, Rows, Selection, TASK_GROUPINGS};
use crate::snapshot::alert::{Alert, Party, PartyKind, Severity};
use crate::snapshot::column::Row as _;
use crate::snapshot::{
    Aim, Claim, Page, PauseRow, Place, PollRow, Snapshot, Spot, StackRow, TaskParts, TaskRow,
    TaskState, WakerRow,
};

/// A source whose rows contain only the requested parts.
struct Shy {
    rows: Vec<TaskRow>,
    /// Number of rows requested whole, by name alone, and in another way.
    whole: Cell<usize>,
    named: Cell<usize>,
    looked: Cell<usize>,
    /// Number of tasks that are kept, and the largest it was.
    kept: Rc<Cell<[usize; 2]>>,
}

/// A task by its place among the rows.
struct Kept {
    at: usize,
    all: Rc<Cell<[usize; 2]>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        let [kept, most] = self.all.get();
        self.all.set([kept - 1, most]);
    }
}

impl Shy {
    fn new(rows: Vec<TaskRow>) -> Self {
        Self {
            rows,
            whole: Cell::new(0),
            named: Cell::new(0),
            looked: Cell::new(0),
            kept: Rc::default(),
        }
    }
}

impl TaskSource for Shy {
    type Task = Kept;

    fn count(&self) -> usize {
        self.rows.len()
    }

    fn each(&self, see: &mut dyn FnMut(Kept) -> Result<(), QueryError>) -> Result<(), QueryError> {
        (0..self.rows.len()).try_for_each(|at| {
            let [kept, most] = self.kept.get();
            self.kept.set([kept + 1, most.max(kept + 1)]);
            let all = self.kept.clone();
            see(Kept { at, all })
        })
    }

    fn row(&self, task: &Kept, parts: TaskParts) -> Option<TaskRow> {
        let name = TaskParts {
            name: true,
            ..TaskParts::NONE
        };
        let count = match parts {
            TaskParts::ALL => &self.whole,
            parts if parts == name => &self.named,
            _ => &self.looked,
        };
        count.set(count.get() + 1);
        self.rows
            .get(task.at)
            .map(|row| stripped(row.clone(), parts))
    }
}

fn stripped(mut row: TaskRow, parts: TaskParts) -> TaskRow {
    if !parts.name {
        row.name.clear();
    }
    if !parts.root {
        row.root.clear();
    }
    if !parts.stack {
        row.stack.clear();
    }
    if let Some(waker) = row.waker.as_mut().filter(|_| !parts.waker) {
        (waker.woken_by, waker.woken_in) = (None, None);
    }
    if let Some(poll) = row.last_poll.as_mut().filter(|_| !parts.last_poll) {
        (poll.thread, poll.worker) = (None, None);
        (poll.ready_by, poll.ready_in) = (None, None);
    }
    if !parts.claims {
        row.waits_on.clear();
        row.holds.clear();
        row.will.clear();
        row.may.clear();
    }
    if !parts.origin {
        (row.parent, row.spawned_in, row.spawned_at) = (None, None, None);
    }
    if !parts.attributes {
        row.attributes.clear();
    }
    row
}

/// One of a few words, so that rows share values.
fn word() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "a::b", "c"]).prop_map(str::to_string)
}

/// One of a few numbers.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..4, 1_000_000_000_u64..1_000_000_003]
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let role = select(vec![Role::Lock, Role::Wait, Role::Receive]);
    let claim = (word(), role).prop_map(|(resource, role)| Claim {
        resource,
        role,
        ..Claim::default()
    });
    collection::vec(claim, 0..3)
}

fn stack() -> impl Strategy<Value = Vec<StackRow>> {
    let place = (word(), 1_u32..3, word()).prop_map(|(file, line, expr)| Place {
        file,
        line,
        expr,
        ..Place::default()
    });
    let call = (word(), 0_u32..3, option::of(place), any::<bool>());
    let call = call.prop_map(|(proc, depth, place, aside)| StackRow {
        proc,
        depth,
        place,
        aside,
        ..StackRow::default()
    });
    collection::vec(call, 0..3)
}

fn state() -> impl Strategy<Value = TaskState> {
    use TaskState::{Paused, Polling, Ready, Waiting};
    select(vec![Polling, Ready, Waiting, Paused])
}

fn row() -> impl Strategy<Value = TaskRow> {
    let numbers = (number(), number(), number(), number(), state());
    let words = (word(), word(), option::of(word()), option::of(word()));
    let lists = (stack(), claims(), claims(), option::of(word()));
    let waker = option::of((option::of(word()), number()));
    (numbers, words, lists, waker, any::<bool>()).prop_map(
        |(
            (since, polls, longest, bytes, state),
            (name, root, parent, site),
            lists,
            waker,
            paused,
        )| {
            let (stack, waits_on, holds, user) = lists;
            TaskRow {
                name,
                root,
                state,
                since_ns: since,
                age_ns: since + polls,
                polls,
                running_ns: longest * 2,
                max_poll_ns: longest,
                future_bytes: bytes,
                stack,
                will: waits_on.iter().map(|_| Aim::default()).collect(),
                waits_on,
                holds,
                waker: waker.map(|(woken_by, wakes)| WakerRow {
                    woken_by,
                    wakes,
                    ..WakerRow::default()
                }),
                last_poll: Some(PollRow {
                    ago_ns: since,
                    thread: parent.clone(),
                    ..PollRow::default()
                }),
                pause: paused.then(|| PauseRow {
                    by: format!("console {since}"),
                    ..PauseRow::default()
                }),
                parent,
                spawned_at: site.map(|file| Spot {
                    file,
                    line: 7,
                    column: 1,
                }),
                attributes: user
                    .map(|user| ("user".to_string(), user))
                    .into_iter()
                    .collect(),
                ..TaskRow::default()
            }
        },
    )
}

/// Rows of different tasks, of which many are alike: more than a selection keeps at once.
fn tasks() -> impl Strategy<Value = Vec<TaskRow>> {
    let rows = collection::vec(row(), 0..40);
    (rows, 1_usize..20).prop_map(|(rows, times)| {
        let all = rows.len() * times;
        let mut rows: Vec<TaskRow> = rows.into_iter().cycle().take(all).collect();
        for (id, row) in (1..).zip(&mut rows) {
            // In no order.
            row.id = id * 7 % 809;
        }
        rows
    })
}

fn query() -> impl Strategy<Value = Rows> {
    let columns = TaskRow::columns()
        .iter()
        .map(|column| column.key.to_string());
    let mut keys: Vec<String> = columns.collect();
    keys.push("attr.user".to_string());
    let unknown = select(keys.clone()).prop_map(|key| format!("{key}:?"));
    let found = (select(keys.clone()), word()).prop_map(|(key, word)| format!("-{key}:{word}"));
    let compared = select(vec![
        "polls>2",
        "since<1s",
        "wakes>1 | size:?",
        "state:waiting a",
    ]);
    let filter = prop_oneof![
        4 => Just(String::new()),
        1 => word(),
        1 => unknown,
        1 => found,
        1 => compared.prop_map(str::to_string),
    ];
    keys.push(String::new());
    let groups = TASK_GROUPINGS.each_ref().map(|known| known.name);
    let group = select(groups.into_iter().chain([""]).collect::<Vec<_>>());
    (filter, select(keys), any::<bool>(), 0_u32..45, group).prop_map(
        |(filter, sort, invert, limit, group)| Rows {
            filter,
            sort,
            invert,
            limit,
            group: group.to_string(),
        },
    )
}

/// A snapshot without tasks, with alerts about some of them.
fn bare(total: usize, involved: &[u64]) -> Snapshot {
    let mut snapshot = Snapshot {
        window_ns: 10_000_000_000,
        ..Snapshot::default()
    };
    let severities = [Severity::Alert, Severity::Warning, Severity::Note];
    let alerts = involved.iter().zip(severities.into_iter().cycle());
    let alerts = alerts.map(|(&id, severity)| Alert {
        severity,
        parties: vec![Party {
            kind: PartyKind::Task,
            id,
            name: String::new(),
        }],
        ..Alert::default()
    });
    snapshot.alerts.rows = alerts.collect();
    snapshot.tasks.total = total as u64;
    snapshot.tasks.matched = total as u64;
    snapshot
}

fn selection(rows: &Rows) -> Selection {
    let query = Query {
        tasks: Some(rows.clone()),
        ..Query::default()
    };
    Selection::parse(&query).expect("a query")
}

fn pick(
    asked: &Rows,
    snapshot: &mut Snapshot,
    tasks: &Shy,
    budget: &Budget<'_>,
) -> Result<(), QueryError> {
    selection(asked).pick_tasks(snapshot, tasks, budget)
}

proptest! {
    #[test]
    fn picking_is_sorting_all(rows in tasks(), asked in query(), involved in collection::vec(0_u64..41, 0..4)) {
        let selection = selection(&asked);
        let mut expected = bare(rows.len(), &involved);
        expected.tasks.rows.clone_from(&rows);
        let budget = Budget::unlimited();
        prop_assert_eq!(selection.apply(&mut expected, &budget), Ok(()));
        let mut picked = bare(rows.len(), &involved);
        prop_assert_eq!(selection.pick_tasks(&mut picked, &Shy::new(rows), &budget), Ok(()));
        prop_assert_eq!(selection.apply_others(&mut picked, &budget), Ok(()));
        prop_assert_eq!(picked, expected);
    }
}

/// A task in its first poll counts in `total` and has no row: it is not one that was left out.
#[test]
fn what_has_no_row_does_not_match() {
    let row = |id| TaskRow {
        id,
        ..TaskRow::default()
    };
    for (limit, sent) in [(0, 3), (2, 2)] {
        let mut snapshot = bare(5, &[]);
        let asked = Rows {
            limit,
            ..Rows::default()
        };
        let shy = Shy::new((1..=3).map(row).collect());
        pick(&asked, &mut snapshot, &shy, &Budget::unlimited()).expect("a small query");
        let Page {
            rows,
            total,
            matched,
        } = snapshot.tasks;
        assert_eq!((rows.len(), total, matched), (sent, 5, 3));
    }
}

/// Rows that are requested whole, by name, and otherwise, of a thousand tasks with different times
/// in their state and equal numbers of polls.
#[test]
fn few_rows_are_made_whole() {
    let check = |filter: &str, sort: &str, group: &str, expected: [usize; 3]| {
        let rows = (1..=1_000).map(|id| TaskRow {
            id,
            name: format!("serve-{id}"),
            root: format!("kv::{}", id % 4),
            since_ns: id * 10,
            ..TaskRow::default()
        });
        let shy = Shy::new(rows.collect());
        let asked = Rows {
            filter: filter.to_string(),
            sort: sort.to_string(),
            limit: 10,
            group: group.to_string(),
            ..Rows::default()
        };
        let mut snapshot = bare(1_000, &[]);
        pick(&asked, &mut snapshot, &shy, &Budget::unlimited()).expect("a small query");
        let Shy {
            whole,
            named,
            looked,
            ..
        } = shy;
        let counts = [whole, named, looked].map(Cell::into_inner);
        assert_eq!(counts, expected, "{filter:?} {sort:?} {group:?}");
        assert_eq!(
            snapshot.tasks.rows.len(),
            10.min(snapshot.tasks.matched as usize)
        );
    };
    check("", "", "", [10, 0, 1_000]);
    check("state:waiting", "", "", [10, 0, 1_000]);
    check("root:2", "since", "", [10, 0, 1_000]);
    check("since>9990ns", "", "", [1, 0, 1_000]);
    // All have the same rank: their names decide.
    check("", "polls", "", [10, 1_000, 1_000]);
    // Each group shows its first task.
    check("", "", "root", [14, 0, 2_000]);
}

/// However many tasks there are, few of them are kept at a time.
#[test]
fn few_tasks_are_kept() {
    let most = |rows: usize, order: fn(u64) -> u64, sort: &str, group: &str| {
        let rows = (1..=rows as u64).map(|id| TaskRow {
            id,
            root: format!("kv::{}", id % 4),
            since_ns: order(id),
            ..TaskRow::default()
        });
        let shy = Shy::new(rows.collect());
        let asked = Rows {
            sort: sort.to_string(),
            limit: 10,
            group: group.to_string(),
            ..Rows::default()
        };
        let mut snapshot = bare(0, &[]);
        pick(&asked, &mut snapshot, &shy, &Budget::unlimited()).expect("a small query");
        let [kept, most] = shy.kept.get();
        assert_eq!(kept, 0);
        most
    };
    for group in ["", "root"] {
        for (order, sort) in [
            (core::convert::identity as fn(u64) -> u64, "since"),
            (|id| u64::MAX - id, "since"),
            (|_| 7, "polls"),
        ] {
            let few = most(1_000, order, sort, group);
            assert!((10..300).contains(&few), "{few}");
            assert_eq!(most(10_000, order, sort, group), few, "{sort} {group}");
        }
    }
}

/// With very many tasks hardly any is read once the steps are used up, or the client has gone.
#[test]
fn a_query_stops_where_its_budget_ends() {
    let stops_at = |filter: &str, steps: u64, gone_at: usize| {
        let row = |id| TaskRow {
            id,
            name: format!("serve-{id}"),
            ..TaskRow::default()
        };
        let shy = Shy::new((1..=100_000).map(row).collect());
        let asked = Rows {
            filter: filter.to_string(),
            ..Rows::default()
        };
        let look = || (shy.looked.get() >= gone_at).then_some(Overrun::Abandoned);
        let budget = Budget::new(steps, &look);
        let stopped = pick(&asked, &mut bare(100_000, &[]), &shy, &budget);
        let Err(QueryError::TooMuch {
            looked,
            rows: 100_000,
            overrun,
            ..
        }) = stopped
        else {
            panic!("{filter}: {stopped:?}");
        };
        // No row is built afterwards.
        assert_eq!(shy.looked.get() as u64, looked, "{filter}");
        (overrun, looked)
    };
    let words = "word | ".repeat(99) + "word";
    let (steps, never) = (1_000_000, usize::MAX);
    let (overrun, looked) = stops_at(&words, steps, never);
    assert_eq!((overrun, looked), (Overrun::Steps(steps), 10_001));
    let (overrun, looked) = stops_at(&words, u64::MAX, 0);
    assert_eq!((overrun, looked), (Overrun::Abandoned, 328));
    // Without a filter only rows are counted.
    let (overrun, looked) = stops_at("", 0, 30_000);
    assert_eq!((overrun, looked), (Overrun::Abandoned, 32_767));
}
