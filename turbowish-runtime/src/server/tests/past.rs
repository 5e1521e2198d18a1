//! The recording over the socket: consoles ask for the past, in good order and in bad.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use turbowish_model::snapshot::Accounting;
use turbowish_recording::{ChunkHeader, ChunkKind, HEADER_BYTES};
use turbowish_wire::client::{ClientError, Connection, Target};
use turbowish_wire::framing;
use turbowish_wire::proto;

use super::super::{News, RecordConfig};
use super::{PATIENCE, Running, ask_and_stop, connect, procs};

/// A server that records from the start, and an address for it.
pub(super) async fn recording(budget: usize, change: impl FnOnce(&mut super::Config)) -> Running {
    let server = Running::start(|config| {
        config.record = Some(RecordConfig {
            // Half of it is for polls.
            budget: budget * 2,
            path: None,
            rings: None,
        });
        change(config);
    })
    .await;
    *server.source.accounting.lock().unwrap() = Accounting::Armed;
    server
}

/// The chunks of a range: headers and bodies.
async fn past(
    connection: &Connection,
    from: u64,
    to: u64,
) -> Result<Vec<(ChunkHeader, Vec<u8>)>, ClientError> {
    let mut chunks = Vec::new();
    let mut past = connection.past(from, to).await?;
    while let Some(bytes) = past.next().await {
        let bytes = bytes?;
        let mut rest = &*bytes;
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let header = ChunkHeader::read(head).expect("a whole chunk");
            let (body, behind) = behind.split_at(header.len as usize);
            chunks.push((header, body.to_vec()));
            rest = behind;
        }
        assert!(rest.is_empty(), "chunks are not cut");
    }
    Ok(chunks)
}

/// The whole past, once it has so many chunks of a kind.
async fn until(
    connection: &Connection,
    kind: ChunkKind,
    count: usize,
) -> Vec<(ChunkHeader, Vec<u8>)> {
    let waits = async {
        loop {
            let chunks = past(connection, 0, 0).await.unwrap();
            let found = chunks.iter().filter(|(header, _)| header.kind == kind);
            if found.count() >= count {
                return chunks;
            }
            tokio::task::yield_now().await;
        }
    };
    let chunks = tokio::time::timeout(PATIENCE, waits).await;
    chunks.expect("they come before long")
}

#[tokio::test]
async fn the_past_is_what_was_recorded() {
    for read_only in [false, true] {
        let server = recording(1 << 20, |config| config.read_only = read_only).await;
        server.source.clock.store(1_000, Ordering::SeqCst);
        let console = server.connect().await.unwrap();
        until(&console, ChunkKind::State, 1).await;
        server.source.clock.store(2_000, Ordering::SeqCst);
        server.source.news.lock().unwrap().push(News {
            at_unix_ns: 1_500,
            text: "alert: deadlock".to_owned(),
            raised: None,
        });
        let chunks = until(&console, ChunkKind::State, 2).await;
        let kinds: Vec<_> = chunks.iter().map(|(header, _)| header.kind).collect();
        assert_eq!(kinds, [ChunkKind::State, ChunkKind::Mark, ChunkKind::State]);
        assert_eq!(chunks[1].1, b"alert: deadlock");
        for (header, body) in [&chunks[0], &chunks[2]] {
            let frame = [&[0][..], &header.len.to_be_bytes(), body].concat();
            let state: proto::Snapshot = framing::message(&frame).unwrap();
            assert_eq!(state.at_unix_ns, header.at_unix_ns);
            assert_eq!(state.process.unwrap().name, "kv");
        }
        for (from, to, expected) in [
            (0, 999, 0),
            (1, 1_000, 1),
            (1_000, 1_000, 1),
            (1_000, 1_500, 2),
            (1_700, 1_800, 2),
            (0, 2_000, 3),
            (2_000, 2_000, 1),
        ] {
            let part = past(&console, from, to).await.unwrap();
            assert_eq!(
                part,
                chunks[..3][if from == 2_000 { 2..3 } else { 0..expected }]
            );
        }
        assert_eq!(past(&console, u64::MAX, u64::MAX).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn who_records_nothing_answers_with_nothing() {
    let server = Running::start(|_| {}).await;
    *server.source.accounting.lock().unwrap() = Accounting::Armed;
    let console = server.connect().await.unwrap();
    for (from, to) in [(0, 0), (1, u64::MAX)] {
        assert!(past(&console, from, to).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_range_that_ends_before_it_begins_is_a_bad_query() {
    let server = recording(1 << 20, |_| {}).await;
    let console = server.connect().await.unwrap();
    for (from, to) in [(2, 1), (u64::MAX, 1)] {
        let error = past(&console, from, to).await.unwrap_err();
        assert!(matches!(error, ClientError::BadQuery { .. }), "{error:?}");
        let text = "the range ends before it begins";
        assert_eq!(error.to_string(), text);
    }
}

/// Asks for the past, as often as a connection may, and reads none of it. The runtime must not be
/// driven again.
async fn ask_and_leave(target: &Target) -> Connection {
    let connection = connect(target).await.unwrap();
    for _ in 0..16 {
        let connection = connection.clone();
        tokio::spawn(async move {
            let _held = connection.past(0, 0).await;
            std::future::pending::<()>().await;
        });
    }
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    connection
}

/// Others are answered meanwhile, states are recorded, and the budget is kept.
#[tokio::test]
async fn who_never_reads_the_past_is_hung_up_on_and_holds_up_nobody() {
    const STATE: usize = 4 << 20;
    let server = recording(5 << 20, |config| {
        config.stall_time = Duration::from_millis(200);
    })
    .await;
    server.source.state_bytes.store(STATE, Ordering::SeqCst);
    let console = server.connect().await.unwrap();
    until(&console, ChunkKind::State, 1).await;
    let target = Target::Socket(server.socket());
    let held = ask_and_stop(async move || {
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(ask_and_leave(&target).await);
        }
        held
    });
    let begun = Instant::now();
    while server.lines.lock().unwrap().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "it is never hung up on");
        console.snapshot(&procs()).await.unwrap();
    }
    let line = server.lines.lock().unwrap()[0].clone();
    assert_eq!(
        line,
        "disconnected a console that read nothing for 200ms (1 so far)"
    );
    // Only one of these states has room.
    let chunks = until(&console, ChunkKind::State, 1).await;
    assert_eq!(chunks.len(), 1);
    assert!(chunks[0].1.len() >= STATE);
    held.end();
}
