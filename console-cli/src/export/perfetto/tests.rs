//! What a reader of Perfetto's traces finds in that of the small recording.

use std::collections::{BTreeMap, HashMap};

use miniz_oxide::inflate::decompress_to_vec_zlib;
use prost::Message;

use super::super::tests::{bytes_with_events, timeline_of};
use super::message::{
    AnnotationMessage, INCREMENTAL, NameMessage, PacketMessage, STATE_CLEARED, TraceMessage,
    TrackMessage,
};
use super::{FIRST_TASK, write};

/// The packets of a trace, unpacked.
fn packets(bytes: &[u8]) -> Vec<PacketMessage> {
    let outer = TraceMessage::decode(bytes).unwrap();
    let unpacked = outer.packet.iter().flat_map(|packet| {
        let bytes = decompress_to_vec_zlib(&packet.compressed_packets).unwrap();
        TraceMessage::decode(&bytes[..]).unwrap().packet
    });
    unpacked.collect()
}

/// What a sequence has defined.
#[derive(Default)]
struct Sequence {
    clock: Option<u64>,
    categories: HashMap<u64, String>,
    names: HashMap<u64, String>,
    keys: HashMap<u64, String>,
    texts: HashMap<u64, String>,
}

impl Sequence {
    fn annotation(&self, annotation: &AnnotationMessage) -> String {
        let key = &self.keys[&annotation.name_iid];
        let numbers = annotation.uint_value.map(|number| number.to_string());
        let numbers = numbers.or(annotation.int_value.map(|number| number.to_string()));
        let text = || format!("{:?}", self.texts[&annotation.string_value_iid.unwrap()]);
        format!("{key}={}", numbers.unwrap_or_else(text))
    }

    fn reads(&mut self, packet: &PacketMessage) {
        let all = packet.interned_data.clone().unwrap_or_default();
        let define = |names: &mut HashMap<u64, String>, new: Vec<NameMessage>| {
            for NameMessage { iid, name } in new {
                assert_eq!(names.insert(iid, name), None);
            }
        };
        define(&mut self.categories, all.event_categories);
        define(&mut self.names, all.event_names);
        define(&mut self.keys, all.debug_annotation_names);
        define(&mut self.texts, all.debug_annotation_string_values);
    }
}

fn described(track: &TrackMessage) -> String {
    let parent = track.parent_uuid;
    let mut told = format!("track {:#x} of {parent:#x}", track.uuid);
    for name in track.name.iter() {
        told += &format!(" {name:?}");
    }
    for process in track.process.iter() {
        told += &format!(" process {} {}", process.pid, process.process_name);
    }
    for thread in track.thread.iter() {
        told += &format!(" thread {} {}", thread.tid, thread.thread_name);
    }
    told
}

/// Lines of tracks in their order, and of events by track and time.
fn told(packets: &[PacketMessage]) -> String {
    let mut sequences: HashMap<u32, Sequence> = HashMap::new();
    let (mut tracks, mut events) = (Vec::new(), BTreeMap::new());
    for (nth, packet) in packets.iter().enumerate() {
        let number = packet.trusted_packet_sequence_id;
        if packet.sequence_flags == STATE_CLEARED {
            let clocks = packet.clock_snapshot.clone().unwrap().clocks;
            let clock = clocks.iter().find(|clock| clock.clock_id == INCREMENTAL);
            let begun = Sequence {
                clock: clock.map(|clock| clock.timestamp),
                ..Sequence::default()
            };
            assert!(sequences.insert(number, begun).is_none());
        }
        let sequence = sequences.get_mut(&number).unwrap();
        sequence.reads(packet);
        tracks.extend(packet.track_descriptor.iter().map(described));
        let (Some(event), Some(time)) = (&packet.track_event, packet.timestamp) else {
            continue;
        };
        let at = match &mut sequence.clock {
            Some(clock) => {
                *clock += time;
                *clock
            }
            None => time,
        };
        let mut line = format!("{:#x} {at} ", event.track_uuid);
        line += ["", "begin", "end", "instant", "counter"][usize::try_from(event.r#type).unwrap()];
        let categories = event.category_iids.iter();
        line.extend(categories.map(|iid| format!(" [{}]", sequence.categories[iid])));
        line.extend(
            event
                .name_iid
                .map(|iid| format!(" {:?}", sequence.names[&iid])),
        );
        let annotations = event.debug_annotations.iter();
        line.extend(annotations.map(|annotation| format!(" {}", sequence.annotation(annotation))));
        line.extend(event.counter_value.map(|value| format!(" {value}")));
        line.extend(
            event
                .flow_ids
                .iter()
                .map(|id| format!(" arrow {id} from here")),
        );
        let ends = event.terminating_flow_ids.iter();
        line.extend(ends.map(|id| format!(" arrow {id} to here")));
        events.insert((event.track_uuid, at, nth), line);
    }
    tracks.extend(events.into_values());
    tracks.join("\n")
}

/// What a reader finds in a trace.
pub(in super::super) fn lines(trace: &[u8]) -> String {
    told(&packets(trace))
}

fn exported(bytes: Vec<u8>) -> Vec<PacketMessage> {
    let (mut timeline, labels) = timeline_of(bytes);
    let mut out = Vec::new();
    write(&mut timeline, &labels, &mut out).unwrap();
    packets(&out)
}

#[test]
fn a_trace_has_slices_of_threads_resources_and_tasks_and_says_what_is_lost() {
    insta::assert_snapshot!("perfetto", told(&exported(bytes_with_events())));
}

/// Waits and holds that overlap are on tracks of their own; those of a task are one after another.
#[test]
fn slices_of_a_track_follow_one_another() {
    let told = told(&exported(bytes_with_events()));
    let mut open: HashMap<&str, bool> = HashMap::new();
    for line in told.lines().filter(|line| !line.starts_with("track")) {
        let (track, rest) = line.split_once(' ').unwrap();
        let (_, kind) = rest.split_once(' ').unwrap();
        let is_open = open.entry(track).or_default();
        if kind.starts_with("begin") {
            assert!(!*is_open, "{told}");
            *is_open = true;
        } else if kind.starts_with("end") {
            assert!(*is_open, "{told}");
            *is_open = false;
        }
    }
    assert!(open.values().all(|is_open| !is_open), "{told}");
    let of_tasks = format!("{FIRST_TASK:#x}");
    assert!(open.contains_key(&*of_tasks), "{told}");
}
