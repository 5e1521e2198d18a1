//! The events of calls, of all threads in one order.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::event::call_ring::CallRecord;
use crate::event::{CallEvent, Event, EventKind};

/// The events of one thread in their order, and what is known of its open polls.
#[derive(Debug, Default)]
pub struct ThreadCalls {
    thread: u64,
    events: VecDeque<CallRecord>,
    /// Numbers of the calls whose polls are open.
    open: Vec<u64>,
}

impl ThreadCalls {
    /// The events of a thread with this number, whose first ones are those of `events`.
    #[must_use]
    pub fn new(thread: u64, events: impl IntoIterator<Item = CallRecord>) -> Self {
        Self {
            thread,
            events: events.into_iter().collect(),
            open: Vec::new(),
        }
    }

    /// The next event. `None` if it is of an innermost poll that is not known.
    fn next(&mut self) -> Option<Event> {
        let CallRecord { at, number, event } = self.events.pop_front()?;
        let number = u64::from(number);
        let id = match event {
            CallEvent::Await { .. } | CallEvent::Unaccounted => *self.open.last()?,
            CallEvent::PollStart { .. } => {
                self.open.push(number);
                number
            }
            CallEvent::PollEnd(_) => {
                if let Some(at) = self.open.iter().rposition(|open| *open == number) {
                    self.open.truncate(at);
                }
                number
            }
            CallEvent::Create { .. } | CallEvent::Drop | CallEvent::Wake => number,
        };
        Some(Event {
            t: at,
            thread: self.thread,
            kind: EventKind::Call { id, kind: event },
        })
    }

    /// Time of the next event, and its turn among those of the same time: what makes a call, or
    /// leaves it, comes before what takes it up on another thread.
    fn turn(&self) -> Option<(u64, u8)> {
        let CallRecord { at, event, .. } = self.events.front()?;
        let turn = match event {
            CallEvent::Create { .. } | CallEvent::PollEnd(_) => 0,
            CallEvent::PollStart { .. } | CallEvent::Drop => 2,
            CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => 1,
        };
        Some((*at, turn))
    }
}

/// Passes the events of all threads to `each`, in the order of their times. Each thread's are in
/// the order in which it wrote them.
pub fn in_order(threads: &mut [ThreadCalls], mut each: impl FnMut(Event)) {
    loop {
        let next = threads
            .iter_mut()
            .filter_map(|thread| Some((thread.turn()?, thread)))
            .min_by_key(|(turn, _)| *turn);
        let Some((_, thread)) = next else { return };
        if let Some(event) = thread.next() {
            each(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{ThreadCalls, in_order};
    use crate::account::call::PollEnd;
    use crate::event::CallEvent;
    use crate::event::call_ring::CallRecord;

    const CREATE: CallEvent = CallEvent::Create { proc: 0 };
    const START: CallEvent = CallEvent::PollStart {
        proc: Some(0),
        root: false,
    };
    const PENDING: CallEvent = CallEvent::PollEnd(PollEnd::Pending);
    const AWAIT: CallEvent = CallEvent::Await {
        proc: 0,
        site: 1,
        direct: false,
    };

    fn thread(number: u64, events: &[(u64, u32, CallEvent)]) -> ThreadCalls {
        let record = |&(at, number, event): &_| CallRecord { at, number, event };
        ThreadCalls::new(number, events.iter().map(record))
    }

    #[test]
    fn events_come_in_their_order_and_name_their_calls() {
        let mut threads = [
            thread(
                1,
                &[(5, 7, START), (6, 0, AWAIT), (6, 7, PENDING), (9, 0, AWAIT)],
            ),
            thread(
                2,
                &[
                    (4, 7, CREATE),
                    (5, 8, START),
                    (6, 7, START),
                    (7, 0, CallEvent::Unaccounted),
                    (8, 8, PENDING),
                    (8, 0, AWAIT),
                ],
            ),
        ];
        let mut seen = Vec::new();
        in_order(&mut threads, |event| {
            let (id, kind) = event.call().expect("a call's");
            seen.push((event.t, event.thread, id, kind));
        });
        let expected = [
            (4, 2, 7, CREATE),
            (5, 1, 7, START),
            (5, 2, 8, START),
            // At one time, the call is left on one thread before it is taken up on the other.
            (6, 1, 7, AWAIT),
            (6, 1, 7, PENDING),
            (6, 2, 7, START),
            (7, 2, 7, CallEvent::Unaccounted),
            // The innermost poll is torn down with the one around it: then none is open.
            (8, 2, 8, PENDING),
        ];
        assert_eq!(seen, expected);
    }
}
