//! A small recording with all that a history has.

use turbowish_model::account::resource::Role;
use turbowish_model::snapshot::{Page, ResourceRow, Snapshot};
use turbowish_recording::{
    ChunkKind, Compression, EventEncoder, NameEncoder, ResourceSpan, ThreadEvent, ThreadEventKind,
    Writer,
};

use crate::export::tests::{AT, CONN, bytes};

/// The resource of the events.
pub(crate) const POOL: u64 = 3;

/// The recording of the exports, and events of its second thread.
pub(crate) fn recording() -> Vec<u8> {
    let mut writer = Writer::begin(bytes(), Compression::Deflate).expect("room");
    let mut names = NameEncoder::default();
    names.event(7, ("cache.miss", "src/cache.rs", 9), &["key", "bytes"]);
    writer
        .body(ChunkKind::Names, AT, &names.end())
        .expect("room");
    let mut events = EventEncoder::begin(AT, 1, 0);
    let span = |duration_ns, role, amount| ResourceSpan {
        resource: POOL,
        duration_ns,
        role,
        amount,
    };
    let mut push = |after: u64, task, kind| {
        events.push(&ThreadEvent {
            at_unix_ns: AT + after,
            task,
            kind,
        });
    };
    let values = [5, -60, 0, 0];
    push(2_000, CONN, ThreadEventKind::User { site: 7, values });
    let waited = ThreadEventKind::Waited(span(7_000, Role::Acquire, 2));
    push(9_000, CONN, waited);
    push(
        9_500,
        0,
        ThreadEventKind::GaveUp(span(500, Role::Acquire, 1)),
    );
    push(
        49_000,
        CONN,
        ThreadEventKind::Held(span(40_000, Role::Acquire, 2)),
    );
    writer
        .body(ChunkKind::Events, AT, &events.end())
        .expect("room");
    let row = ResourceRow {
        id: POOL,
        name: "semaphore pool".to_owned(),
        ..ResourceRow::default()
    };
    let state = Snapshot {
        at_unix_ns: AT + 40_000,
        resources: Page {
            rows: vec![row],
            total: 1,
            matched: 1,
        },
        ..Snapshot::default()
    };
    writer.state(&state, 0).expect("room");
    writer.end().expect("room")
}
