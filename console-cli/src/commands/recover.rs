//! `turbowish recover`: one file of what a process has left beside its socket: its recording, and
//! the last polls of its threads.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};

use turbowish_recording::{
    ChunkHeader, ChunkKind, FILE_HEADER, LeftPolls, LeftRings, PollBatch, PollEncoder, Reader,
    RecordingError, encode,
};
use turbowish_wire::discovery::{self, Recording};

use crate::args::RecoverArgs;
use crate::failure::{Failure, note, print_lines};
use crate::plain_text;
use crate::recording;

/// Runs the command.
///
/// # Errors
/// There is no such recording, it cannot be read, or the file cannot be written.
pub(crate) fn run(args: &RecoverArgs) -> Result<(), Failure> {
    let pid = args.pid;
    let left = recordings().into_iter().find(|left| left.pid == pid);
    let left = left.ok_or_else(|| {
        Failure::target(format!(
            "process {pid} has left no recording: `turbowish ps` lists those that have"
        ))
    })?;
    let mut whole = Whole::read(&left).map_err(|fault| {
        Failure::Local(format!(
            "cannot read the recording of process {pid}: {fault}"
        ))
    })?;
    // The rings of a process that lives change while they are read.
    if let Some(path) = left.ring.as_ref().filter(|_| !left.lives)
        && let Err(fault) = rings(path).map(|rings| whole.add_rings(&rings, left.segments.len()))
    {
        note(&format!(
            "without the last polls of process {pid}: {}: {fault}",
            path.display()
        ));
    }
    let Some(span) = whole.span.or(whole.polls.span) else {
        return Err(Failure::Local(format!(
            "the recording of process {pid} has no state, and no poll"
        )));
    };
    let default = || PathBuf::from(format!("{pid}.tw"));
    let out = args.out.clone().unwrap_or_else(default);
    write(&out, &whole.chunks)
        .map_err(|cause| Failure::local(&format!("cannot write {}", out.display()), &cause))?;
    let of = format!("process {pid}");
    let mut lines = vec![recording::summary(
        &out,
        whole.states,
        &of,
        span,
        whole.lost,
    )];
    lines.extend(whole.polls.line());
    print_lines(&lines)
}

/// The rings in a file.
fn rings(path: &Path) -> Result<LeftRings, RecordingError> {
    LeftRings::read(File::open(path)?)
}

/// The recordings in all folders of this user.
pub(super) fn recordings() -> Vec<Recording> {
    let folders = discovery::folders();
    // A folder that cannot be read is reported by the list of processes.
    let found = folders
        .iter()
        .filter_map(|folder| discovery::recordings(folder).ok());
    found.flatten().collect()
}

/// From when to when a process has left something.
pub(super) fn span(left: &Recording) -> Option<(u64, u64)> {
    let whole = Whole::read(left).ok();
    let ring = left.ring.as_ref().and_then(|path| rings(path).ok());
    let mut polls = whole
        .as_ref()
        .map_or_else(Polls::default, |whole| whole.polls.clone());
    for thread in ring.iter().flat_map(LeftRings::threads) {
        let left = ring.as_ref().map(|ring| ring.polls(thread, None));
        polls.add(&left.unwrap_or_default().batch);
    }
    let spans = [whole.and_then(|whole| whole.span), polls.span];
    spans.into_iter().flatten().reduce(around)
}

/// The span of two spans.
fn around(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// What is known of the polls of a recording.
#[derive(Clone, Default)]
struct Polls {
    count: u64,
    /// Those that no chunk had: they were in the rings.
    from_rings: u64,
    lost: u64,
    damaged: u64,
    /// Begin of the first one, and end of the last one.
    span: Option<(u64, u64)>,
    /// Number of the next poll of each thread, and the end of the last one.
    next: BTreeMap<u32, (u64, u64)>,
}

impl Polls {
    fn add(&mut self, batch: &PollBatch) {
        self.lost += batch.lost;
        let [first, ..] = &batch.polls[..] else {
            return;
        };
        self.count += batch.polls.len() as u64;
        let end = batch.polls.last().unwrap_or(first).end_unix_ns();
        let span = (first.start_unix_ns, end);
        self.span = Some(self.span.map_or(span, |before| around(before, span)));
        let (next, until) = self.next.entry(batch.thread).or_default();
        (*next, *until) = (batch.next().max(*next), end.max(*until));
    }

    /// The line about them.
    fn line(&self) -> Option<String> {
        let (_, end) = self.span?;
        let Self {
            count,
            from_rings,
            lost,
            damaged,
            ..
        } = self;
        let damaged = match damaged {
            0 => String::new(),
            count => format!(", {count} damaged"),
        };
        Some(format!(
            "{count} polls, {from_rings} of them from its last moments, the last one until {}, {lost} lost{damaged}",
            plain_text::clock_ms(end)
        ))
    }
}

/// The whole chunks of a recording.
pub(super) struct Whole {
    chunks: Vec<Vec<u8>>,
    states: usize,
    lost: u64,
    /// Times of the first and of the last state.
    span: Option<(u64, u64)>,
    polls: Polls,
}

impl Whole {
    /// Reads the files of a recording. A chunk that was cut off by the end of the process is left
    /// out.
    pub(super) fn read(left: &Recording) -> Result<Self, RecordingError> {
        let mut whole = Self {
            chunks: Vec::new(),
            states: 0,
            lost: 0,
            span: None,
            polls: Polls::default(),
        };
        for path in &left.segments {
            match fs::read(path) {
                Ok(bytes) => whole.add(&bytes)?,
                // The process lives, and has just made it the earlier one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(whole)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        if bytes.len() < FILE_HEADER.len() {
            // The process ended when it had just made this file.
            return Ok(());
        }
        let mut reader = Reader::open(Cursor::new(bytes))?;
        for nth in 0..reader.polls().len() {
            match reader.batch(nth) {
                Ok(batch) => self.polls.add(&batch),
                // It stays as it is.
                Err(RecordingError::Body { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        let states = reader.states().iter().map(|state| state.offset);
        let marks = reader.marks().iter().map(|mark| mark.offset);
        let polls = reader.polls().iter().map(|polls| polls.offset);
        let names = reader.name_offsets().iter().copied();
        let events = reader.events().iter().map(|events| events.offset);
        let calls = reader.calls().iter().map(|calls| calls.offset);
        let activity = polls.chain(events).chain(calls).chain(names);
        let mut offsets: Vec<u64> = states.chain(marks).chain(activity).collect();
        offsets.sort_unstable();
        let chunks = offsets
            .into_iter()
            .filter_map(|offset| chunk(bytes, offset));
        self.chunks.extend(chunks.map(<[u8]>::to_vec));
        self.states += reader.states().len();
        self.lost += reader.lost();
        if let [first, ..] = reader.states()
            && let [.., last] = reader.states()
        {
            let from = self.span.map_or(first.at_unix_ns, |(from, _)| from);
            self.span = Some((from, last.at_unix_ns));
        }
        Ok(())
    }
}

impl Whole {
    /// Adds the polls that are in the rings and in no chunk of the files, of which there are so
    /// many.
    fn add_rings(&mut self, rings: &LeftRings, files: usize) {
        for thread in rings.threads() {
            let known = self.polls.next.get(&thread).copied();
            // What was in an earlier file than these is not lost.
            let begin = (files < 2).then_some(0);
            let from = known.map(|(next, _)| next).or(begin);
            let LeftPolls { batch, damaged } = rings.polls(thread, from);
            self.polls.damaged += damaged;
            let [first, ..] = &batch.polls[..] else {
                continue;
            };
            let until = known.map_or(0, |(_, until)| until);
            let at_unix_ns = first.start_unix_ns.max(until);
            let mut encoder = PollEncoder::begin(at_unix_ns, thread, batch.first, batch.lost);
            batch.polls.iter().for_each(|poll| encoder.push(poll));
            let chunk = encode(ChunkKind::Polls, at_unix_ns, 0, &encoder.end());
            self.chunks.extend(chunk);
            self.polls.from_rings += batch.polls.len() as u64;
            self.polls.add(&batch);
        }
    }
}

/// The chunk that begins there.
fn chunk(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    ChunkHeader::split(rest).map(|(_, chunk, _)| chunk)
}

/// Writes a new file.
fn write(path: &Path, chunks: &[Vec<u8>]) -> io::Result<()> {
    let mut file = recording::create(path, false)?;
    file.write_all(&FILE_HEADER)?;
    chunks.iter().try_for_each(|chunk| file.write_all(chunk))
}
