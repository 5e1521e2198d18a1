//! Recordings: any bytes are refused or opened, and what is read can be recorded again, and
//! exported.

use std::io::Cursor;

use turbowish_model::account::time::Scale;
use turbowish_recording::{
    ClockReading, Compression, EventBatch, EventEncoder, LeftRings, Names, PollBatch, PollEncoder,
    Reader, RecordingError, Writer, ring_header, ring_span,
};

/// Chunks of each kind of one input that are read: a short input may hold thousands.
const READ: usize = 64;

/// Inputs of more bytes are not exported: each is read a dozen times.
const EXPORTED: usize = 64 << 10;

/// Opens the input as a file, and as the chunks that a process sends.
pub fn recording(input: &[u8]) {
    for opened in [
        Reader::open(Cursor::new(input)),
        Reader::of_chunks(Cursor::new(input)),
    ] {
        match opened {
            Ok(reader) => read(reader, input.len() as u64),
            Err(RecordingError::Io(why)) => panic!("memory can be read: {why}"),
            Err(other) => drop(other.to_string()),
        }
    }
}

/// Exports the input in every format. It takes fifty times as long as reading it.
pub fn exports(input: &[u8]) {
    if input.len() < EXPORTED {
        turbowish_cli::fuzzing::exports(input);
    }
}

fn read(mut reader: Reader<Cursor<&[u8]>>, len: u64) {
    let damage = reader.damage();
    assert!(damage.bytes <= len && damage.states <= damage.chunks);
    for nth in 0..reader.states().len().min(READ) {
        let entry = reader.states()[nth];
        assert!(
            reader
                .at(entry.at_unix_ns)
                .is_some_and(|found| found >= nth)
        );
        let Ok(state) = reader.snapshot(nth) else {
            continue;
        };
        let mut writer = Writer::begin(Vec::new(), Compression::Deflate).expect("memory");
        match writer.state(&state, entry.lost) {
            Ok(()) => {}
            Err(RecordingError::TooLarge) => continue,
            Err(other) => panic!("memory can be written: {other}"),
        }
        let again = writer.end().expect("memory");
        let mut again = Reader::open(Cursor::new(again)).expect("a file of ours");
        assert_eq!(again.snapshot(0).expect("a state of ours"), state);
        assert_eq!(again.states()[0].lost, entry.lost);
        assert!(again.damage().is_none());
    }
    for nth in 0..reader.marks().len().min(READ) {
        let _ = reader.mark(nth);
    }
    for nth in 0..reader.polls().len().min(READ) {
        let at = reader.polls()[nth].at_unix_ns;
        if let Ok(batch) = reader.batch(nth) {
            polls_again(at, &batch);
        }
    }
    for nth in 0..reader.events().len().min(READ) {
        let at = reader.events()[nth].at_unix_ns;
        if let Ok(batch) = reader.event_batch(nth) {
            events_again(at, &batch);
        }
    }
    if let Ok((names, _)) = reader.names() {
        look_up(&names);
    }
}

/// Polls that were read are the same when they are written and read again.
fn polls_again(at: u64, batch: &PollBatch) {
    assert_eq!(written(at, batch), *batch);
}

fn written(at: u64, batch: &PollBatch) -> PollBatch {
    let mut encoder = PollEncoder::begin(at, batch.thread, batch.first, batch.lost);
    batch.polls.iter().for_each(|poll| encoder.push(poll));
    PollBatch::read(at, &encoder.end()).expect("polls of ours")
}

fn events_again(at: u64, batch: &EventBatch) {
    let mut encoder = EventEncoder::begin(at, batch.thread, batch.lost);
    batch.events.iter().for_each(|event| encoder.push(event));
    let again = EventBatch::read(at, &encoder.end()).expect("events of ours");
    assert_eq!(again, *batch);
}

/// Names that do not belong together: a path may lead to itself.
fn look_up(names: &Names) {
    for number in (0..64).chain([u32::MAX]) {
        let calls = [names.path(number), names.chain(number)].concat();
        let procs = calls.iter().filter_map(|call| names.proc(call.proc));
        let _ = procs.map(|proc| proc.awaits.len()).sum::<usize>();
        let _ = (names.thread(number), names.event(number));
    }
}

/// The bodies of chunks: a checksum guards them in a file, so that few changed files come this far.
pub fn bodies(input: &[u8]) {
    const AT: u64 = 1 << 60;
    if let Some(batch) = PollBatch::read(AT, input) {
        polls_again(AT, &batch);
    }
    if let Some(batch) = EventBatch::read(AT, input) {
        events_again(AT, &batch);
    }
    let mut names = Names::default();
    if names.read(input) {
        look_up(&names);
    }
}

/// A dead process has left this in its first ring. The file of rings takes a third of a megabyte,
/// and so this takes much longer than [`bodies`].
pub fn rings(input: &[u8]) {
    let clock = ClockReading {
        scale: Scale::new(3, 1),
        ticks: 1 << 20,
        unix_ns: 1 << 60,
    };
    let (begin, end) = ring_span(0);
    let mut file = ring_header(&clock).to_vec();
    file.resize(begin as usize, 0);
    file.extend(input.iter().take((end - begin) as usize));
    file.resize(end as usize, 0);
    let rings = LeftRings::read(Cursor::new(file)).expect("a file of rings");
    for thread in rings.threads().collect::<Vec<_>>() {
        for from in [None, Some(0), Some(1), Some(u64::MAX)] {
            let left = rings.polls(thread, from);
            if let Some(first) = left.batch.polls.first() {
                // Of those that overlap, the later one is written as beginning where it can.
                let at = first.start_unix_ns;
                let once = written(at, &left.batch);
                assert_eq!(once.polls.len(), left.batch.polls.len());
                polls_again(at, &once);
            }
        }
    }
}
