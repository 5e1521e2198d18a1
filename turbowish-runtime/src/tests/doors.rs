//! What a program does passes the doors of `hot/events.rs`, in order.

use std::sync::Arc;

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, EventKind, ResourceEvent, TaskEvent, UserEvent};

use super::stage::alone;
use crate::hot::events::watched;
use crate::hot::switch;
use crate::sync::Mutex;

#[turbowish::instrument]
async fn store(cell: Arc<Mutex<u32>>) {
    crate::counter!("stores");
    *cell.lock().await += 1;
}

#[turbowish::instrument]
async fn serve(cell: Arc<Mutex<u32>>) {
    store(cell.clone()).await;
    tokio::task::yield_now().await;
    store(cell).await;
}

/// A word for each event, without ids.
fn word(event: &EventKind) -> Option<&'static str> {
    Some(match event {
        EventKind::Call { kind, .. } => match kind {
            CallEvent::Create { .. } => "create",
            CallEvent::PollStart { .. } => "start",
            CallEvent::PollEnd(PollEnd::Pending) => "pending",
            CallEvent::PollEnd(_) => "end",
            CallEvent::Drop => "drop",
            CallEvent::Wake => "wake call",
            CallEvent::Await { .. } => "await",
            CallEvent::Unaccounted => "unaccounted",
        },
        EventKind::Task { kind, .. } => match kind {
            TaskEvent::Begin { .. } => "begin",
            TaskEvent::Woken => "woken",
            TaskEvent::End => "over",
            // How often an executor clones is its own affair.
            TaskEvent::Cloned | TaskEvent::Dropped => return None,
        },
        EventKind::Resource { kind, .. } => match kind {
            ResourceEvent::Made { .. } => "made",
            ResourceEvent::Wait(_) => "wait",
            ResourceEvent::Taken(_) => "taken",
            ResourceEvent::Left { .. } => "left",
            ResourceEvent::Released { .. } => "released",
            ResourceEvent::Put { .. } => "put",
            ResourceEvent::Took { .. } => "took",
            ResourceEvent::Closed => "closed",
            ResourceEvent::Dropped => "gone",
        },
        EventKind::Intent { .. } => return None,
        EventKind::User { kind, .. } => match kind {
            UserEvent::Count { .. } => "count",
            UserEvent::Gauge { .. } => "set",
            UserEvent::Attribute { .. } => "attribute",
        },
        EventKind::Console { .. } => "console",
    })
}

fn words(f: impl FnOnce()) -> Vec<&'static str> {
    watched::during(f).iter().filter_map(word).collect()
}

#[test]
fn a_task_passes_each_door_in_order() {
    let _alone = alone();
    switch::arm().expect("accounting was off");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let cell = Arc::new(Mutex::new(0));
    let seen = words(|| {
        runtime.block_on(async {
            tokio::spawn(serve(cell)).await.expect("it ends");
        });
    });
    assert_eq!(
        seen,
        [
            "create", "start", "begin", "create", "start", "count", "made", "taken", "released",
            "end", "pending", "woken", "start", "create", "start", "count", "taken", "released",
            "gone", "end", "end", "over",
        ]
    );
}
