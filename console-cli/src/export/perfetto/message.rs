//! Messages of Perfetto's `trace.proto`, as far as they are written.

/// `Trace`, and what is compressed in a packet.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TraceMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<PacketMessage>,
}

/// `TracePacket`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PacketMessage {
    #[prost(message, optional, tag = "6")]
    pub(super) clock_snapshot: Option<ClockSnapshotMessage>,
    /// In the sequence's clock.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    pub(super) trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEventMessage>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedMessage>,
    #[prost(uint32, tag = "13")]
    pub(super) sequence_flags: u32,
    /// A `Trace`, compressed by zlib.
    #[prost(bytes = "vec", tag = "50")]
    pub(super) compressed_packets: Vec<u8>,
    #[prost(message, optional, tag = "59")]
    pub(super) trace_packet_defaults: Option<DefaultsMessage>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackMessage>,
}

/// What went before in the sequence does not count.
pub(super) const STATE_CLEARED: u32 = 1;
/// The packet has numbers of the sequence's interned names.
pub(super) const NEEDS_STATE: u32 = 2;

/// `ClockSnapshot`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ClockSnapshotMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) clocks: Vec<ClockMessage>,
    #[prost(uint32, tag = "2")]
    pub(super) primary_trace_clock: u32,
}

/// `ClockSnapshot.Clock`
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub(super) struct ClockMessage {
    #[prost(uint32, tag = "1")]
    pub(super) clock_id: u32,
    #[prost(uint64, tag = "2")]
    pub(super) timestamp: u64,
    /// Each time is a difference to that of the packet before.
    #[prost(bool, tag = "3")]
    pub(super) is_incremental: bool,
}

/// Nanoseconds since 1970.
pub(super) const REALTIME: u32 = 1;
/// The first number for clocks of a sequence's own.
pub(super) const INCREMENTAL: u32 = 64;

/// `TracePacketDefaults`
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub(super) struct DefaultsMessage {
    #[prost(uint32, tag = "58")]
    pub(super) timestamp_clock_id: u32,
}

/// `TrackDescriptor`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackMessage {
    #[prost(uint64, tag = "1")]
    pub(super) uuid: u64,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<ProcessMessage>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadMessage>,
    #[prost(uint64, tag = "5")]
    pub(super) parent_uuid: u64,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<CounterMessage>,
    #[prost(int32, tag = "12")]
    pub(super) sibling_order_rank: i32,
    #[prost(int32, tag = "15")]
    pub(super) sibling_merge_behavior: i32,
    #[prost(uint64, optional, tag = "17")]
    pub(super) sibling_merge_key_int: Option<u64>,
}

/// Tracks of one name are not drawn as one.
pub(super) const MERGE_NONE: i32 = 2;
/// Tracks with one key are drawn as one.
pub(super) const MERGE_BY_KEY: i32 = 3;

/// `ProcessDescriptor`
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ProcessMessage {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(string, tag = "6")]
    pub(super) process_name: String,
}

/// `ThreadDescriptor`
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ThreadMessage {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(int64, tag = "2")]
    pub(super) tid: i64,
    #[prost(string, tag = "5")]
    pub(super) thread_name: String,
}

/// `CounterDescriptor`
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct CounterMessage {
    #[prost(string, tag = "6")]
    pub(super) unit_name: String,
}

/// `TrackEvent`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackEventMessage {
    #[prost(uint64, repeated, tag = "3")]
    pub(super) category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<AnnotationMessage>,
    #[prost(int32, tag = "9")]
    pub(super) r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    pub(super) track_uuid: u64,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
    #[prost(fixed64, repeated, tag = "47")]
    pub(super) flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, tag = "48")]
    pub(super) terminating_flow_ids: Vec<u64>,
}

/// `DebugAnnotation`
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub(super) struct AnnotationMessage {
    #[prost(uint64, tag = "1")]
    pub(super) name_iid: u64,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub(super) int_value: Option<i64>,
    #[prost(uint64, optional, tag = "17")]
    pub(super) string_value_iid: Option<u64>,
}

/// `InternedData`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InternedMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) event_categories: Vec<NameMessage>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<NameMessage>,
    #[prost(message, repeated, tag = "3")]
    pub(super) debug_annotation_names: Vec<NameMessage>,
    #[prost(message, repeated, tag = "29")]
    pub(super) debug_annotation_string_values: Vec<NameMessage>,
}

/// `EventCategory`, `EventName`, `DebugAnnotationName` and `InternedString`, which are alike.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct NameMessage {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
}
