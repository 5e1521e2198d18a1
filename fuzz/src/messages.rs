//! Messages of the protocol: any bytes are refused or become rows, and rows survive the way back.

use prost::Message as _;
use turbowish_model::query::Query;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::report;
use turbowish_wire::weight::{Weighed, weigh};
use turbowish_wire::{Action, DECODED_LIMIT, framing, proto};

/// Decodes the input as each message that a peer can send; its first byte chooses.
pub fn messages(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    match choice % 3 {
        0 => snapshot(bytes),
        1 => {
            let _ = proto::Query::decode(bytes).map(Query::try_from);
        }
        _ => {
            let _ = proto::ControlRequest::decode(bytes).map(Action::try_from);
        }
    }
}

fn snapshot(bytes: &[u8]) {
    if weigh(bytes, proto::Snapshot::shape(), DECODED_LIMIT).is_err() {
        return;
    }
    let Ok(message) = proto::Snapshot::decode(bytes) else {
        return;
    };
    let Ok(snapshot) = Snapshot::try_from(message) else {
        return;
    };
    // What the console does with it.
    let _ = report::json(&snapshot);
    let _ = report::text(&snapshot, None);
    // As the process sends it.
    let Some(frame) = framing::frame(&snapshot) else {
        return;
    };
    let sent: proto::Snapshot = framing::message(&frame).expect("a frame of ours is a message");
    assert_eq!(sent, proto::Snapshot::from(snapshot.clone()));
    let back = Snapshot::try_from(sent).expect("rows of ours are good messages");
    assert_eq!(back, snapshot);
}
