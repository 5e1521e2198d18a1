//! Every public method of `sync::Barrier`, by its signature.
#![allow(dead_code, reason = "that it compiles is the test")]

use std::fmt::Debug;

use super::sync::{Barrier, BarrierWaitResult};

fn barrier() {
    let _: fn(usize) -> Barrier = Barrier::new;
    let _ = <Barrier as Debug>::fmt;
}

async fn waits(barrier: &Barrier) -> BarrierWaitResult {
    Barrier::wait(barrier).await
}

fn result() {
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    let _ = <BarrierWaitResult as Debug>::fmt;
    let _ = <BarrierWaitResult as Clone>::clone;
}

pub(crate) fn auto_traits() -> Vec<crate::traits::Answer> {
    let barrier = Barrier::new(1);
    answers!(
        "all";
        type Barrier,
        type BarrierWaitResult,
        value wait = barrier.wait(),
    )
}
