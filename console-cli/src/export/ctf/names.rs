//! Numbers for the names of a trace: its events have numbers, and its metadata says what each of
//! them stands for.

use std::collections::{BTreeMap, HashMap};

use super::super::Labels;
use super::super::labels::UNKNOWN;
use super::metadata::{FIRST_USER, TraceNames};

/// The number of a function that is not known.
const NO_FUNCTION: u16 = u16::MAX;

/// The names that are used so far.
#[derive(Debug, Default)]
pub(super) struct NameNumbers {
    functions: BTreeMap<u16, String>,
    /// By chain.
    chains: HashMap<u32, u32>,
    awaits: HashMap<String, u32>,
    /// The number of an event, and how many numbers it has, by its place.
    sites: HashMap<u32, (u32, usize)>,
    events: Vec<(String, Vec<String>)>,
}

impl NameNumbers {
    /// Where a task is that does not wait.
    pub(super) const NOWHERE: u32 = 0;

    pub(super) fn function(&mut self, labels: &Labels, proc: u32) -> u16 {
        let number = match labels.known(proc) {
            Some(_) => u16::try_from(proc).unwrap_or(NO_FUNCTION),
            None => NO_FUNCTION,
        };
        self.functions
            .entry(number)
            .or_insert_with(|| match number {
                NO_FUNCTION => UNKNOWN.to_owned(),
                _ => labels.proc(proc),
            });
        number
    }

    /// Where a task waits, innermost.
    pub(super) fn wait(&mut self, labels: &Labels, chain: u32) -> u32 {
        if let Some(known) = self.chains.get(&chain) {
            return *known;
        }
        let next = u32::try_from(self.awaits.len()).unwrap_or(u32::MAX) + 1;
        let number = *self.awaits.entry(labels.wait(chain)).or_insert(next);
        self.chains.insert(chain, number);
        number
    }

    /// The number of an event of the program's own, and how many numbers it has.
    pub(super) fn event(&mut self, labels: &Labels, site: u32) -> (u32, usize) {
        *self.sites.entry(site).or_insert_with(|| {
            let (name, keys) = labels.event_names(site);
            let known = (FIRST_USER..).zip(&self.events);
            let same = known
                .clone()
                .find(|(_, known)| known.0 == name && known.1 == keys);
            let numbers = keys.len();
            if let Some((id, _)) = same {
                return (id, numbers);
            }
            let id = known.count();
            self.events.push((name, keys));
            (
                FIRST_USER + u32::try_from(id).unwrap_or(u32::MAX - FIRST_USER),
                numbers,
            )
        })
    }

    /// What the metadata has to say.
    pub(super) fn of(mut self, labels: &Labels, uuid: [u8; 16]) -> TraceNames {
        // Readers refuse a type of numbers with names that has no name.
        self.function(labels, u32::MAX);
        let mut awaits = vec![String::new(); self.awaits.len() + 1];
        for (name, number) in self.awaits {
            awaits[number as usize] = name;
        }
        TraceNames {
            uuid,
            process: labels.process().into_owned(),
            pid: labels.pid(),
            functions: self.functions,
            awaits,
            events: self.events,
        }
    }
}
