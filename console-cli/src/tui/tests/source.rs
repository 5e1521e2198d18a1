//! Data sources against a mock monitor: data arrive, stop and resume, and each error is reported in
//! one line.

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc::{Receiver, channel};
use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::client::Target;

use super::fixture;
use super::server::{Manner, Reply, Server};
use crate::tui::message::Message;
use crate::tui::source::{Envelope, Source};
use crate::tui::state::{PausedTask, Peer, PeerState, Wanted};

/// A console that watches a socket, and the peer that answers there.
struct Stage {
    folder: TempDir,
    source: Source,
    inbox: Receiver<Envelope>,
    survey: Option<Query>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, inbox) = channel(64);
        Self {
            folder,
            source: Source::new(sender, Duration::from_millis(100), None),
            inbox,
            survey: None,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("kv.sock")
    }

    fn start(&self, manner: Manner) -> Server {
        Server::start(self.socket(), fixture::kv(), manner)
    }

    /// Watches all procs from now on, or fewer.
    fn watch(&mut self, filter: &str) {
        let rows = Rows {
            filter: filter.to_owned(),
            ..Rows::default()
        };
        let query = Query {
            procs: Some(rows),
            ..Query::default()
        };
        let target = Target::Socket(self.socket());
        let peer = Peer { pid: None, target };
        self.source.follow(Wanted {
            watch: Some((peer, query)),
            past: None,
            survey: self.survey.clone(),
            history: None,
            listing: false,
            holds: Vec::new(),
        });
    }

    /// The next message of the current subscription.
    async fn next(&mut self) -> Message {
        loop {
            let told = self.inbox.recv().await.unwrap();
            if self.source.is_current(&told) {
                return told.message;
            }
        }
    }

    /// The next snapshot; that there is none meanwhile may be told before.
    async fn snapshot(&mut self) -> Snapshot {
        loop {
            if let Message::Snapshot(snapshot) = self.next().await {
                return *snapshot;
            }
        }
    }

    /// Why there is no data, and after how many tries.
    async fn refused(&mut self) -> (u32, String) {
        loop {
            match self.next().await {
                Message::Silent {
                    tries,
                    fate: PeerState::Refused(why),
                } => return (tries, why),
                Message::Snapshot(_) | Message::Silent { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn data_come_as_they_are_asked_for() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    server.send(Reply::Snapshot);
    let all = stage.snapshot().await.procs.rows.len();
    server.send(Reply::Snapshot);
    assert_eq!(stage.snapshot().await.procs.rows.len(), all);
    // Another question is another subscription: what the first one still gets is not for it.
    server.send(Reply::Snapshot);
    stage.watch("snapshot::write");
    let rows = loop {
        // The first one may take a few before it is told that nobody listens.
        server.send(Reply::Snapshot);
        if let Message::Snapshot(snapshot) = stage.next().await {
            break snapshot.procs.rows;
        }
    };
    let names: Vec<&str> = rows.iter().map(|row| &*row.proc).collect();
    assert_eq!(names, ["kv::snapshot::write"]);
    assert!(all > 1);
}

/// An open record asks for its own rows: what else is bad comes beside each of them.
#[tokio::test]
async fn the_worst_rows_come_with_each_snapshot_of_a_record() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.survey = Some(Query {
        tasks: Some(Rows::default()),
        ..Query::default()
    });
    stage.watch("snapshot::write");
    for _ in 0..2 {
        server.send(Reply::Snapshot);
        let mut surveyed = 0;
        loop {
            match stage.next().await {
                Message::Survey(survey) => surveyed = survey.tasks.rows.len(),
                Message::Snapshot(_) => break,
                _ => {}
            }
        }
        assert!(surveyed > 1);
    }
}

/// A process that takes its time says so before its data, and not again as long as it stays the
/// same.
#[tokio::test]
async fn how_often_data_come_is_told_when_it_changes() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    for pace in [0, 3_000, 3_000, 60_000_000_000, 0] {
        server.send(Reply::Paced(pace));
    }
    let mut told: Vec<Option<u64>> = Vec::new();
    while told.iter().filter(|told| told.is_none()).count() < 5 {
        match stage.next().await {
            Message::Pace(ns) => told.push(Some(ns)),
            Message::Snapshot(_) => told.push(None),
            // The machine was busy.
            Message::Silent { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let (slow, slower, fast) = (Some(3_000), Some(60_000_000_000), Some(0));
    let expected = [fast, None, slow, None, None, slower, None, fast, None];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_monitor_that_went_away_is_found_again() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    server.send(Reply::Snapshot);
    stage.snapshot().await;
    drop(server);
    let (tries, why) = stage.refused().await;
    assert_eq!(tries, 1);
    assert!(why.starts_with("kv 4242 is gone ("), "{why}");
    let (tries, why) = stage.refused().await;
    assert_eq!(tries, 2);
    assert!(why.starts_with("cannot connect to "), "{why}");
    let server = stage.start(Manner::Good);
    server.send(Reply::Snapshot);
    assert_eq!(stage.snapshot().await.process.pid, 4242);
    // The count begins anew.
    drop(server);
    assert_eq!(stage.refused().await.0, 1);
}

#[tokio::test]
async fn a_stream_that_ends_is_begun_again() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    for (end, expected) in [
        (Reply::End, "kv 4242 is gone (it ended the stream)"),
        (Reply::Fail("no more"), "kv 4242 is gone (no more)"),
    ] {
        server.send(Reply::Snapshot);
        stage.snapshot().await;
        server.send(end);
        let (tries, why) = stage.refused().await;
        let why = why.replace(&stage.socket().display().to_string(), "kv 4242");
        assert_eq!((tries, &*why), (1, expected));
    }
    server.send(Reply::Snapshot);
    stage.snapshot().await;
}

#[tokio::test]
async fn a_slow_monitor_is_waited_for_and_goes_on() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    server.send(Reply::Snapshot);
    stage.snapshot().await;
    // Nothing is sent: it is said, and the stream is kept.
    let waits = |message: &Message| {
        let (tries, fate) = (0, PeerState::Running);
        matches!(message, Message::Silent { tries: told, fate: what } if *told == tries && *what == fate)
    };
    let message = stage.next().await;
    assert!(waits(&message), "{message:?}");
    server.send(Reply::Snapshot);
    let mut message = stage.next().await;
    while waits(&message) {
        message = stage.next().await;
    }
    assert!(matches!(message, Message::Snapshot(_)), "{message:?}");
}

/// However long the loop has something else to do, one snapshot waits for it and no second one is
/// read.
#[tokio::test]
async fn one_snapshot_at_a_time_is_on_its_way() {
    let mut stage = Stage::new();
    let server = stage.start(Manner::Good);
    stage.watch("");
    let taken = async |stage: &mut Stage| loop {
        let told = stage.inbox.recv().await.unwrap();
        if matches!(told.message, Message::Snapshot(_)) {
            break told;
        }
    };
    for _ in 0..4 {
        server.send(Reply::Snapshot);
    }
    let first = taken(&mut stage).await;
    // An answer of the same process, asked for later, comes before the second one.
    stage.source.fetch(Box::default(), None);
    loop {
        match stage.next().await {
            Message::Fetched(answer, _) => break drop(answer.unwrap()),
            Message::Snapshot(_) => panic!("nobody has taken the first one"),
            _ => {}
        }
    }
    drop(first);
    // Of a subscription that has ended: what it sent waits for nobody.
    let second = taken(&mut stage).await;
    // The console had no time to look: what has come meanwhile is old.
    stage.source.renew();
    stage.watch("");
    assert!(!stage.source.is_current(&second));
    drop(second);
    // The one that has ended may take a few before it is told that nobody listens.
    server.send(Reply::Snapshot);
    while !matches!(stage.next().await, Message::Snapshot(_)) {
        server.send(Reply::Snapshot);
    }
}

/// What is said of a monitor that does not behave, again and again, and the data when a good one
/// takes its place.
async fn check(manner: Manner, expected: &str) {
    let mut stage = Stage::new();
    let server = stage.start(manner);
    if matches!(
        manner,
        Manner::Oversize | Manner::Malformed | Manner::Cuts(_)
    ) {
        server.send(Reply::Snapshot);
    }
    stage.watch("");
    let (tries, why) = stage.refused().await;
    assert_eq!(tries, 1);
    let why = why.replace(&stage.socket().display().to_string(), "SOCKET");
    assert!(why.starts_with(expected), "{manner:?}: {why}");
    assert!(!why.contains('\n'), "{manner:?}: {why}");
    drop(server);
    let server = stage.start(Manner::Good);
    server.send(Reply::Snapshot);
    stage.snapshot().await;
}

#[tokio::test]
async fn what_is_wrong_is_one_line_and_a_good_one_is_taken() {
    check(
        Manner::Speaks(2),
        "kv 4242 speaks protocol 2, this console 1: update turbowish-cli",
    )
    .await;
    check(
        Manner::Garbage,
        "SOCKET does not speak the TurboWish protocol (",
    )
    .await;
    check(
        Manner::HangsUp,
        "SOCKET does not speak the TurboWish protocol (",
    )
    .await;
    check(Manner::Mute, "SOCKET does not answer within 1s: ").await;
    check(Manner::Cuts(5000), "kv 4242 is gone (").await;
    check(
        Manner::Oversize,
        "kv 4242 sends more than the 64 MiB that this console accepts at once",
    )
    .await;
    check(
        Manner::Malformed,
        "kv 4242 sent data that this console does not understand (",
    )
    .await;
}

#[tokio::test]
async fn a_task_that_cannot_be_kept_paused_is_named() {
    let mut stage = Stage::new();
    let target = Target::Socket(stage.socket());
    let hold = PausedTask {
        peer: Peer {
            pid: Some(4242),
            target,
        },
        task: 17,
        name: "serve-17".to_owned(),
    };
    stage.source.follow(Wanted {
        holds: vec![hold],
        ..Wanted::default()
    });
    // A script of a monitor has no tasks to pause.
    let _server = stage.start(Manner::Good);
    assert_eq!(stage.source.settle(false).await, [""; 0]);
    let told = stage.source.settle(true).await;
    let expected = "serve-17 does not stay paused: the script cannot be touched";
    assert_eq!(told, [expected]);
}
