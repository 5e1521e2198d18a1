//! The recorder over a scripted source, with its files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use turbowish_model::event::{EventClass, EventClasses};
use turbowish_model::query::{Budget, Query, QueryError};
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::{Accounting, Page, ProcRow, Process, Snapshot};
use turbowish_recording::{ChunkHeader, ChunkKind, FILE_HEADER, HEADER_BYTES, encode};
use turbowish_wire::{PauseTask, discovery};

use super::super::{
    Config, NewPolls, News, RecordConfig, Refused, Source, ThreadChunk, ThreadPart, grid,
};
use super::file::SEGMENT_BYTES;
use super::{Recorder, Worker};

/// A process whose states have a size of the test's choice.
struct Steady {
    clock: AtomicU64,
    state_bytes: AtomicUsize,
    answered: Mutex<Vec<Duration>>,
    /// Processor time of each reading.
    used: AtomicU64,
    news: Mutex<Option<Vec<News>>>,
    polls: Mutex<NewPolls>,
    panics: AtomicUsize,
    classes: Mutex<EventClasses>,
    /// How often it was asked for names alone, and for polls.
    asked: [AtomicUsize; 2],
    names: Mutex<Vec<u8>>,
}

impl Steady {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            clock: AtomicU64::new(1),
            state_bytes: AtomicUsize::new(100),
            answered: Mutex::default(),
            used: AtomicU64::new(0),
            news: Mutex::new(Some(Vec::new())),
            polls: Mutex::default(),
            panics: AtomicUsize::new(0),
            classes: Mutex::default(),
            asked: Default::default(),
            names: Mutex::default(),
        })
    }
}

impl Source for Steady {
    fn snapshot(&self, query: &Query, _: &Budget<'_>) -> Result<Snapshot, QueryError> {
        assert_eq!(*query, Query::recorded());
        let wants_panic = self.panics.load(Ordering::SeqCst) > 0;
        if wants_panic {
            self.panics.fetch_sub(1, Ordering::SeqCst);
            panic!("a test wants it");
        }
        Ok(Snapshot {
            process: self.process(),
            at_unix_ns: self.clock.fetch_add(1, Ordering::SeqCst),
            procs: Page {
                rows: vec![ProcRow {
                    file: "x".repeat(self.state_bytes.load(Ordering::SeqCst)),
                    ..ProcRow::default()
                }],
                ..Page::default()
            },
            ..Snapshot::default()
        })
    }

    fn process(&self) -> Process {
        let is_armed = self.news.lock().unwrap().is_some();
        Process {
            accounting: match is_armed {
                true => Accounting::Armed,
                false => Accounting::Disarmed,
            },
            ..Process::default()
        }
    }

    fn used(&self) -> Duration {
        Duration::from_millis(self.used.fetch_add(1, Ordering::SeqCst))
    }

    fn answered(&self, took: Duration) {
        self.answered.lock().unwrap().push(took);
    }

    fn news(&self) -> Option<Vec<News>> {
        self.news.lock().unwrap().as_mut().map(std::mem::take)
    }

    fn names(&self) -> Vec<u8> {
        self.asked[0].fetch_add(1, Ordering::SeqCst);
        self.names.lock().unwrap().clone()
    }

    fn polls(&self) -> NewPolls {
        self.asked[1].fetch_add(1, Ordering::SeqCst);
        std::mem::take(&mut *self.polls.lock().unwrap())
    }

    fn set_accounting(&self, _: Accounting) {}

    fn recorded(&self) -> EventClasses {
        *self.classes.lock().unwrap()
    }

    fn pause_task(&self, _: &PauseTask) -> Result<(), Refused> {
        Err(Refused::NoTask)
    }

    fn resume_task(&self, _: u64) -> Result<(), Refused> {
        Err(Refused::NotPaused)
    }
}

/// A recorder, the folder of its socket, and the lines that it prints.
struct Stage {
    recorder: Arc<Recorder>,
    source: Arc<Steady>,
    folder: PathBuf,
    lines: Arc<Mutex<Vec<String>>>,
    _root: tempfile::TempDir,
}

fn stage(budget: usize, path: impl FnOnce(&Path) -> Option<PathBuf>) -> Stage {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("turbowish");
    discovery::prepare(&folder).unwrap();
    stage_in(root, folder, budget, path)
}

fn stage_in(
    root: tempfile::TempDir,
    folder: PathBuf,
    budget: usize,
    path: impl FnOnce(&Path) -> Option<PathBuf>,
) -> Stage {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let said = Arc::clone(&lines);
    let config = Config {
        record: Some(RecordConfig {
            // Half of it is for polls.
            budget: budget * 2,
            path: path(root.path()),
            rings: None,
        }),
        say: Arc::new(move |line| said.lock().unwrap().push(line.to_owned())),
        ..Config::default()
    };
    Stage {
        recorder: Recorder::new(&config, Some(&folder)),
        source: Steady::new(),
        folder,
        lines,
        _root: root,
    }
}

impl Stage {
    fn state(&self, bytes: usize) {
        self.source.state_bytes.store(bytes, Ordering::SeqCst);
        self.recorder.record(&*self.source, &[], true);
    }

    fn mark(&self, text: &str) {
        let news = News {
            at_unix_ns: self.source.clock.fetch_add(1, Ordering::SeqCst),
            text: text.to_owned(),
            raised: None,
        };
        self.recorder.record(&*self.source, &[news], false);
    }

    /// Polls of that many bytes, after a definition of names.
    fn polls(&self, names: &[u8], bytes: usize) {
        let at = self.source.clock.fetch_add(1, Ordering::SeqCst);
        let chunk = ThreadChunk::new(ChunkKind::Polls, at, &vec![0; bytes], None);
        *self.source.polls.lock().unwrap() = NewPolls {
            names: names.to_vec(),
            polls: vec![chunk.expect("a short body")],
            fill_percent: 7,
            clock: None,
        };
        let taken = self.recorder.take_polls(&*self.source);
        assert_eq!((taken.count, taken.fill_percent), (1, 7));
    }

    /// Lets the next look find so many polls, and these names.
    fn come_named(&self, count: u64, names: &[u8]) {
        self.come(count);
        self.source.polls.lock().unwrap().names = names.to_vec();
    }

    /// Lets the next look find so many polls.
    fn come(&self, count: u64) {
        let has = ThreadPart {
            thread: 0,
            next: count,
            count,
        };
        let chunk = ThreadChunk::new(ChunkKind::Polls, 1, &[0; 9], Some(has));
        let polls = chunk.into_iter().collect();
        *self.source.polls.lock().unwrap() = NewPolls {
            polls,
            ..NewPolls::default()
        };
    }

    fn kept(&self) -> Vec<ChunkHeader> {
        let mut past = self.recorder.past(0, 0);
        let chunks = std::iter::from_fn(|| past.next());
        chunks.map(|chunk| whole(&chunk).0).collect()
    }

    fn end(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(self.recorder.end());
    }

    fn lost_before(&self) -> Vec<u32> {
        self.kept().iter().map(|header| header.lost).collect()
    }

    fn segments(&self) -> [PathBuf; 2] {
        discovery::segments(&self.folder, std::process::id())
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// The first chunk of some, and what is behind it. Its body is intact.
fn whole(bytes: &[u8]) -> (ChunkHeader, &[u8]) {
    let head = bytes.first_chunk().expect("a header");
    let header = ChunkHeader::read(head).expect("an intact header");
    let (chunk, rest) = bytes.split_at(HEADER_BYTES + header.len as usize);
    let body = &chunk[HEADER_BYTES..];
    let again = encode(header.kind, header.at_unix_ns, header.lost, body);
    assert_eq!(again.as_deref(), Some(chunk), "an intact body");
    (header, rest)
}

/// The chunks of a file.
fn chunks(path: &Path) -> Vec<ChunkHeader> {
    let bytes = fs::read(path).unwrap();
    let mut rest = bytes.strip_prefix(&FILE_HEADER).expect("the file's header");
    let mut headers = Vec::new();
    while !rest.is_empty() {
        let (header, behind) = whole(rest);
        headers.push(header);
        rest = behind;
    }
    headers
}

fn times(headers: &[ChunkHeader]) -> Vec<u64> {
    headers.iter().map(|header| header.at_unix_ns).collect()
}

#[test]
fn a_state_that_has_no_room_is_counted_by_the_next_one() {
    let stage = stage(4 << 10, |_| None);
    stage.state(100);
    stage.state(5_000);
    stage.state(usize::from(u16::MAX));
    stage.state(100);
    stage.state(5_000);
    stage.mark("alert: deadlock");
    stage.state(100);
    assert_eq!(stage.lost_before(), [0, 2, 0, 1]);
    let kinds: Vec<_> = stage.kept().iter().map(|header| header.kind).collect();
    let state = ChunkKind::State;
    assert_eq!(kinds, [state, state, ChunkKind::Mark, state]);
    for _ in 0..1_000 {
        stage.state(700);
    }
    let bytes: usize = stage
        .kept()
        .iter()
        .map(|header| header.len as usize + HEADER_BYTES)
        .sum();
    assert!((2 << 10..4 << 10).contains(&bytes), "{bytes}");
    assert_eq!(
        times(&stage.kept()).last(),
        times(&chunks(&stage.segments()[1])).last()
    );
}

#[test]
fn a_look_counts_what_its_chunks_have() {
    let stage = stage(1 << 20, |_| None);
    stage.come(30);
    let counts = [(); 2].map(|()| stage.recorder.take_polls(&*stage.source).count);
    assert_eq!(counts, [30, 0]);
}

#[tokio::test(start_paused = true)]
async fn names_are_looked_for_as_something_happens() {
    let stage = stage(1 << 20, |_| None);
    let source: Arc<dyn Source> = stage.source.clone();
    // From here on, all pauses are as long as they are asked for.
    tokio::time::sleep_until(grid::next(Duration::from_millis(250))).await;
    let following = tokio::spawn(Arc::clone(&stage.recorder).follow_polls(source));
    let mut named = Vec::new();
    // In the first quarter of a second, nothing is known yet. Names come by themselves in the sixth
    // one, and with the polls at the end of the fourth.
    for (polls, with, alone) in [
        (3, "", ""),
        (0, "", ""),
        (100, "", ""),
        (100, "name", ""),
        (100, "", ""),
        (100, "", "name"),
        (0, "", ""),
        (0, "", ""),
    ] {
        stage.come_named(polls, with.as_bytes());
        *stage.source.names.lock().unwrap() = alone.into();
        let [for_names, for_polls] = &stage.source.asked;
        while for_polls.swap(0, Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        named.push(for_names.swap(0, Ordering::SeqCst));
    }
    following.abort();
    assert_eq!(named, [5, 2, 0, 4, 5, 8, 4, 0]);
}

#[test]
fn polls_give_way_to_polls_and_names_are_kept() {
    let stage = stage(4 << 10, |_| None);
    stage.state(100);
    stage.polls(b"one", 100);
    stage.polls(b"", 3_000);
    stage.polls(b"two", 2_000);
    stage.polls(b"", 1_000);
    let kinds = || {
        let kept = stage.kept();
        kept.iter().map(|header| header.kind).collect::<Vec<_>>()
    };
    let (names, state, polls) = (ChunkKind::Names, ChunkKind::State, ChunkKind::Polls);
    assert_eq!(
        kinds(),
        [names, state, polls, polls],
        "the first two had to go"
    );
    stage.polls(b"", 5_000);
    assert_eq!(kinds(), [names, state], "there is no room for it");
    let mut past = stage.recorder.past(0, 0);
    let names = past.next().expect("names");
    assert_eq!(&names[HEADER_BYTES..], b"onetwo");
}

#[test]
fn each_file_has_all_names_that_it_needs() {
    const MIB: usize = 1 << 20;
    let stage = stage(64 * MIB, |_| None);
    stage.polls(b"one", 100);
    stage.polls(b"two", 5 * MIB);
    stage.polls(b"", 5 * MIB);
    stage.polls(b"three", 100);
    let kinds = |path: &Path| {
        let headers = chunks(path);
        headers
            .iter()
            .map(|header| (header.kind, header.len))
            .collect::<Vec<_>>()
    };
    let (names, polls) = (ChunkKind::Names, ChunkKind::Polls);
    let five = u32::try_from(5 * MIB).unwrap();
    let [old, new] = stage.segments();
    assert_eq!(
        kinds(&old),
        [(names, 3), (polls, 100), (names, 3), (polls, five)]
    );
    assert_eq!(
        kinds(&new),
        [(names, 6), (polls, five), (names, 5), (polls, 100)]
    );
}

#[test]
fn what_is_recorded_costs_like_an_answer() {
    let stage = stage(1 << 20, |_| None);
    stage.state(100);
    stage.mark("alert: deadlock");
    let ms = Duration::from_millis(1);
    assert_eq!(*stage.source.answered.lock().unwrap(), [ms, ms]);
}

#[test]
fn the_files_beside_the_socket_take_turns_and_go_at_the_end() {
    const MIB: usize = 1 << 20;
    let stage = stage(2 * MIB, |_| None);
    let [old, new] = stage.segments();
    // Left by an earlier process of this ID.
    fs::write(&old, "old").unwrap();
    fs::write(&new, "new").unwrap();
    stage.state(MIB);
    assert!(!old.exists());
    assert_eq!(times(&chunks(&new)), [1]);
    assert_eq!(
        fs::metadata(&new).unwrap().permissions().mode() & 0o777,
        0o600
    );
    for _ in 0..19 {
        stage.state(MIB);
    }
    // Seven to a file.
    assert_eq!(times(&chunks(&old)), (8..=14).collect::<Vec<_>>());
    assert_eq!(times(&chunks(&new)), (15..=20).collect::<Vec<_>>());
    for path in [&old, &new] {
        assert!(fs::metadata(path).unwrap().len() <= SEGMENT_BYTES as u64);
    }
    assert_eq!(times(&stage.kept()), [20], "the memory has its own budget");
    stage.end();
    stage.state(100);
    assert_eq!(fs::read_dir(&stage.folder).unwrap().count(), 0);
    assert!(stage.lines().is_empty());
}

/// The memory has room for it, the files have not.
#[test]
fn a_state_that_is_larger_than_a_file_is_counted_there() {
    let stage = stage(64 << 20, |_| None);
    stage.state(100);
    stage.state(SEGMENT_BYTES);
    stage.state(65 << 20);
    stage.state(SEGMENT_BYTES);
    stage.mark("alert: deadlock");
    stage.state(100);
    assert_eq!(stage.lost_before(), [0, 0, 1, 0, 0]);
    let written = chunks(&stage.segments()[1]);
    let lost: Vec<_> = written.iter().map(|header| header.lost).collect();
    assert_eq!(lost, [0, 0, 3]);
    assert_eq!(written[1].kind, ChunkKind::Mark);
}

#[test]
fn what_is_not_ours_is_left_alone_and_said_once() {
    let stage = stage(1 << 20, |_| None);
    let [old, new] = stage.segments();
    let precious = stage.folder.join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, &new).unwrap();
    for _ in 0..3 {
        stage.state(100);
    }
    let lines = stage.lines();
    let begin = "the recording is in memory only, and would not survive a crash: ";
    assert!(lines.len() == 1 && lines[0].starts_with(begin), "{lines:?}");
    assert_eq!(stage.kept().len(), 3);
    stage.end();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(new.is_symlink() && !old.exists());
}

#[test]
fn a_folder_that_is_gone_is_said_once() {
    let stage = stage(1 << 20, |_| None);
    fs::remove_dir(&stage.folder).unwrap();
    for _ in 0..3 {
        stage.state(100);
    }
    assert_eq!(stage.lines().len(), 1, "{:?}", stage.lines());
    assert_eq!(stage.kept().len(), 3);
}

#[test]
fn a_named_file_is_new_and_stays() {
    let stage = stage(200 << 10, |root| Some(root.join("x.tw")));
    let path = stage.folder.with_file_name("x.tw");
    for _ in 0..90 {
        stage.state(100 << 10);
    }
    stage.end();
    assert_eq!(times(&chunks(&path)), (1..=90).collect::<Vec<_>>());
    assert!(fs::metadata(&path).unwrap().len() > SEGMENT_BYTES as u64);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::read_dir(&stage.folder).unwrap().count(),
        0,
        "it is instead of the others"
    );
}

#[test]
fn a_named_file_that_exists_is_not_touched() {
    let full = Path::new("/dev/full");
    let root = tempfile::tempdir().unwrap();
    let there = root.path().join("there.tw");
    fs::write(&there, "precious").unwrap();
    let link = root.path().join("link.tw");
    symlink(root.path().join("nothing"), &link).unwrap();
    for path in [full, &there, &link] {
        let stage = stage(1 << 20, |_| Some(path.to_owned()));
        stage.state(100);
        stage.state(100);
        let lines = stage.lines();
        let begin = format!("not recording to {}: File exists", path.display());
        assert!(
            lines.len() == 1 && lines[0].starts_with(&begin),
            "{lines:?}"
        );
        assert!(lines[0].contains("choose another path"), "{lines:?}");
        assert_eq!(stage.kept().len(), 2);
        stage.end();
    }
    assert_eq!(fs::read_to_string(&there).unwrap(), "precious");
    assert!(link.is_symlink() && !root.path().join("nothing").exists());
}

/// What was there around an alert stays, whatever gives way; it is sent once, and in order.
#[test]
fn what_was_recorded_around_an_alert_outlives_the_rings() {
    const SECOND: u64 = 1_000_000_000;
    let stage = stage(64 << 10, |_| None);
    let at = |second: u64| stage.source.clock.store(second * SECOND, Ordering::SeqCst);
    for second in 30..45 {
        at(second);
        stage.state(100);
        stage.polls(b"", 50);
        if second == 41 {
            let news = News {
                at_unix_ns: second * SECOND,
                text: "warning: slow lock".to_owned(),
                raised: Some(Severity::Warning),
            };
            stage.recorder.record(&*stage.source, &[news], false);
        }
        stage.recorder.take_alert(second * SECOND);
    }
    let seconds = |from: u64, to: u64, kind: ChunkKind| {
        let mut past = stage.recorder.past(from * SECOND, to * SECOND);
        let chunks = std::iter::from_fn(|| past.next()).map(|chunk| whole(&chunk).0);
        let chunks = chunks.filter(|header| header.kind == kind);
        let seconds = chunks.map(|header| header.at_unix_ns / SECOND);
        seconds.collect::<Vec<_>>()
    };
    // All of it is in the rings yet.
    let all: Vec<u64> = (30..45).collect();
    assert_eq!(seconds(0, 0, ChunkKind::State), all);
    for second in 100..1_100 {
        at(second);
        stage.state(1_000);
        stage.polls(b"", 1_000);
    }
    let states = seconds(0, 0, ChunkKind::State);
    let later = states
        .iter()
        .position(|second| *second >= 100)
        .expect("the latest");
    let around: Vec<u64> = (31..44).collect();
    assert_eq!(states[..later], around);
    let rest: Vec<u64> = (states[later]..1_100).collect();
    assert_eq!(states[later..], rest);
    assert_eq!(seconds(0, 0, ChunkKind::Mark), [41]);
    let polls = seconds(0, 0, ChunkKind::Polls);
    // Those of the last second came after its state.
    let are_there = (31..43).all(|second| polls.contains(&second));
    assert!(are_there, "{polls:?}");
    assert!(polls.is_sorted());
    assert_eq!(seconds(40, 42, ChunkKind::State), [40, 41, 42]);
}

/// Runs the recorder until it has kept so many chunks.
async fn run_until(stage: &Stage, count: usize) {
    let source: Arc<dyn Source> = stage.source.clone();
    let recording = tokio::spawn(stage.recorder.clone().run(source, Worker::default()));
    while stage.kept().len() < count {
        tokio::time::sleep(super::schedule::LOOK).await;
    }
    recording.abort();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_recorded_while_accounting_is_disarmed() {
    let stage = stage(1 << 20, |_| None);
    *stage.source.news.lock().unwrap() = None;
    let source: Arc<dyn Source> = stage.source.clone();
    let recording = tokio::spawn(stage.recorder.clone().run(source, Worker::default()));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(stage.kept().is_empty());
    // Disarmed between the look and the state.
    stage.state(100);
    assert!(stage.kept().is_empty());
    recording.abort();
    *stage.source.news.lock().unwrap() = Some(Vec::new());
    run_until(&stage, 2).await;
    assert_eq!(stage.lost_before()[0], 0);
}

#[tokio::test(start_paused = true)]
async fn states_and_marks_are_recorded_only_if_they_are_asked_for() {
    let stage = stage(1 << 20, |_| None);
    *stage.source.classes.lock().unwrap() = EventClasses::NONE.with(EventClass::Polls);
    let source: Arc<dyn Source> = stage.source.clone();
    let recording = tokio::spawn(stage.recorder.clone().run(source, Worker::default()));
    stage.polls(b"names", 100);
    let news = News {
        at_unix_ns: 1,
        text: "alert".to_owned(),
        raised: None,
    };
    *stage.source.news.lock().unwrap() = Some(vec![news]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let kinds: Vec<ChunkKind> = stage.kept().iter().map(|header| header.kind).collect();
    assert_eq!(kinds, [ChunkKind::Names, ChunkKind::Polls]);
    recording.abort();
    *stage.source.classes.lock().unwrap() = EventClasses::DEFAULT;
    run_until(&stage, 4).await;
    let is_state = |header: &&ChunkHeader| header.kind == ChunkKind::State;
    assert!(stage.kept().iter().filter(is_state).count() >= 2);
}

#[tokio::test]
async fn a_state_that_panics_is_counted_and_others_come() {
    let stage = stage(1 << 20, |_| None);
    stage.source.panics.store(1, Ordering::SeqCst);
    run_until(&stage, 1).await;
    assert!(stage.lost_before()[0] >= 1, "{:?}", stage.lost_before());
}

/// A file system that does not answer: the end of the process does not wait for it.
#[tokio::test(start_paused = true)]
async fn the_end_does_not_wait_for_a_write_that_hangs() {
    let stage = stage(1 << 20, |_| None);
    stage.state(100);
    let begun = tokio::time::Instant::now();
    let (begin, has_begun) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel::<()>();
    let recorder = stage.recorder.clone();
    let write = std::thread::spawn(move || {
        let _file = recorder.file.lock().unwrap();
        begin.send(()).unwrap();
        let _ = answered.recv();
    });
    has_begun.recv().unwrap();
    stage.recorder.end().await;
    assert!(begun.elapsed() < 2 * super::PATIENCE);
    drop(answer);
    write.join().unwrap();
    stage.recorder.end().await;
    assert!(!stage.segments()[1].exists());
}
