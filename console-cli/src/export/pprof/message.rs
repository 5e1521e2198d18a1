//! Messages of `profile.proto`, as far as they are written. Its numbers of texts are indices into
//! `string_table`.

#![allow(
    clippy::derive_partial_eq_without_eq,
    reason = "the derive of messages adds to what is written here"
)]

/// `Profile`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProfileMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) sample_type: Vec<ValueTypeMessage>,
    #[prost(message, repeated, tag = "2")]
    pub(super) sample: Vec<SampleMessage>,
    #[prost(message, repeated, tag = "3")]
    pub(super) mapping: Vec<MappingMessage>,
    #[prost(message, repeated, tag = "4")]
    pub(super) location: Vec<LocationMessage>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function: Vec<FunctionMessage>,
    /// The first one is empty.
    #[prost(string, repeated, tag = "6")]
    pub(super) string_table: Vec<String>,
    /// Nanoseconds since 1970.
    #[prost(int64, tag = "9")]
    pub(super) time_nanos: i64,
    #[prost(int64, tag = "10")]
    pub(super) duration_nanos: i64,
    #[prost(int64, repeated, tag = "13")]
    pub(super) comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    pub(super) default_sample_type: i64,
}

/// `ValueType`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueTypeMessage {
    #[prost(int64, tag = "1")]
    pub(super) r#type: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// `Sample`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SampleMessage {
    /// The innermost one first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    /// One for each sample type.
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
}

/// `Mapping`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct MappingMessage {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "5")]
    pub(super) filename: i64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
    #[prost(bool, tag = "8")]
    pub(super) has_filenames: bool,
    #[prost(bool, tag = "9")]
    pub(super) has_line_numbers: bool,
}

/// `Location`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct LocationMessage {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<LineMessage>,
}

/// `Line`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct LineMessage {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
    /// From 1; 0 if it is not known.
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
}

/// `Function`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FunctionMessage {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    #[prost(int64, tag = "3")]
    pub(super) system_name: i64,
    #[prost(int64, tag = "4")]
    pub(super) filename: i64,
    #[prost(int64, tag = "5")]
    pub(super) start_line: i64,
}
