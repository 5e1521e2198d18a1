//! Polls in which a task uses up tokio's budget: each counts once, where it happens.

use std::pin::pin;

use tokio::runtime::{Builder, Runtime};

use super::stage::{advance, alone};
use crate::hot::{forced_yield, proc, switch};
use crate::sync::Semaphore;

/// Units of tokio's budget.
const BUDGET: u32 = 128;

/// `drains in takes: 7`, for the tasks whose root has this name.
fn check(
    root: &str,
    runtime: &Runtime,
    task: impl Future<Output = ()> + Send + 'static,
    expected: &[&str],
) {
    let _alone = alone();
    advance(1);
    let name = |id: u32| {
        let path = proc::all()[id as usize].path.to_string();
        path.rsplit("::").next().unwrap_or_default().to_owned()
    };
    switch::arm().expect("accounting was off");
    let task = runtime.spawn(async move {
        advance(1);
        task.await;
    });
    runtime.block_on(task).expect("no panic");
    switch::disarm();
    let all = forced_yield::all().into_iter();
    let all = all.map(|(at, times)| (name(at.root), name(at.proc), times));
    let mut lines: Vec<String> = all
        .filter(|(of, ..)| of == root)
        .map(|(root, proc, times)| format!("{root} in {proc}: {times}"))
        .collect();
    lines.sort();
    assert_eq!(lines, expected);
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

#[turbowish::instrument]
async fn uses_tokio(times: u32) {
    let permits = tokio::sync::Semaphore::new(1);
    for _ in 0..times {
        advance(1);
        drop(permits.acquire().await);
    }
}

#[turbowish::instrument]
async fn uses_ours(times: u32) {
    let permits = Semaphore::new(1);
    for _ in 0..times {
        advance(1);
        drop(permits.acquire().await);
    }
}

#[turbowish::instrument]
async fn takes(permits: &Semaphore, times: u32) {
    for _ in 0..times {
        advance(1);
        drop(permits.acquire().await);
    }
}

#[turbowish::instrument]
async fn drains() {
    let permits = Semaphore::new(1);
    for _ in 0..3 {
        takes(&permits, BUDGET).await;
    }
}

#[turbowish::instrument]
async fn joins() {
    let permits = Semaphore::new(2);
    let (mut one, mut other) = (pin!(takes(&permits, 200)), pin!(takes(&permits, 200)));
    tokio::join!(one.as_mut(), other.as_mut());
}

#[turbowish::instrument]
async fn gives_way() {
    for _ in 0..1_000 {
        advance(1);
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_poll_that_uses_up_its_budget() {
    let runtime = runtime();
    check(
        "uses_tokio",
        &runtime,
        uses_tokio(1_000),
        &["uses_tokio in uses_tokio: 7"],
    );
    check(
        "uses_ours",
        &runtime,
        uses_ours(1_000),
        &["uses_ours in uses_ours: 7"],
    );
    // It is the last unit that is used up, and the next use that finds out.
    check("drains", &runtime, drains(), &["drains in takes: 2"]);
}

/// All branches that find the budget used up are one poll of the task.
#[test]
fn a_poll_counts_once() {
    check("joins", &runtime(), joins(), &["joins in takes: 3"]);
}

#[test]
fn a_task_that_yields_on_its_own() {
    check("gives_way", &runtime(), gives_way(), &[]);
}
