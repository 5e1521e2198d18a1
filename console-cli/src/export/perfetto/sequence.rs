//! Sequences: packets with one clock and one set of numbers for names.

use std::collections::HashMap;
use std::io;
use std::mem::take;

use super::message::{
    AnnotationMessage, ClockMessage, ClockSnapshotMessage, DefaultsMessage, INCREMENTAL,
    InternedMessage, NEEDS_STATE, NameMessage, PacketMessage, REALTIME, STATE_CLEARED,
    TrackEventMessage, TrackMessage,
};
use super::packets::PacketWriter;

/// What an event is to its track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TrackEventKind {
    Begin = 1,
    End = 2,
    #[default]
    Instant = 3,
    Counter = 4,
}

/// An event of a track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrackEvent {
    pub(super) kind: TrackEventKind,
    pub(super) track: u64,
    pub(super) category: Option<&'static str>,
    pub(super) name: Option<String>,
    pub(super) annotations: Vec<(String, AnnotationValue)>,
    /// An arrow that begins here.
    pub(super) flow: Option<u64>,
    /// An arrow that ends here.
    pub(super) flow_end: Option<u64>,
    pub(super) counter: Option<i64>,
}

/// What is known beside the name of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnnotationValue {
    Text(String),
    Unsigned(u64),
    Signed(i64),
}

/// Numbers for texts, from 1, and those that are new since the last packet.
#[derive(Debug, Default)]
struct Interned {
    numbers: HashMap<String, u64>,
    new: Vec<NameMessage>,
}

impl Interned {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let iid = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.to_owned(), iid);
        self.new.push(NameMessage {
            iid,
            name: text.to_owned(),
        });
        iid
    }
}

/// A sequence of packets.
#[derive(Debug)]
pub(super) struct PacketSequence {
    id: u32,
    /// The time of the last packet, if each has the difference to the one before.
    last: Option<u64>,
    categories: Interned,
    names: Interned,
    keys: Interned,
    texts: Interned,
}

impl PacketSequence {
    /// Begins a sequence whose events are in the order of their times, none before `begin`.
    pub(super) fn ordered(out: &mut PacketWriter<'_>, id: u32, begin: u64) -> io::Result<Self> {
        Self::begin(out, id, begin, Some(begin))
    }

    /// Begins a sequence whose events have no order.
    pub(super) fn unordered(out: &mut PacketWriter<'_>, id: u32, begin: u64) -> io::Result<Self> {
        Self::begin(out, id, begin, None)
    }

    fn begin(
        out: &mut PacketWriter<'_>,
        id: u32,
        begin: u64,
        last: Option<u64>,
    ) -> io::Result<Self> {
        let clock = |clock_id, is_incremental| ClockMessage {
            clock_id,
            timestamp: begin,
            is_incremental,
        };
        let mut clocks = vec![clock(REALTIME, false)];
        let timestamp_clock_id = match last {
            Some(_) => INCREMENTAL,
            None => REALTIME,
        };
        if last.is_some() {
            clocks.push(clock(INCREMENTAL, true));
        }
        out.push(PacketMessage {
            trusted_packet_sequence_id: id,
            sequence_flags: STATE_CLEARED,
            clock_snapshot: Some(ClockSnapshotMessage {
                clocks,
                primary_trace_clock: REALTIME,
            }),
            trace_packet_defaults: Some(DefaultsMessage { timestamp_clock_id }),
            ..PacketMessage::default()
        })?;
        Ok(Self {
            id,
            last,
            categories: Interned::default(),
            names: Interned::default(),
            keys: Interned::default(),
            texts: Interned::default(),
        })
    }

    /// Describes a track.
    pub(super) fn track(&self, out: &mut PacketWriter<'_>, track: TrackMessage) -> io::Result<()> {
        out.push(PacketMessage {
            trusted_packet_sequence_id: self.id,
            track_descriptor: Some(track),
            ..PacketMessage::default()
        })
    }

    /// Adds an event, `at` nanoseconds since 1970.
    pub(super) fn event(
        &mut self,
        out: &mut PacketWriter<'_>,
        at: u64,
        event: TrackEvent,
    ) -> io::Result<()> {
        let timestamp = match &mut self.last {
            Some(last) => {
                let passed = at.saturating_sub(*last);
                *last += passed;
                passed
            }
            None => at,
        };
        let track_event = self.message(event);
        out.push(PacketMessage {
            timestamp: Some(timestamp),
            trusted_packet_sequence_id: self.id,
            sequence_flags: NEEDS_STATE,
            track_event: Some(track_event),
            interned_data: self.interned(),
            ..PacketMessage::default()
        })
    }

    fn message(&mut self, event: TrackEvent) -> TrackEventMessage {
        let name_iid = event.name.map(|name| self.names.number(&name));
        let category = event.category.map(|name| self.categories.number(name));
        let annotations = event.annotations.into_iter();
        TrackEventMessage {
            category_iids: category.into_iter().collect(),
            debug_annotations: annotations
                .map(|(key, annotation)| self.annotation(&key, annotation))
                .collect(),
            r#type: event.kind as i32,
            name_iid,
            track_uuid: event.track,
            counter_value: event.counter,
            flow_ids: event.flow.into_iter().collect(),
            terminating_flow_ids: event.flow_end.into_iter().collect(),
        }
    }

    fn annotation(&mut self, key: &str, value: AnnotationValue) -> AnnotationMessage {
        let mut annotation = AnnotationMessage {
            name_iid: self.keys.number(key),
            ..AnnotationMessage::default()
        };
        match value {
            AnnotationValue::Text(text) => {
                annotation.string_value_iid = Some(self.texts.number(&text))
            }
            AnnotationValue::Unsigned(number) => annotation.uint_value = Some(number),
            AnnotationValue::Signed(number) => annotation.int_value = Some(number),
        }
        annotation
    }

    /// The names that are used for the first time.
    fn interned(&mut self) -> Option<InternedMessage> {
        let interned = InternedMessage {
            event_categories: take(&mut self.categories.new),
            event_names: take(&mut self.names.new),
            debug_annotation_names: take(&mut self.keys.new),
            debug_annotation_string_values: take(&mut self.texts.new),
        };
        (interned != InternedMessage::default()).then_some(interned)
    }
}
