//! pprof: `profile.proto`, compressed with gzip, for `go tool pprof`, Pyroscope, Speedscope and
//! others. A sample is a stack with its number of polls and its time running, ready and waiting.

mod message;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek, Write};

use miniz_oxide::deflate::compress_to_vec;
use prost::Message;
use turbowish_model::snapshot::units;

use self::message::{
    FunctionMessage, LineMessage, LocationMessage, MappingMessage, ProfileMessage, SampleMessage,
    ValueTypeMessage,
};
use super::stacks::{self, StackFrame, StackTimes};
use super::timeline::Totals;
use super::{ExportError, Labels, Timeline};

/// The values of a sample, with their units.
const TYPES: [(&str, &str); 4] = [
    ("polls", "count"),
    ("running", "nanoseconds"),
    ("ready", "nanoseconds"),
    ("waiting", "nanoseconds"),
];

/// The number of the one mapping: the program.
const PROGRAM: u64 = 1;

/// Writes a timeline.
///
/// # Errors
/// The recording cannot be read, or the output takes no bytes.
pub(crate) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    out: &mut dyn Write,
) -> Result<Totals, ExportError> {
    let (sums, totals) = stacks::sums(timeline)?;
    // In one order, so that a recording always makes the same bytes.
    let mut samples: BTreeMap<Vec<StackFrame>, StackTimes> = BTreeMap::new();
    for (stack, times) in sums {
        *samples.entry(stack.frames(labels)).or_default() += times;
    }
    let range = timeline.range();
    let mut profile = Profile::new(&labels.process());
    profile.message.time_nanos = signed(range.from);
    profile.message.duration_nanos = signed(range.to.saturating_sub(range.from));
    for (frames, times) in &samples {
        profile.sample(frames, *times);
    }
    for comment in comments(labels, totals) {
        let comment = profile.text(&comment);
        profile.message.comment.push(comment);
    }
    out.write_all(&gzip(&profile.message.encode_to_vec()))?;
    Ok(totals)
}

/// A gzip file (RFC 1952) without a name and a time.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    const DEFLATE: u8 = 8;
    const NO_SYSTEM: u8 = 255;
    let mut file = vec![0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, 0, NO_SYSTEM];
    file.extend(compress_to_vec(bytes, 6));
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    // The last 32 bits of the length.
    file.extend_from_slice(&bytes.len().to_le_bytes()[..4]);
    file
}

/// What a reader should know beside the numbers.
fn comments(labels: &Labels, totals: Totals) -> Vec<String> {
    let mut comments = vec![format!(
        "recorded by TurboWish: {} {}",
        labels.process(),
        labels.pid()
    )];
    for (number, what) in [
        (totals.lost, "polls are lost: they were not recorded"),
        (totals.overlaps, "polls are left out: they overlap others"),
    ] {
        if number > 0 {
            comments.push(format!("{} {what}", units::count(number)));
        }
    }
    comments
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A profile that is made.
struct Profile {
    message: ProfileMessage,
    texts: HashMap<String, i64>,
    /// Numbers by name, file and first line.
    functions: HashMap<(i64, i64, u32), u64>,
    /// Numbers by function and line.
    locations: HashMap<(u64, u32), u64>,
}

impl Profile {
    fn new(program: &str) -> Self {
        let mut profile = Self {
            message: ProfileMessage::default(),
            texts: HashMap::new(),
            functions: HashMap::new(),
            locations: HashMap::new(),
        };
        profile.text("");
        profile.message.sample_type = TYPES
            .map(|(name, unit)| ValueTypeMessage {
                r#type: profile.text(name),
                unit: profile.text(unit),
            })
            .to_vec();
        profile.message.default_sample_type = profile.text("running");
        profile.message.mapping = vec![MappingMessage {
            id: PROGRAM,
            filename: profile.text(program),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }];
        profile
    }

    /// The number of a text.
    fn text(&mut self, text: &str) -> i64 {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let number = signed(self.message.string_table.len() as u64);
        self.message.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), number);
        number
    }

    /// The number of a function.
    fn function(&mut self, frame: &StackFrame) -> u64 {
        let (name, file) = (self.text(&frame.name), self.text(&frame.file));
        let next = self.functions.len() as u64 + 1;
        let key = (name, file, frame.begin);
        *self.functions.entry(key).or_insert_with(|| {
            self.message.function.push(FunctionMessage {
                id: next,
                name,
                system_name: name,
                filename: file,
                start_line: frame.begin.into(),
            });
            next
        })
    }

    /// The number of a place.
    fn location(&mut self, frame: &StackFrame) -> u64 {
        let function = self.function(frame);
        let next = self.locations.len() as u64 + 1;
        let key = (function, frame.line);
        *self.locations.entry(key).or_insert_with(|| {
            self.message.location.push(LocationMessage {
                id: next,
                mapping_id: PROGRAM,
                line: vec![LineMessage {
                    function_id: function,
                    line: frame.line.into(),
                }],
            });
            next
        })
    }

    fn sample(&mut self, frames: &[StackFrame], times: StackTimes) {
        let location_id = frames.iter().rev().map(|frame| self.location(frame));
        let location_id = location_id.collect();
        let StackTimes {
            polls,
            running_ns,
            ready_ns,
            waiting_ns,
        } = times;
        let value = [polls, running_ns, ready_ns, waiting_ns].map(signed);
        self.message.sample.push(SampleMessage {
            location_id,
            value: value.to_vec(),
        });
    }
}

#[cfg(test)]
mod tests;
