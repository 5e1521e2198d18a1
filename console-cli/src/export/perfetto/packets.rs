//! Packets: they are compressed many at a time, in packets that have only them.

use std::io::{self, Write};

use miniz_oxide::deflate::compress_to_vec_zlib;
use prost::Message;

use super::message::{PacketMessage, TraceMessage};

/// So many bytes are compressed together.
const TOGETHER: usize = 256 << 10;

/// Writes packets.
pub(super) struct PacketWriter<'a> {
    out: &'a mut dyn Write,
    waiting: TraceMessage,
    bytes: usize,
}

impl<'a> PacketWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            waiting: TraceMessage::default(),
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, packet: PacketMessage) -> io::Result<()> {
        self.bytes += packet.encoded_len();
        self.waiting.packet.push(packet);
        match self.bytes > TOGETHER {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes those that wait.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.waiting.packet.is_empty() {
            return Ok(());
        }
        let compressed = PacketMessage {
            compressed_packets: compress_to_vec_zlib(&self.waiting.encode_to_vec(), 6),
            ..PacketMessage::default()
        };
        self.waiting.packet.clear();
        self.bytes = 0;
        let outer = TraceMessage {
            packet: vec![compressed],
        };
        self.out.write_all(&outer.encode_to_vec())
    }
}
