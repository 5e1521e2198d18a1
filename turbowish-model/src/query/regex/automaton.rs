//! Automaton whose states are made when a text needs them. A state is the set of steps that a text
//! read so far can be at, so each character is read once, whatever the expression.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::class::{Alphabet, Class};
use super::program::{At, MachineStep};
use crate::ordered::Map;

/// Size of the states, in bytes: beyond it they are forgotten, and made again.
const CACHE: usize = 1 << 20;

/// Number of a state.
type State = u32;

/// No state yet.
const UNKNOWN: State = 0;
/// The expression has matched.
const MATCHED: State = 1;
/// The number of the first state in the tables.
const FIRST: State = 2;

/// An expression that is ready to read texts.
pub(super) struct Automaton {
    steps: Vec<MachineStep>,
    classes: Vec<Class>,
    alphabet: Alphabet,
}

/// What an automaton can be at: steps that read a character, in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    steps: Box<[At]>,
    /// Whether a text that ends here matches.
    ends: bool,
}

/// The states made so far.
#[derive(Default)]
pub(super) struct States {
    numbers: Map<Places, State>,
    places: Vec<Places>,
    /// For each state the next one, by the number of a character.
    next: Vec<State>,
    start: State,
    size: usize,
}

/// The steps that are reached without reading a character.
struct Closure<'a> {
    steps: &'a [MachineStep],
    seen: Vec<bool>,
    /// Steps that hold only at the end of the text.
    ends: Vec<At>,
    is_start: bool,
    matched: bool,
}

impl Automaton {
    pub(super) fn new(steps: Vec<MachineStep>, classes: Vec<Class>) -> Self {
        Self {
            alphabet: Alphabet::of(&classes),
            steps,
            classes,
        }
    }

    /// Whether the expression matches anywhere in a text.
    pub(super) fn is_in(&self, states: &mut States, text: &str) -> bool {
        if states.start == UNKNOWN {
            states.start = self.after(states, &[], true);
        }
        let mut state = states.start;
        for letter in text.chars() {
            if state == MATCHED {
                return true;
            }
            let number = self.alphabet.number(letter);
            state = match states.next_of(state, number, self.alphabet.len()) {
                UNKNOWN => self.make_next(states, state, number),
                known => known,
            };
        }
        state == MATCHED || states.at(state).is_some_and(|places| places.ends)
    }

    /// Makes the state after a character.
    #[cold]
    fn make_next(&self, states: &mut States, state: State, number: usize) -> State {
        let mut after = Vec::new();
        for at in states.at(state).map_or(&[][..], |places| &places.steps) {
            let class = match self.steps.get(usize::from(*at)) {
                Some(MachineStep::Letter(class)) => self.classes.get(usize::from(*class)),
                _ => None,
            };
            if class.is_some_and(|class| self.alphabet.is_in(number, class)) {
                after.push(at + 1);
            }
        }
        if states.size > CACHE {
            *states = States::default();
            return self.after(states, &after, false);
        }
        let next = self.after(states, &after, false);
        let place = states.place(state, number, self.alphabet.len());
        if let Some(known) = states.next.get_mut(place) {
            *known = next;
        }
        next
    }

    /// The state that has reached these steps. A match can begin at each character, too.
    fn after(&self, states: &mut States, reached: &[At], is_start: bool) -> State {
        let mut closure = Closure {
            steps: &self.steps,
            seen: vec![false; self.steps.len()],
            ends: Vec::new(),
            is_start,
            matched: false,
        };
        closure.follow([reached, &[0]].concat(), false);
        if closure.matched {
            return MATCHED;
        }
        let ends = core::mem::take(&mut closure.ends);
        let steps = closure.letters();
        closure.follow(ends.iter().map(|end| end + 1).collect(), true);
        states.number(
            Places {
                steps,
                ends: closure.matched,
            },
            self.alphabet.len(),
        )
    }
}

impl Closure<'_> {
    /// The steps reached that read a character, in order.
    fn letters(&self) -> Box<[At]> {
        let all = (0..).zip(self.steps).zip(&self.seen);
        let letters =
            all.filter(|((_, step), seen)| **seen && matches!(step, MachineStep::Letter(_)));
        letters.map(|((at, _), _)| at).collect()
    }

    fn follow(&mut self, mut open: Vec<At>, is_end: bool) {
        while let Some(at) = open.pop() {
            let Some(seen) = self.seen.get_mut(usize::from(at)) else {
                continue;
            };
            if core::mem::replace(seen, true) {
                continue;
            }
            match &self.steps[usize::from(at)] {
                MachineStep::Start if self.is_start => open.push(at + 1),
                MachineStep::Letter(_) | MachineStep::Start => {}
                MachineStep::End if is_end => open.push(at + 1),
                MachineStep::End => self.ends.push(at),
                MachineStep::Fork(one, other) => open.extend([*one, *other]),
                MachineStep::Match => self.matched = true,
            }
        }
    }
}

impl States {
    fn at(&self, state: State) -> Option<&Places> {
        self.places.get(state.checked_sub(FIRST)? as usize)
    }

    const fn place(&self, state: State, number: usize, width: usize) -> usize {
        state.saturating_sub(FIRST) as usize * width + number
    }

    fn next_of(&self, state: State, number: usize, width: usize) -> State {
        let next = self.next.get(self.place(state, number, width));
        next.copied().unwrap_or(UNKNOWN)
    }

    fn number(&mut self, places: Places, width: usize) -> State {
        if let Some(known) = self.numbers.get(&places) {
            return *known;
        }
        let number = self.places.len() as State + FIRST;
        self.size += (width + 16) * size_of::<State>() + 2 * size_of_val(&*places.steps);
        self.next.resize(self.next.len() + width, UNKNOWN);
        self.places.push(places.clone());
        self.numbers.insert(places, number);
        number
    }
}
