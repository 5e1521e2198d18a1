//! The metadata of a trace: what is in its packets, in the language of CTF 1.8 (TSDL).

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::RangeInclusive;

use turbowish_model::account::poll_ring::PollOutcome;

use super::super::chrome::outcome;

/// The streams' classes.
pub(super) const OF_THREAD: u32 = 0;
pub(super) const OF_PROCESS: u32 = 1;

/// Numbers of the events of a thread. Those of the program's own follow.
pub(super) const POLL_BEGIN: u32 = 0;
pub(super) const POLL_END: u32 = 1;
pub(super) const WAIT: u32 = 2;
pub(super) const GAVE_UP: u32 = 3;
pub(super) const HOLD: u32 = 4;
pub(super) const FIRST_USER: u32 = 5;

/// Numbers of the events of the process.
pub(super) const TASK: u32 = 0;
pub(super) const READY: u32 = 1;
pub(super) const MARK: u32 = 2;
pub(super) const TASKS: u32 = 3;

/// Who woke a task, as a number.
pub(super) const BY: [&str; 3] = ["unknown", "task", "thread"];

/// The codes of all outcomes.
const OUTCOMES: RangeInclusive<u8> = 0..=4;

/// What is before the names of a trace.
const TYPES: &str = "\
/* CTF 1.8 */
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;

";

/// What describes the streams. All times are of one clock, nanoseconds since 1970.
const STREAMS: &str = r#"
clock {
	name = realtime;
	description = "nanoseconds since 1970";
	freq = 1000000000;
	offset_s = 0;
	absolute = true;
};
typealias integer { size = 27; align = 1; signed = false; map = clock.realtime.value; } := time27_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.realtime.value; } := time64_t;
struct event_header {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { time27_t timestamp; } compact;
		struct { uint32_t id; time64_t timestamp; } extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct event_header;
	packet.context := struct {
		time64_t timestamp_begin;
		time64_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t thread;
		string thread_name;
	};
};

stream {
	id = 1;
	event.header := struct event_header;
	packet.context := struct {
		time64_t timestamp_begin;
		time64_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
	};
};

"#;

/// What the metadata of a trace has beside what is always there.
#[derive(Debug, Default)]
pub(super) struct TraceNames {
    pub(super) uuid: [u8; 16],
    pub(super) process: String,
    pub(super) pid: u32,
    pub(super) functions: BTreeMap<u16, String>,
    pub(super) awaits: Vec<String>,
    /// The program's own events in the order of their numbers: their names, and those of their
    /// numbers.
    pub(super) events: Vec<(String, Vec<String>)>,
}

/// A text as a literal.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            if matches!(letter, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(letter)?;
        }
        f.write_char('"')
    }
}

/// The numbers of a trace as 8-4-4-4-12 hexadecimal digits.
fn uuid(bytes: [u8; 16]) -> String {
    let mut text = String::new();
    for (nth, byte) in bytes.iter().enumerate() {
        if matches!(nth, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

/// A type of numbers with names.
fn names<'a>(of: &str, size: &str, names: impl Iterator<Item = (usize, &'a str)>) -> String {
    let names = names.map(|(number, name)| format!("\t{} = {number},\n", Quoted(name)));
    format!("enum {of} : {size} {{\n{}}};\n", names.collect::<String>())
}

/// An event of a stream.
fn event(stream: u32, id: u32, name: &str, fields: &str) -> String {
    format!(
        "event {{ name = {}; id = {id}; stream_id = {stream}; fields := struct {{ {fields} }}; }};\n",
        Quoted(name)
    )
}

/// The names of the numbers of an event as fields: readers strip the underscore, without which a
/// name could be a word of the language.
fn fields(keys: &[String]) -> String {
    let mut used: Vec<String> = vec!["_task".to_owned()];
    for key in keys {
        let letter = |letter: char| match letter.is_ascii_alphanumeric() {
            true => letter,
            false => '_',
        };
        let mut name: String = std::iter::once('_')
            .chain(key.chars().map(letter))
            .collect();
        while used.contains(&name) {
            name.push('_');
        }
        used.push(name);
    }
    let numbers = used[1..].iter().map(|name| format!(" int64_t {name};"));
    format!("uint64_t _task;{}", numbers.collect::<String>())
}

impl TraceNames {
    /// The metadata.
    pub(super) fn text(&self) -> String {
        let mut text = TYPES.to_owned();
        let outcomes = OUTCOMES.map(|code| (usize::from(code), outcome(PollOutcome::of(code))));
        let awaits = self.awaits.iter().map(String::as_str).enumerate();
        let functions = self.functions.iter();
        let functions = functions.map(|(number, name)| (usize::from(*number), &**name));
        text += &names("function", "uint16_t", functions);
        text += &names("await", "uint32_t", awaits);
        text += &names("outcome", "uint8_t", outcomes);
        text += &names("by", "uint8_t", BY.into_iter().enumerate());
        text += &format!(
            "\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = le;\n\tpacket.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }};\n}};\n",
            uuid(self.uuid)
        );
        text += &format!(
            "env {{\n\ttracer_name = \"turbowish\";\n\tprocname = {};\n\tvpid = {};\n}};\n",
            Quoted(&self.process),
            self.pid
        );
        text += STREAMS;
        self.events(&mut text);
        text
    }

    fn events(&self, text: &mut String) {
        const SPAN: &str =
            "uint64_t task; string resource; string role; uint32_t amount; uint64_t duration_ns;";
        let of_thread = [
            (
                POLL_BEGIN,
                "poll_begin",
                "uint64_t task; enum function root; enum function call;",
            ),
            (
                POLL_END,
                "poll_end",
                "enum outcome outcome; enum await waits_at;",
            ),
            (WAIT, "wait", SPAN),
            (GAVE_UP, "gave_up", SPAN),
            (HOLD, "hold", SPAN),
        ];
        let of_process = [
            (TASK, "task", "uint64_t task; string name;"),
            (READY, "ready", "uint64_t task; enum by by; uint64_t waker;"),
            (MARK, "mark", "string text;"),
            (TASKS, "tasks", "uint64_t number;"),
        ];
        for (id, name, fields) in of_thread {
            *text += &event(OF_THREAD, id, name, fields);
        }
        for (id, (name, keys)) in (FIRST_USER..).zip(&self.events) {
            *text += &event(OF_THREAD, id, name, &fields(keys));
        }
        for (id, name, fields) in of_process {
            *text += &event(OF_PROCESS, id, name, fields);
        }
    }
}
