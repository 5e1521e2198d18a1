//! Recordings that the console writes: the keys, the title, and the files.

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc::{Receiver, channel};
use turbowish_recording::{
    ChunkKind, Compression, EventEncoder, FILE_HEADER, NameEncoder, Reader, ThreadEvent,
    ThreadEventKind, Writer,
};
use turbowish_wire::client::Target;

use super::fixture::{AT, attached, kv, looking, peer, press, screen, tell, until};
use super::screens::{LARGE, SMALL, check};
use super::server::{Manner, Reply, Server};
use crate::export::ExportRange;
use crate::history::HistorySubject;
use crate::history::tests::{POOL, recording};
use crate::recording::Recording;
use crate::source;
use crate::tui::message::{Effect, Message};
use crate::tui::record::HistoryQuery;
use crate::tui::source::{Envelope, Source};
use crate::tui::state::{Past, Peer, PeerState, State, Wanted};

fn message(state: &State) -> String {
    screen(state).lines().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn keys_begin_and_end_them() {
    let mut state = attached(SMALL);
    let name = "kv-4242-170431.tw".to_owned();
    let effect = press(&mut state, "P");
    assert_eq!(effect, Some(Effect::Snapshot(peer(4242), name.clone())));
    assert_eq!(message(&state), "! reading what the process keeps ...");
    let effect = press(&mut state, "R");
    assert_eq!(effect, Some(Effect::Record(peer(4242), name)));
    tell(&mut state, Message::Taped(3_400_000));
    until(&mut state, 62);
    let title = |state: &State| screen(state).lines().next().unwrap_or_default().to_owned();
    assert!(
        title(&state).contains("  REC 1m02s 3.2MiB"),
        "{}",
        title(&state)
    );
    // Whatever is shown meanwhile, the same key ends it.
    assert_eq!(press(&mut state, "2 Enter R"), Some(Effect::EndRecord));
    let told = "kv-4242-170431.tw: 62 states, 3.2MiB, 0 lost";
    tell(&mut state, Message::TapeEnded(Ok(told.to_owned())));
    assert_eq!(message(&state), format!(" {told}"));
    assert!(!title(&state).contains("REC"));
    press(&mut state, "R");
    let reason = "cannot write kv-4242-170431.tw: no space left on device";
    tell(&mut state, Message::TapeEnded(Err(reason.to_owned())));
    assert_eq!(message(&state), format!("! {reason}"));
    assert!(!title(&state).contains("REC"));
}

/// A key that is held down reads and writes once; its end, and no other file, allows the next one.
#[test]
fn what_is_kept_is_written_once_at_a_time() {
    let mut state = attached(SMALL);
    let asks = |state: &mut State| matches!(press(state, "P"), Some(Effect::Snapshot(..)));
    let reading = "! reading what the process keeps ...";
    for written in [Ok("a.tw".to_owned()), Err("not written".to_owned())] {
        assert!(asks(&mut state));
        for _ in 0..2 {
            assert!(!asks(&mut state));
            assert_eq!(message(&state), reading);
        }
        tell(&mut state, Message::Written(Ok("saved a.txt".to_owned())));
        assert!(!asks(&mut state));
        tell(&mut state, Message::Copied(written));
        assert_ne!(message(&state), reading);
    }
    assert!(asks(&mut state));
}

#[test]
fn screens() {
    for size in [SMALL, LARGE] {
        let mut state = attached(size);
        press(&mut state, "R");
        tell(&mut state, Message::Taped(3_400_000));
        until(&mut state, 2);
        check("taping", &state);
    }
}

#[test]
fn what_has_no_process_says_so() {
    let check = |state: &mut State, expected: [&str; 2]| {
        for (key, expected) in ["P", "R"].into_iter().zip(expected) {
            assert_eq!(press(state, key), None);
            assert_eq!(message(state), expected);
        }
    };
    let mut state = looking(SMALL);
    state.link.past = Some(Past::new("x.tw", vec![AT], Vec::new(), 0));
    tell(&mut state, Message::Snapshot(Box::new(kv())));
    let files = [
        "! this is a recording already; P writes what a process keeps",
        "! this is a recording already; R records a process",
    ];
    check(&mut state, files);
    let mut state = attached(SMALL);
    let fate = PeerState::Ended { unix_ns: AT };
    tell(&mut state, Message::Silent { tries: 1, fate });
    let ended = "! the process has ended; turbowish recover makes a file of what it has left";
    check(&mut state, [ended; 2]);
    // The past of a process that runs is no file.
    let mut state = attached(SMALL);
    state.link.past = Some(Past::new("REWIND", vec![AT], Vec::new(), 0));
    assert!(press(&mut state, "P").is_some() && press(&mut state, "R").is_some());
}

/// A process that keeps a recording, and a source.
struct Stage {
    folder: TempDir,
    server: Server,
    source: Source,
    inbox: Receiver<Envelope>,
}

impl Stage {
    fn new() -> Self {
        Self::keeping(recording())
    }

    /// The process keeps what is in a recording.
    fn keeping(mut recording: Vec<u8>) -> Self {
        let chunks = recording.split_off(FILE_HEADER.len()).leak();
        Self::of(Manner::Keeps(chunks))
    }

    fn of(manner: Manner) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("kv.sock");
        let (sender, inbox) = channel(64);
        Self {
            server: Server::start(socket, kv(), manner),
            folder,
            source: Source::new(sender, Duration::from_millis(100), None),
            inbox,
        }
    }

    fn peer(&self) -> Peer {
        let target = Target::Socket(self.folder.path().join("kv.sock"));
        Peer { pid: None, target }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    async fn next(&mut self) -> Message {
        self.inbox.recv().await.expect("it answers").message
    }
}

fn states(path: &str) -> usize {
    let bytes = std::fs::read(path).expect("a file");
    let reader = Reader::open(Cursor::new(bytes)).expect("a recording");
    assert!(reader.damage().is_none());
    reader.states().len()
}

/// The file is a recording of all that the process keeps, and none is ever overwritten.
#[tokio::test]
async fn what_a_process_keeps_is_written() {
    let mut stage = Stage::new();
    for name in ["a.tw", "a-2.tw"] {
        stage.source.snapshot(stage.peer(), stage.path("a.tw"));
        let Message::Copied(Ok(told)) = stage.next().await else {
            panic!("it is written");
        };
        let path = stage.path(name);
        let length = Path::new(&path).metadata().expect("a file").len();
        assert_eq!(length, recording().len() as u64);
        let expected = format!("{path}: 2 states in 0, {length}B; turbowish top {path}");
        assert_eq!(told, expected);
        assert!(Recording::open(&path).is_ok());
    }
    assert_eq!(stage.server.asked(), [(0, 0); 2]);
    stage.source.snapshot(stage.peer(), stage.path("no/a.tw"));
    let Message::Copied(Err(told)) = stage.next().await else {
        panic!("there is no folder");
    };
    assert!(told.starts_with("not written: "), "{told}");
}

/// Whatever ends a recording, its file is whole.
#[tokio::test]
async fn states_are_recorded_until_something_ends_it() {
    let told = |count: usize, told: &str| {
        assert!(told.contains(&format!(".tw: {count} states, ")), "{told}");
    };
    for (name, ends) in [("a.tw", "key"), ("b.tw", "exit"), ("c.tw", "process")] {
        let mut stage = Stage::new();
        stage.source.record(stage.peer(), stage.path(name));
        for _ in 0..2 {
            stage.server.send(Reply::Snapshot);
            assert!(matches!(stage.next().await, Message::Taped(1_000..)));
        }
        if ends == "exit" {
            let ended = stage.source.settle_record().await.expect("it runs");
            told(2, &ended.expect("a file"));
        } else {
            match ends {
                "key" => stage.source.end_record(),
                _ => stage.server.send(Reply::End),
            }
            let message = stage.next().await;
            stage.source.shown(&message);
            let Message::TapeEnded(Ok(ended)) = message else {
                panic!("it ends");
            };
            assert_eq!(ended.contains("kv 4242 has ended; "), ends == "process");
            told(2, &ended);
            // It was told: there is nothing to say on exit.
            assert!(stage.source.settle_record().await.is_none());
        }
        assert_eq!(states(&stage.path(name)), 2);
    }
}

/// The end that was asked for is told on exit, if it was not shown before.
#[tokio::test]
async fn an_end_that_was_not_shown_is_told_on_exit() {
    let mut stage = Stage::new();
    stage.source.record(stage.peer(), stage.path("a.tw"));
    stage.server.send(Reply::Snapshot);
    assert!(matches!(stage.next().await, Message::Taped(1_000..)));
    stage.source.end_record();
    let ended = stage.source.settle_record().await.expect("nobody was told");
    assert!(ended.expect("a file").contains(".tw: 1 state, "));
    assert_eq!(states(&stage.path("a.tw")), 1);
}

/// A process that never answers: the key and the exit end the recording at once, and no file is
/// made.
#[tokio::test]
async fn a_recording_that_has_not_begun_can_be_ended() {
    for ends in ["key", "exit"] {
        let mut stage = Stage::of(Manner::Mute);
        stage.source.record(stage.peer(), stage.path("a.tw"));
        // It connects, and waits.
        tokio::task::yield_now().await;
        let ended = if ends == "exit" {
            stage.source.settle_record().await.expect("nobody was told")
        } else {
            stage.source.end_record();
            let Message::TapeEnded(ended) = stage.next().await else {
                panic!("it ends");
            };
            ended
        };
        let target = stage.peer().target;
        let expected = format!("not recorded: ended before {target} answered");
        assert_eq!(ended, Err(expected));
        assert!(!Path::new(&stage.path("a.tw")).exists());
    }
}

/// Of a process that is watched, only the last seconds are requested for the history of a record.
#[tokio::test]
async fn histories_of_a_process_are_of_its_last_seconds() {
    let mut stage = Stage::new();
    stage.source.follow(Wanted {
        history: Some(HistoryQuery {
            subject: HistorySubject::Resource(POOL),
            peer: Some(stage.peer()),
            range: None,
        }),
        ..Wanted::default()
    });
    let Message::History(_, Ok(found)) = stage.next().await else {
        panic!("it answers");
    };
    // It is told from when to when; what the process sends of another time is not shown.
    assert!(found.lines.is_empty());
    let asked = stage.server.asked();
    let [(from, 0), (before, to)] = asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(from, to);
    let second = 1_000_000_000;
    assert_eq!(to - before, 8 * second);
    assert_eq!(
        (found.range.from, found.range.to - from),
        (before, 2 * second)
    );
}

/// What a process keeps of a time of which it keeps no state: names, and these events of a task.
fn without_states(task: u64, events: &[u64]) -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), Compression::None).expect("room");
    let mut names = NameEncoder::default();
    names.event(7, ("cache.miss", "src/cache.rs", 9), &[]);
    let names = names.end();
    writer.body(ChunkKind::Names, AT, &names).expect("room");
    if let [first, ..] = events {
        let mut encoder = EventEncoder::begin(AT + first, 1, 0);
        for after in events {
            let (site, values) = (7, [0; 4]);
            encoder.push(&ThreadEvent {
                at_unix_ns: AT + after,
                task,
                kind: ThreadEventKind::User { site, values },
            });
        }
        let body = encoder.end();
        let at = AT + first;
        writer.body(ChunkKind::Events, at, &body).expect("room");
    }
    writer.end().expect("room")
}

/// A task that has been idle for longer than states are kept: its polls and events of then may
/// still be there, or nothing, which is no fault of the process.
#[tokio::test]
async fn a_history_needs_no_state() {
    let range = ExportRange {
        from: AT,
        to: AT + 10_000,
    };
    for events in [&[][..], &[1_000, 4_000]] {
        let mut stage = Stage::keeping(without_states(17, events));
        stage.source.follow(Wanted {
            history: Some(HistoryQuery {
                subject: HistorySubject::Task(17),
                peer: Some(stage.peer()),
                range: Some(range),
            }),
            ..Wanted::default()
        });
        let Message::History(_, found) = stage.next().await else {
            panic!("it answers");
        };
        let found = found.expect("a history");
        let begins: Vec<u64> = found.lines.iter().map(|line| line.at - AT).collect();
        assert_eq!(begins, events);
    }
}

/// The states of a process that has none are not those of one that has ended.
#[tokio::test]
async fn a_process_without_states_is_not_gone() {
    let stage = Stage::keeping(without_states(17, &[1_000]));
    let kept = source::kept(Some(&stage.peer().target), 0).await;
    let told = kept.expect_err("it has no state").text();
    assert!(told.starts_with("kv 4242 keeps no states: "), "{told}");
}

/// However much a process sends, no more than the limit is held.
#[tokio::test]
async fn what_a_process_sends_has_a_limit() {
    let stage = Stage::new();
    let target = stage.peer().target;
    let gather = async |most| {
        let (name, chunks) = source::past(Some(&target), 0, 0).await.expect("it answers");
        source::gather(&name, chunks, FILE_HEADER.to_vec(), most).await
    };
    let all = recording();
    assert_eq!(gather(all.len()).await.expect("as much as is allowed"), all);
    let told = gather(all.len() - 1).await.expect_err("too much").text();
    assert!(told.starts_with("kv 4242 sends more than the "), "{told}");
}
