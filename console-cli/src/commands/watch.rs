//! `turbowish watch`: a line of JSON for each table and snapshot. Lines are always complete,
//! whatever ends the command.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use turbowish_model::query::{Query, Rows, Selection};
use turbowish_model::snapshot::json::{self, Options, Record};
use turbowish_model::snapshot::{Snapshot, Table, TableVisitor};
use turbowish_wire::client::{ClientError, Connection, Target};

use crate::args::{PastArgs, WatchArgs};
use crate::columns::choose;
use crate::failure::{Failure, note, print};
use crate::recording::Recording;
use crate::signals::Signals;
use crate::source::Origin;
use crate::{columns, source};

/// Interval between two attempts to find a process again.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// A mistake on the command line; a target that cannot be reached, or that ends before the
/// requested number of snapshots.
pub(crate) fn run(args: &WatchArgs, token: Option<&str>) -> Result<(), Failure> {
    let (target, tables) = words(args)?;
    let shape = shape(args, &tables)?;
    let query = query(args, &tables);
    Selection::parse(&query)?;
    if let Some(Origin::Recorded(file, _)) = source::origin(target, &PastArgs::default(), token)? {
        return states(&file, args.count, &query, |snapshot| {
            print_lines(snapshot, &tables, &shape)
        });
    }
    let target = source::target(target, token)?;
    let stream = Stream {
        args,
        target,
        query,
        tables,
        shape,
    };
    source::runtime()?.block_on(async {
        let mut signals = Signals::new().map_err(|cause| Failure::local("cannot start", &cause))?;
        tokio::select! {
            ended = stream.run() => ended,
            signal = signals.first() => Err(Failure::signal(signal)),
        }
    })
}

/// The target and the tables, in either order.
fn words(args: &WatchArgs) -> Result<(Option<&str>, Vec<Table>), Failure> {
    let mut target = None;
    let mut tables = Vec::new();
    for word in &args.words {
        match Table::from_name(word) {
            Some(table) if tables.contains(&table) => {}
            Some(table) => tables.push(table),
            None if target.is_none() => target = Some(word.as_str()),
            None => {
                return Err(Failure::usage(format!(
                    "no such table {word}; tables: {}",
                    Table::names().collect::<Vec<_>>().join(", ")
                )));
            }
        }
    }
    if tables.is_empty() {
        tables.push(Table::Procs);
    }
    Ok((target, tables))
}

fn query(args: &WatchArgs, tables: &[Table]) -> Query {
    let mut query = Query {
        window_ns: args.window.0,
        ..Query::default()
    };
    for table in tables {
        *query.rows_mut(*table) = Some(Rows {
            filter: args.rows.filter.clone(),
            sort: columns::key(*table, &args.rows.sort),
            invert: false,
            limit: args.limit,
            ..Rows::default()
        });
    }
    query
}

fn shape(args: &WatchArgs, tables: &[Table]) -> Result<Options, Failure> {
    // A line a second is read by programs that plot it, not compared.
    let mut shape = Options {
        buckets: false,
        ..Options::default()
    };
    if !args.percentiles.is_empty() {
        shape.percentiles.clone_from(&args.percentiles);
    }
    if args.columns.is_empty() {
        return Ok(shape);
    }
    let [table] = tables else {
        return Err(Failure::usage(
            "--columns applies to one table; leave it out, or watch each table separately",
        ));
    };
    shape.fields = Some(table.visit(Fields {
        args,
        shape: &shape,
    })?);
    Ok(shape)
}

/// The JSON fields of the requested columns.
struct Fields<'a> {
    args: &'a WatchArgs,
    shape: &'a Options,
}

impl TableVisitor for Fields<'_> {
    type Output = Result<Vec<&'static str>, Failure>;

    fn visit<R: Record>(self) -> Self::Output {
        let columns = choose::<R>(&self.args.columns, &self.shape.percentiles)?;
        let fields = columns.iter().flat_map(|column| column.fields);
        Ok(fields.copied().collect())
    }
}

/// A line for each table.
fn print_lines(snapshot: &Snapshot, tables: &[Table], shape: &Options) -> Result<(), Failure> {
    let tables = tables.iter().copied();
    let lines: String = tables
        .map(|table| json::document(snapshot, &[table], shape))
        .collect();
    print(&lines)
}

/// The states of a recording, the first ones if not all are requested.
fn states(
    file: &str,
    count: u64,
    query: &Query,
    print: impl Fn(&Snapshot) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut recording = Recording::open(file)?;
    let all = recording.times().len();
    let wanted = match usize::try_from(count) {
        Ok(0) | Err(_) => all,
        Ok(count) => count.min(all),
    };
    let mut told = BTreeSet::new();
    for nth in 0..wanted {
        let answer = recording.answer(nth, query)?;
        for remark in answer.remarks {
            if told.insert(remark.clone()) {
                note(&remark);
            }
        }
        print(&answer.snapshot)?;
    }
    Ok(())
}

struct Stream<'a> {
    args: &'a WatchArgs,
    target: Option<Target>,
    query: Query,
    tables: Vec<Table>,
    shape: Options,
}

impl Stream<'_> {
    /// Prints until the requested number of snapshots is reached, or the process has ended.
    async fn run(&self) -> Result<(), Failure> {
        let mut connection = source::connect(self.target.as_ref(), source::PATIENCE).await?;
        let mut ticks = interval(self.args.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut done = 0;
        let mut told = false;
        loop {
            ticks.tick().await;
            match connection.snapshot(&self.query).await {
                Ok(snapshot) => {
                    if let Some(warning) = source::disarmed(&snapshot).filter(|_| !told) {
                        note(&warning);
                        told = true;
                    }
                    print_lines(&snapshot, &self.tables, &self.shape)?;
                    done += 1;
                    if done == self.args.count {
                        return Ok(());
                    }
                }
                Err(error @ (ClientError::Gone { .. } | ClientError::Silent { .. }))
                    if self.args.reconnect =>
                {
                    note(&format!("{error}; waiting for it"));
                    connection = self.again(&connection).await;
                }
                // If the first request is not answered, it is not a process to watch.
                Err(ClientError::Gone { .. }) if done > 0 => return self.ended(done, &connection),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The end of a process is success, unless more snapshots were requested.
    fn ended(&self, done: u64, connection: &Connection) -> Result<(), Failure> {
        let process = connection.process();
        match self.args.count {
            0 => Ok(()),
            count => Err(Failure::Target(format!(
                "{} {} has ended after {done} of {count} snapshots",
                process.name, process.pid
            ))),
        }
    }

    /// The same target, or a process of the same name and command line.
    async fn again(&self, lost: &Connection) -> Connection {
        loop {
            let here = !matches!(self.target, Some(Target::Tcp { .. }));
            if let Some(target) = &self.target
                && let Ok(connection) = Connection::connect(target).await
            {
                return connection;
            }
            if here && let Some(connection) = source::successor(lost.process()).await {
                return connection;
            }
            sleep(PAUSE).await;
        }
    }
}
