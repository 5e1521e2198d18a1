//! The problems that the user steps through: those of the moment at which stepping began, in their
//! order, and new ones at the end. What is no problem any more keeps its place and says so.

use super::triage::Thing;
use crate::detail::rich_line::Link;

/// A way through the problems, and the place on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    things: Vec<Thing>,
    /// The place, from 0.
    at: usize,
    /// The places before this one stay: they were there at the beginning, or the user was there.
    fixed: usize,
    /// Whether the thing at the place is still a problem.
    stands_out: bool,
}

impl Round {
    /// A way through these problems that begins at one of them; `None` if there are none.
    pub(crate) fn begin(list: Vec<Thing>, at: usize) -> Option<Self> {
        (at < list.len()).then_some(Self {
            at,
            fixed: list.len(),
            things: list,
            stands_out: true,
        })
    }

    /// The thing at the place.
    pub(crate) fn link(&self) -> Option<&Link> {
        self.things.get(self.at).map(|thing| &thing.link)
    }

    /// The next or previous place. Beyond the ends, a new way through the present problems begins.
    pub(crate) fn step(mut self, list: Vec<Thing>, forward: bool) -> Option<Self> {
        self.add(&list);
        let to = match forward {
            true => Some(self.at + 1).filter(|to| *to < self.things.len()),
            false => self.at.checked_sub(1),
        };
        let Some(to) = to else {
            let at = if forward {
                0
            } else {
                list.len().checked_sub(1)?
            };
            return Self::begin(list, at);
        };
        self.at = to;
        self.fixed = self.fixed.max(to + 1);
        self.look(&list);
        Some(self)
    }

    /// Adds new problems at the end. Of those added before, the ones that have gone before the user
    /// came to them are left out.
    fn add(&mut self, list: &[Thing]) {
        let is_in = |things: &[Thing], link: &Link| things.iter().any(|thing| thing.is(link));
        let added = self.things.split_off(self.fixed);
        let added = added.into_iter().filter(|thing| is_in(list, &thing.link));
        self.things.extend(added);
        for thing in list {
            if !is_in(&self.things, &thing.link) {
                self.things.push(thing.clone());
            }
        }
    }

    /// Takes what is known now of the thing at the place.
    pub(crate) fn look(&mut self, list: &[Thing]) {
        let Some(here) = self.things.get_mut(self.at) else {
            return;
        };
        let now = list.iter().find(|thing| thing.is(&here.link));
        self.stands_out = now.is_some();
        if let Some(now) = now {
            here.told.clone_from(&now.told);
        }
    }

    /// The record at the place is about the same thing under this link.
    pub(crate) fn rename(&mut self, link: &Link) {
        if let Some(here) = self.things.get_mut(self.at) {
            here.link = link.clone();
        }
    }

    /// `3 of 9 problems: ready 212ms`; `gone` if it is none any more.
    pub(crate) fn told(&self, gone: &str) -> String {
        let place = format!("{} of {} problems", self.at + 1, self.things.len());
        match self.things.get(self.at).map(|thing| &*thing.told) {
            _ if !self.stands_out => format!("{place}: {gone}"),
            None | Some("") => place,
            Some(told) => format!("{place}: {told}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Round, Thing};
    use crate::detail::rich_line::Link;

    fn list(names: &str) -> Vec<Thing> {
        let thing = |name: &str| Thing {
            link: Link::Proc(name.to_owned()),
            told: String::new(),
        };
        names.split_whitespace().map(thing).collect()
    }

    /// Steps forward with each list; where that leads, and what is said.
    fn check(begin: &str, steps: &[(&str, &str, &str)]) {
        let mut round = Round::begin(list(begin), 0).expect("problems");
        for (now, to, told) in steps {
            round = round.step(list(now), true).expect("problems");
            assert_eq!(round.link(), Some(&Link::Proc((*to).to_owned())), "{now}");
            assert_eq!(round.told("gone"), *told, "{now}");
        }
    }

    #[test]
    fn order_and_number_stay() {
        check(
            "a b c",
            &[
                ("c b a", "b", "2 of 3 problems"),
                ("b a c", "c", "3 of 3 problems"),
                ("b a c", "b", "1 of 3 problems"),
            ],
        );
    }

    #[test]
    fn what_has_gone_says_so_and_new_ones_come_last() {
        check(
            "a b c",
            &[
                ("x c", "b", "2 of 4 problems: gone"),
                ("x y c", "c", "3 of 5 problems"),
                // It went before the user came to it.
                ("y c", "y", "4 of 4 problems"),
                ("z", "z", "5 of 5 problems"),
                ("z", "z", "1 of 1 problems"),
            ],
        );
    }

    #[test]
    fn it_goes_back_and_ends_without_problems() {
        let round = Round::begin(list("a b"), 0).expect("problems");
        let back = round.clone().step(list("c d"), false).expect("problems");
        assert_eq!(back.told("gone"), "2 of 2 problems");
        assert_eq!(back.link(), Some(&Link::Proc("d".to_owned())));
        let on = round.step(list(""), true).expect("it has gone");
        assert_eq!(on.told("gone"), "2 of 2 problems: gone");
        assert_eq!(on.step(list(""), true), None);
        assert_eq!(Round::begin(list(""), 0), None);
    }
}
