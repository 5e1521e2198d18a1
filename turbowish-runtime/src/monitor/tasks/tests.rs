//! Tests of rows of tasks that continue to run while they are read.

use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use turbowish_model::collect::assemble::Assembly;
use turbowish_model::collect::history::{Trend, Window};
use turbowish_model::ordered::Map;
use turbowish_model::query::TaskSource;
use turbowish_model::snapshot::{TaskParts, TaskRow};

use super::super::claims::Claims;
use super::super::registry::Registry;
use super::{LiveTasks, NameTable, Rows};
use crate::hot::{clock, proc};
use crate::monitor::Monitor;
use crate::tests::stage::{advance, alone};

#[turbowish::instrument]
async fn busy_task() {
    std::future::pending::<()>().await;
}

fn poll(task: &mut Pin<&mut impl Future>) {
    advance(3);
    let mut context = Context::from_waker(Waker::noop());
    assert!(task.as_mut().poll(&mut context).is_pending());
}

#[test]
fn ages_of_what_is_newer_than_the_totals_end_when_the_row_is_read() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    // Time zero stands for no time.
    advance(1);
    let mut task = pin!(busy_task());
    poll(&mut task);
    advance(50);
    let (totals, threads) = monitor.totals();
    // It is polled after the totals were taken, and before its row is read.
    advance(100);
    poll(&mut task);
    advance(7);
    let epoch = monitor.state().switched.epoch;
    let instant = |newest| match newest > totals.at {
        true => clock::ticks(),
        false => 0,
    };
    let live = LiveTasks::new(&threads, epoch, Map::new(), &instant);
    let mut tasks = Vec::new();
    let read = live.each(&mut |task| {
        tasks.push(task);
        Ok(())
    });
    read.expect("no budget");
    // The rows are made even later.
    advance(1_000);
    let names = Registry(proc::all());
    let assembly = Assembly {
        window: &Window::default(),
        trend: &Trend::default(),
        now: &totals,
        names: &names,
        scale: clock::scale(),
    };
    let known = &NameTable::of(&assembly, &[], &threads, epoch);
    let claims = &Claims::of(&assembly, &[], &[], &[], totals.at);
    let rows = Rows {
        assembly: &assembly,
        live: &live,
        known,
        claims,
    };
    let mut all = tasks
        .iter()
        .filter_map(|task| rows.row(task, TaskParts::ALL));
    let is_it = |row: &TaskRow| row.root.ends_with("::busy_task");
    let row = all.find(is_it).expect("the task");
    assert_eq!((row.since_ns, row.age_ns), (7, 160));
    assert_eq!(row.last_poll.map(|last| last.ago_ns), Some(7));
    assert_eq!(row.stack[0].since_ns, 160);
}
