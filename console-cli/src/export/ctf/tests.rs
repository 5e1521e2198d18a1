//! What a reader of CTF finds in the trace of the small recording.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use turbowish_recording::{PollEvent, Reader, WakeupEvent, WokenBy};

use super::super::tests::{AT, CONN, bytes_with_events, timeline_of};
use super::super::{ExportRange, Labels, Survey};
use super::folder::TraceFolder;
use super::packets::{PacketStream, StreamId};
use super::process::{PENDING, ProcessStream};
use super::{Totals, TraceTotals, write};

/// Reads a stream, as its metadata describes it.
struct TraceReader<'a> {
    bytes: &'a [u8],
    clock: u64,
}

impl TraceReader<'_> {
    fn number(&mut self, bytes: usize) -> u64 {
        let (number, rest) = self.bytes.split_at(bytes);
        self.bytes = rest;
        let low = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
        number.iter().rev().fold(0, low)
    }

    fn text(&mut self) -> String {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap();
        let text = String::from_utf8(self.bytes[..end].to_vec()).unwrap();
        self.bytes = &self.bytes[end + 1..];
        text
    }

    /// The number of the next event. The clock turns over at most once between two.
    fn event(&mut self) -> u64 {
        let head = self.bytes[0] & 31;
        if head == 31 {
            self.number(1);
            let id = self.number(4);
            self.clock = self.number(8);
            return id;
        }
        let time = self.number(4) >> 5;
        let turns = u64::from(time < self.clock % (1 << 27));
        self.clock = ((self.clock >> 27) + turns) << 27 | time;
        head.into()
    }

    /// Names of fields and how many bytes each has; 0 for a text.
    fn fields(&mut self, of_thread: bool, event: u64) -> String {
        const SPAN: &[(&str, usize)] = &[
            ("task", 8),
            ("resource", 0),
            ("role", 0),
            ("amount", 4),
            ("duration_ns", 8),
        ];
        let fields = match (of_thread, event) {
            (true, 0) => &[("poll_begin task", 8), ("root", 2), ("call", 2)],
            (true, 1) => &[("poll_end outcome", 1), ("waits_at", 4)][..],
            (true, 2..=4) => SPAN,
            (true, 5) => &[("miss task", 8), ("key", 8), ("int", 8), ("key_", 8)],
            (false, 0) => &[("task", 8), ("name", 0)],
            (false, 1) => &[("ready task", 8), ("by", 1), ("waker", 8)],
            (false, 2) => &[("mark", 0)],
            (false, 3) => &[("tasks", 8)],
            (of_thread, event) => panic!("event {event} of a thread ({of_thread})"),
        };
        let told = fields.iter().map(|(name, bytes)| match bytes {
            0 => format!("{name} {:?}", self.text()),
            bytes => format!("{name} {}", self.number(*bytes)),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// A line for each packet and each event.
    fn told(mut self, of_thread: bool) -> Vec<String> {
        const HEADER: usize = 32;
        let mut lines = Vec::new();
        while !self.bytes.is_empty() {
            let all = self.bytes.len();
            assert_eq!(self.number(4), 0xc1fc_1fc1);
            self.bytes = &self.bytes[HEADER - 4..];
            let [begin, end, content, size, packet, lost] = [0; 6].map(|_| self.number(8));
            assert_eq!(content, size);
            let of = match of_thread {
                true => format!(" of thread {} {}", self.number(4), self.text()),
                false => String::new(),
            };
            lines.push(format!(
                "packet {packet}{of} {begin}..{end}, {lost} lost so far"
            ));
            self.clock = begin;
            let rest = all - usize::try_from(size / 8).unwrap();
            while self.bytes.len() > rest {
                let id = self.event();
                let fields = self.fields(of_thread, id);
                lines.push(format!("  {} {id} {fields}", self.clock));
                assert!(begin <= self.clock && self.clock <= end, "{lines:#?}");
            }
            assert_eq!(self.bytes.len(), rest);
        }
        lines
    }
}

/// The streams of a folder.
fn told(folder: &Path, file: &str) -> String {
    let bytes = fs::read(folder.join(file)).unwrap();
    let reader = TraceReader {
        bytes: &bytes,
        clock: 0,
    };
    reader.told(file != "process").join("\n")
}

fn export(folder: &TraceFolder) -> (Totals, TraceTotals) {
    let (mut timeline, labels) = timeline_of(bytes_with_events());
    write(&mut timeline, &labels, folder).unwrap()
}

#[test]
fn a_trace_has_all_events_in_whole_packets_and_says_what_is_lost() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let (totals, trace) = export(&folder);
    assert_eq!((totals.lost, totals.lost_events), (3, 2));
    let streams = ["process", "thread-0", "thread-1"].map(|file| told(&path, file));
    let events = streams.iter().flat_map(|stream| stream.lines());
    let events = events.filter(|line| line.starts_with(' ')).count();
    let expected = TraceTotals {
        streams: 3,
        events: events as u64,
        left_out: 0,
    };
    assert_eq!(trace, expected);
    insta::assert_snapshot!("ctf", streams.join("\n\n"));
    let metadata = fs::read_to_string(path.join("metadata")).unwrap();
    insta::assert_snapshot!("metadata", metadata);
}

/// Readers refuse a type of numbers with names that has no name.
#[test]
fn a_trace_without_polls_is_one_too() {
    let bytes = Cursor::new(bytes_with_events());
    let survey = Survey::of(Reader::open(bytes).unwrap()).unwrap();
    let (from, to) = (AT + 300_000_000, AT + 400_000_000);
    let (mut timeline, labels) = survey.timeline(ExportRange { from, to }).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let (totals, trace) = write(&mut timeline, &labels, &folder).unwrap();
    assert_eq!((totals.polls, trace.events, trace.streams), (0, 1, 1));
    let metadata = fs::read_to_string(path.join("metadata")).unwrap();
    assert!(!metadata.contains("{\n}"), "{metadata}");
}

#[test]
fn a_folder_that_is_no_trace_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    export(&TraceFolder::create(&path, false).unwrap());
    assert!(TraceFolder::create(&path, false).is_err());
    // A trace is replaced, so that nothing of the old one is in the new one.
    let before = fs::read(path.join("thread-1")).unwrap();
    export(&TraceFolder::create(&path, true).unwrap());
    assert_eq!(fs::read(path.join("thread-1")).unwrap(), before);
    fs::write(path.join("notes"), "mine").unwrap();
    let fault = TraceFolder::create(&path, true).unwrap_err();
    assert!(fault.to_string().contains("notes"), "{fault}");
    let folder = TraceFolder { path: path.clone() };
    folder.remove();
    assert_eq!(fs::read_to_string(path.join("notes")).unwrap(), "mine");
    assert!(folder.path.exists() && !path.join("metadata").exists());
}

/// A stream of what belongs to no thread.
fn stream() -> PacketStream {
    PacketStream::new(StreamId {
        file: "process".to_owned(),
        trace: [0; 16],
        class: 1,
        instance: 0,
        context: Vec::new(),
    })
}

/// A short time has 27 bits: two losses end further apart than it reaches, without an event.
#[test]
fn events_after_losses_that_overlap_have_their_times() {
    const TURN: u64 = 1 << 27;
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let mut stream = stream();
    let number = |stream: &mut PacketStream, at: u64| {
        stream.event(&folder, (at, 3), &at.to_le_bytes()).unwrap();
    };
    number(&mut stream, AT);
    stream.begin_loss(&folder, AT + 1).unwrap();
    stream.begin_loss(&folder, AT + 2).unwrap();
    number(&mut stream, AT + 3);
    stream.end_loss(&folder, AT + TURN, 100).unwrap();
    for after in [3, 4, TURN] {
        number(&mut stream, AT + TURN + after);
    }
    stream.end_loss(&folder, AT + 3 * TURN, 20).unwrap();
    number(&mut stream, AT + 3 * TURN);
    stream.end(&folder, 0).unwrap();
    let told = told(&path, "process");
    let events: Vec<_> = told.lines().filter(|line| line.starts_with(' ')).collect();
    let times = [0, 3, TURN + 3, TURN + 4, 2 * TURN, 3 * TURN].map(|after| AT + after);
    assert_eq!(events, times.map(|at| format!("  {at} 3 tasks {at}")));
}

/// A packet ends when it is full, but not within a loss: the loss would be told as of that packet.
#[test]
fn packets_are_cut_outside_of_losses() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let mut stream = stream();
    let text = [vec![b'x'; 40_000], vec![0]].concat();
    let event = |stream: &mut PacketStream, at| {
        stream.event(&folder, (at, 2), &text).unwrap();
    };
    [1, 2, 3].into_iter().for_each(|at| event(&mut stream, at));
    stream.begin_loss(&folder, 5).unwrap();
    [6, 7, 8].into_iter().for_each(|at| event(&mut stream, at));
    stream.begin_loss(&folder, 9).unwrap();
    stream.end_loss(&folder, 10, 100).unwrap();
    event(&mut stream, 11);
    stream.end_loss(&folder, 12, 20).unwrap();
    event(&mut stream, 13);
    stream.end(&folder, 3).unwrap();
    let told = told(&path, "process");
    let packets = told.lines().filter(|line| line.starts_with("packet"));
    let expected = [
        "packet 0 1..2, 0 lost so far",
        "packet 1 3..5, 0 lost so far",
        "packet 2 5..12, 120 lost so far",
        "packet 3 13..13, 123 lost so far",
    ];
    assert_eq!(packets.collect::<Vec<_>>(), expected);
}

/// A loss may last for hours: what is in memory of its packet has a bound, and no count gets lost.
#[test]
fn a_long_loss_is_cut_into_packets() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let mut stream = stream();
    let text = [vec![b'x'; 1 << 20], vec![0]].concat();
    stream.begin_loss(&folder, 1).unwrap();
    for at in 2..=18 {
        stream.event(&folder, (at, 2), &text).unwrap();
    }
    stream.end_loss(&folder, 20, 7).unwrap();
    stream.end(&folder, 0).unwrap();
    let told = told(&path, "process");
    let packets = told.lines().filter(|line| line.starts_with("packet"));
    let expected = [
        "packet 0 1..1, 0 lost so far",
        "packet 1 1..9, 0 lost so far",
        "packet 2 10..17, 0 lost so far",
        "packet 3 18..20, 7 lost so far",
    ];
    assert_eq!(packets.collect::<Vec<_>>(), expected);
    assert_eq!(told.lines().count(), 4 + 17);
}

/// So many states that their numbers of tasks push each other out: wakes that are earlier are left
/// out, but a name is of use at any time.
#[test]
fn a_task_has_its_name_though_its_instant_is_over() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.ctf");
    let folder = TraceFolder::create(&path, false).unwrap();
    let mut process = ProcessStream::new([0; 16]);
    for nth in 0..PENDING as u64 + 2 {
        process.tasks(AT + 1_000 + nth, 1);
    }
    let woken = |start_unix_ns, task| PollEvent {
        start_unix_ns,
        task,
        wakeup: Some(WakeupEvent {
            latency_ns: 1,
            by: WokenBy::Unknown,
        }),
        ..PollEvent::default()
    };
    for poll in [woken(AT, CONN), woken(AT + 1, CONN + 1)] {
        process.poll(&folder, &Labels::default(), &poll).unwrap();
    }
    let (_, left_out) = process.end(&folder).unwrap();
    assert_eq!(left_out, 1, "the second wake");
    let told = told(&path, "process");
    for task in [CONN, CONN + 1] {
        assert!(told.contains(&format!(" 0 task {task}, name")), "{task}");
    }
}

/// Names of files say little: what is to be replaced has the metadata of a trace.
#[test]
fn a_folder_whose_files_only_have_the_names_is_left_alone() {
    for (file, text) in [("process", "mine"), ("metadata", "/* mine */")] {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("x.ctf");
        fs::create_dir(&path).unwrap();
        fs::write(path.join(file), text).unwrap();
        let fault = TraceFolder::create(&path, true).unwrap_err();
        assert!(fault.to_string().contains("metadata"), "{fault}");
        assert_eq!(fs::read_to_string(path.join(file)).unwrap(), text);
    }
    let parent = tempfile::tempdir().unwrap();
    TraceFolder::create(parent.path(), true).expect("an empty folder");
}
