//! The list of tables, and what follows from it.

use super::json::Record;
use super::{Page, Snapshot};

/// Lists the tables of a snapshot, in the order in which they are offered: for each one the
/// field of [`Snapshot`](crate::snapshot::Snapshot) and [`Query`](crate::query::Query), the variant
/// of [`Table`](crate::snapshot::Table), its row, and the messages of the protocol.
///
/// `tables!(each)` expands to `each! { procs: Procs, ProcRow, ProcPage; … }`. A new table is a
/// line here.
#[macro_export]
macro_rules! tables {
    ($each:ident) => {
        $each! {
            /// Instrumented async functions: where the time of the window went.
            procs: Procs, $crate::snapshot::ProcRow, ProcPage;
            /// Live tasks: the state of each one, since when, and at which await point.
            tasks: Tasks, $crate::snapshot::TaskRow, TaskPage;
            /// Locks, channels and the like: who holds each one, and who waits for it.
            resources: Resources, $crate::snapshot::ResourceRow, ResourcePage;
            /// Await points: where calls wait, and for how long.
            awaits: Awaits, $crate::snapshot::AwaitRow, AwaitPage;
            /// Active alerts, worst first; then those that ended in the last ten minutes.
            alerts: Alerts, $crate::snapshot::alert::Alert, AlertPage;
            /// Counters and gauges of the program.
            counters: Counters, $crate::snapshot::CounterRow, CounterPage;
            /// Delays: what ran on the workers while tasks were ready.
            delays: Delays, $crate::snapshot::DelayRow, DelayPage;
            /// The slowest calls of each function, 1 % or some more: where their time went.
            slowest: Slowest, $crate::snapshot::SlowestRow, SlowestPage;
        }
    };
}

macro_rules! table {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {
        /// A table of a snapshot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Table {
            $($(#[doc = $about])+ $table,)+
        }

        impl Table {
            /// All tables.
            pub const ALL: &'static [Self] = &[$(Self::$table),+];

            /// The name in queries, limits and documents: `procs`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$table => stringify!($field),)+
                }
            }

            /// Calls the visitor with the type of the table's rows.
            pub fn visit<V: TableVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$table => visitor.visit::<$row>(),)+
                }
            }
        }

        $(impl InTable for $row {
            const IN: Table = Table::$table;

            fn page(snapshot: &Snapshot) -> &Page<Self> {
                &snapshot.$field
            }

            fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self> {
                &mut snapshot.$field
            }
        })+
    };
}

crate::tables!(table);

impl Table {
    /// The names of all tables.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|table| table.name())
    }

    /// The table with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|table| table.name() == name)
    }
}

/// Rows of one of the tables.
pub trait InTable: Sized + 'static {
    /// Which one.
    const IN: Table;

    /// The table's name: `procs`.
    const TABLE: &'static str = Self::IN.name();

    /// Returns the rows of this kind in a snapshot.
    fn page(snapshot: &Snapshot) -> &Page<Self>;

    /// Returns the rows of this kind in a snapshot, mutably.
    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self>;
}

/// Code that does the same for each table.
pub trait TableVisitor {
    /// Its result.
    type Output;

    /// Called with the type of a table's rows.
    fn visit<R: Record>(self) -> Self::Output;
}
