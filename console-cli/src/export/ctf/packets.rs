//! Packets: a stream of events is cut into packets, each of which is written whole.

use std::io;

use super::folder::TraceFolder;

/// The first word of a packet.
const MAGIC: u32 = 0xc1fc_1fc1;

/// A packet is ended when its events take this many bytes.
const PACKET: usize = 64 << 10;

/// One with a loss in it, this many.
const LOSS_PACKET: usize = 8 << 20;

/// Bits of the number of an event in a short header, and those of its time.
const ID_BITS: u32 = 5;
const TIME_BITS: u32 = 27;

/// The number that announces a long header.
const LONG: u32 = (1 << ID_BITS) - 1;

/// What all packets of a stream say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamId {
    /// The name of its file.
    pub(super) file: String,
    pub(super) trace: [u8; 16],
    /// What the metadata calls the stream's class.
    pub(super) class: u32,
    /// Its number within the class.
    pub(super) instance: u64,
    /// What the context of its packets ends with.
    pub(super) context: Vec<u8>,
}

/// The instants of a packet, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct OpenPacket {
    begin: u64,
    /// Where a reader's clock stands: at the last event, else at the begin.
    clock: u64,
    /// A loss may end after the last event.
    end: u64,
}

impl OpenPacket {
    const fn at(begin: u64) -> Self {
        Self {
            begin,
            clock: begin,
            end: begin,
        }
    }
}

/// A stream that is written. Instants are in nanoseconds since 1970.
#[derive(Debug)]
pub(super) struct PacketStream {
    id: StreamId,
    /// The events of the packet that is open.
    body: Vec<u8>,
    open: Option<OpenPacket>,
    /// Packets so far.
    packets: u64,
    /// Events so far.
    events: u64,
    /// Events so far that were lost.
    discarded: u64,
    /// Losses that have begun and not ended.
    losses: u32,
}

impl PacketStream {
    pub(super) const fn new(id: StreamId) -> Self {
        Self {
            id,
            body: Vec::new(),
            open: None,
            packets: 0,
            events: 0,
            discarded: 0,
            losses: 0,
        }
    }

    /// Events so far.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    /// Adds an event, which is not before the one added before.
    pub(super) fn event(
        &mut self,
        folder: &TraceFolder,
        (at, id): (u64, u32),
        fields: &[u8],
    ) -> io::Result<()> {
        // A packet with a loss in it is as long as the loss: readers tell the loss by its time. Of
        // a loss with too many events in it, they tell the last packet.
        let full = match self.losses {
            0 => PACKET,
            _ => LOSS_PACKET,
        };
        if self.body.len() >= full {
            self.close(folder)?;
        }
        let open = self.open.get_or_insert(OpenPacket::at(at));
        let at = at.max(open.end);
        // The short time is added to the reader's clock, which no end of a loss moves.
        if id < LONG && at - open.clock < 1 << TIME_BITS {
            let time = at & ((1 << TIME_BITS) - 1);
            let word = u64::from(id) | time << ID_BITS;
            self.body.extend_from_slice(&word.to_le_bytes()[..4]);
        } else {
            self.body.extend(LONG.to_le_bytes().first());
            self.body.extend(id.to_le_bytes());
            self.body.extend(at.to_le_bytes());
        }
        self.body.extend_from_slice(fields);
        (open.clock, open.end) = (at, at);
        self.events += 1;
        Ok(())
    }

    /// Begins a packet with a loss in it.
    pub(super) fn begin_loss(&mut self, folder: &TraceFolder, at: u64) -> io::Result<()> {
        if self.losses == 0 {
            // Readers take the end of the packet before as the begin of the loss.
            self.open.get_or_insert(OpenPacket::at(at)).end = at;
            self.close(folder)?;
            self.open = Some(OpenPacket::at(at));
        }
        self.losses += 1;
        Ok(())
    }

    /// Ends the packet after the last loss in it.
    pub(super) fn end_loss(&mut self, folder: &TraceFolder, at: u64, lost: u64) -> io::Result<()> {
        self.discarded = self.discarded.saturating_add(lost);
        self.losses = self.losses.saturating_sub(1);
        if let Some(open) = &mut self.open {
            open.end = at.max(open.end);
        }
        match self.losses {
            0 => self.close(folder),
            _ => Ok(()),
        }
    }

    /// Ends the stream. Of events that were left out, it is not known when they were.
    pub(super) fn end(&mut self, folder: &TraceFolder, left_out: u64) -> io::Result<()> {
        self.discarded = self.discarded.saturating_add(left_out);
        self.close(folder)
    }

    /// Writes the packet that is open.
    fn close(&mut self, folder: &TraceFolder) -> io::Result<()> {
        let Some(OpenPacket { begin, end, .. }) = self.open.take() else {
            return Ok(());
        };
        let id = &self.id;
        let mut packet = Vec::with_capacity(128 + self.body.len());
        packet.extend(MAGIC.to_le_bytes());
        packet.extend(id.trace);
        packet.extend(id.class.to_le_bytes());
        packet.extend(id.instance.to_le_bytes());
        // Six numbers, the rest of the context and the events are still to come.
        let bytes = packet.len() + 6 * 8 + id.context.len() + self.body.len();
        let bits = 8 * bytes as u64;
        for number in [begin, end, bits, bits, self.packets, self.discarded] {
            packet.extend(number.to_le_bytes());
        }
        packet.extend_from_slice(&id.context);
        packet.append(&mut self.body);
        self.packets += 1;
        folder.append(&id.file, &packet)
    }
}
