//! Events that are no polls: long waits for resources and long holds of them, and the program's own
//! events. A chunk has those of one thread, in their order.

use turbowish_model::account::event_ring::EVENT_VALUES;
use turbowish_model::account::resource::Role;

use crate::varint::{Bytes, fold, put, put_change, unfold};

/// An event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// When it happened, in nanoseconds since 1970; the end of a wait or a hold.
    pub at_unix_ns: u64,
    /// ID of the task; 0 if it is not known.
    pub task: u64,
    /// What happened.
    pub kind: ThreadEventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEventKind {
    /// A task has waited for a resource, and got what it waited for.
    Waited(ResourceSpan),
    /// A task has waited for a resource, and gave up.
    GaveUp(ResourceSpan),
    /// A task has released a resource, or a part of it.
    Held(ResourceSpan),
    /// An event of the program's own.
    User {
        /// Number of its place: see [`Names::event`](crate::Names::event).
        site: u32,
        /// Its numbers, of which the place has the first ones.
        values: [i64; EVENT_VALUES],
    },
}

/// A wait for a resource, or a hold of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceSpan {
    /// ID of the resource.
    pub resource: u64,
    /// Its duration in nanoseconds.
    pub duration_ns: u64,
    /// The kind of use.
    pub role: Role,
    /// Number of permits or items.
    pub amount: u32,
}

/// The events of one thread, in one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    /// Number of the thread: see [`Names::thread`](crate::Names::thread).
    pub thread: u32,
    /// Number of events of this thread that came before these, were not recorded before, and are
    /// lost: they were overwritten before they could be copied.
    pub lost: u64,
    /// The events in their order.
    pub events: Vec<ThreadEvent>,
}

const WAITED: u8 = 1;
const GAVE_UP: u8 = 2;
const HELD: u8 = 3;
const USER: u8 = 4;

/// Writes the body of a chunk of events.
#[derive(Debug)]
pub struct EventEncoder {
    body: Vec<u8>,
    /// Time of the event before, or of the chunk.
    clock: u64,
    task: u64,
    resource: u64,
}

impl EventEncoder {
    /// Begins the body of a chunk of this time.
    #[must_use]
    pub fn begin(at_unix_ns: u64, thread: u32, lost: u64) -> Self {
        let mut body = Vec::new();
        put(&mut body, thread.into());
        put(&mut body, lost);
        Self {
            body,
            clock: at_unix_ns,
            task: 0,
            resource: 0,
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: &ThreadEvent) {
        let code = match event.kind {
            ThreadEventKind::Waited(_) => WAITED,
            ThreadEventKind::GaveUp(_) => GAVE_UP,
            ThreadEventKind::Held(_) => HELD,
            ThreadEventKind::User { .. } => USER,
        };
        self.body.push(code);
        put_change(&mut self.body, &mut self.clock, event.at_unix_ns);
        put_change(&mut self.body, &mut self.task, event.task);
        match event.kind {
            ThreadEventKind::Waited(span)
            | ThreadEventKind::GaveUp(span)
            | ThreadEventKind::Held(span) => {
                put_change(&mut self.body, &mut self.resource, span.resource);
                put(&mut self.body, span.duration_ns);
                self.body.push(span.role as u8);
                put(&mut self.body, span.amount.into());
            }
            ThreadEventKind::User { site, values } => {
                put(&mut self.body, site.into());
                let used = values.iter().rposition(|value| *value != 0);
                let used = used.map_or(0, |last| last + 1);
                put(&mut self.body, used as u64);
                for value in &values[..used] {
                    put(&mut self.body, fold(*value));
                }
            }
        }
    }

    /// The body.
    #[must_use]
    pub fn end(self) -> Vec<u8> {
        self.body
    }
}

impl EventBatch {
    /// Reads the body of a chunk of this time. `None` if it is no such body.
    #[must_use]
    pub fn read(at_unix_ns: u64, body: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(body);
        let mut batch = Self {
            thread: bytes.small()?,
            lost: bytes.number()?,
            events: Vec::new(),
        };
        let (mut clock, mut task, mut resource) = (at_unix_ns, 0_u64, 0_u64);
        while !bytes.is_empty() {
            let code = bytes.byte()?;
            clock = clock.wrapping_add_signed(unfold(bytes.number()?));
            task = task.wrapping_add_signed(unfold(bytes.number()?));
            let kind = match code {
                WAITED => ThreadEventKind::Waited(span(&mut bytes, &mut resource)?),
                GAVE_UP => ThreadEventKind::GaveUp(span(&mut bytes, &mut resource)?),
                HELD => ThreadEventKind::Held(span(&mut bytes, &mut resource)?),
                USER => user(&mut bytes)?,
                _ => return None,
            };
            batch.events.push(ThreadEvent {
                at_unix_ns: clock,
                task,
                kind,
            });
        }
        Some(batch)
    }
}

fn span(bytes: &mut Bytes<'_>, resource: &mut u64) -> Option<ResourceSpan> {
    *resource = resource.wrapping_add_signed(unfold(bytes.number()?));
    Some(ResourceSpan {
        resource: *resource,
        duration_ns: bytes.number()?,
        role: Role::ALL.get(usize::from(bytes.byte()?)).copied()?,
        amount: bytes.small()?,
    })
}

fn user(bytes: &mut Bytes<'_>) -> Option<ThreadEventKind> {
    let site = bytes.small()?;
    let mut values = [0; EVENT_VALUES];
    let used = usize::try_from(bytes.number()?).ok()?;
    for value in values.get_mut(..used)? {
        *value = unfold(bytes.number()?);
    }
    Some(ThreadEventKind::User { site, values })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{EventBatch, EventEncoder, ResourceSpan, Role, ThreadEvent, ThreadEventKind};

    fn event() -> impl Strategy<Value = ThreadEvent> {
        let role = proptest::sample::select(&Role::ALL[..]);
        let span = (any::<u64>(), any::<u64>(), role, any::<u32>());
        let span = span.prop_map(|(resource, duration_ns, role, amount)| ResourceSpan {
            resource,
            duration_ns,
            role,
            amount,
        });
        let kind = prop_oneof![
            span.clone().prop_map(ThreadEventKind::Waited),
            span.clone().prop_map(ThreadEventKind::GaveUp),
            span.prop_map(ThreadEventKind::Held),
            (any::<u32>(), any::<[i64; 4]>())
                .prop_map(|(site, values)| ThreadEventKind::User { site, values }),
        ];
        (any::<u64>(), any::<u64>(), kind).prop_map(|(at_unix_ns, task, kind)| ThreadEvent {
            at_unix_ns,
            task,
            kind,
        })
    }

    proptest! {
        #[test]
        fn events_read_back(
            at in any::<u64>(),
            thread in any::<u32>(),
            lost in any::<u64>(),
            events in proptest::collection::vec(event(), 0..20),
        ) {
            let mut encoder = EventEncoder::begin(at, thread, lost);
            events.iter().for_each(|event| encoder.push(event));
            let body = encoder.end();
            let read = EventBatch::read(at, &body);
            let expected = EventBatch { thread, lost, events };
            prop_assert_eq!(read, Some(expected));
        }

        #[test]
        fn any_bytes_are_read_or_refused(at in any::<u64>(), body in any::<Vec<u8>>()) {
            let _ = EventBatch::read(at, &body);
        }
    }

    #[test]
    fn a_kind_that_is_not_known_is_refused() {
        let body = EventEncoder::begin(1, 2, 3).end();
        assert!(EventBatch::read(1, &body).is_some());
        for code in [0, 5, 255] {
            let mut body = body.clone();
            body.extend([code, 0, 0, 0, 0, 0, 0]);
            assert_eq!(EventBatch::read(1, &body), None, "{code}");
        }
    }
}
