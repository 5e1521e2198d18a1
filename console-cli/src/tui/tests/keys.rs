//! The key table has no key twice where both would work, and no key without an effect.

use std::collections::BTreeSet;

use super::alerts::{deadlock, futurelock};
use super::fixture::{AT, SECOND, alarmed, attached, key, listed, press, screen, tell};
use crate::recording::RaisedMark;
use crate::tui::keys::{KEYS, Scope, action};
use crate::tui::message::{Effect, Message};
use crate::tui::state::{Past, State};
use crate::tui::update::scopes;
use crate::tui::view::RECORD_HINTS as HINTS;
use crate::tui::{help, layout};

#[test]
fn no_key_has_two_meanings_where_it_works() {
    let together: [&[Scope]; 14] = [
        &[Scope::Record, Scope::Watch, Scope::Lists, Scope::All],
        &[Scope::Table, Scope::Watch, Scope::Lists, Scope::All],
        &[
            Scope::Record,
            Scope::Past,
            Scope::Watch,
            Scope::Lists,
            Scope::All,
        ],
        &[
            Scope::Table,
            Scope::Past,
            Scope::Watch,
            Scope::Lists,
            Scope::All,
        ],
        &[Scope::Watch, Scope::Lists, Scope::All],
        &[Scope::Picker, Scope::Lists, Scope::All],
        &[Scope::Menu],
        &[Scope::Columns],
        &[Scope::Prompt],
        &[Scope::Command],
        &[Scope::Question],
        &[Scope::Pause],
        &[Scope::Leave],
        &[Scope::Debugger],
    ];
    for scopes in together {
        let bound: Vec<_> = KEYS
            .iter()
            .filter(|binding| scopes.contains(&binding.scope))
            .flat_map(|binding| binding.keys.iter().map(|(key, _)| *key))
            .collect();
        for (at, key) in bound.iter().enumerate() {
            assert!(
                !bound[at + 1..].contains(key),
                "{key:?} is bound twice in {scopes:?}"
            );
        }
    }
}

#[test]
fn labels_name_the_keys_that_are_bound() {
    for binding in KEYS {
        let named: BTreeSet<String> = binding
            .label
            .split(' ')
            .map(|name| format!("{:?}", key(name)))
            .collect();
        let bound: BTreeSet<String> = binding
            .keys
            .iter()
            .map(|(key, _)| format!("{key:?}"))
            .collect();
        let missing: Vec<_> = named.difference(&bound).collect();
        assert!(
            missing.is_empty(),
            "{} names {missing:?}, which is not bound",
            binding.label
        );
        let hidden: Vec<_> = bound
            .difference(&named)
            .filter(|key| !key.contains("'Y'"))
            .collect();
        let question = matches!(binding.scope, Scope::Question | Scope::Pause);
        assert!(
            question || hidden.is_empty(),
            "{} hides {hidden:?}",
            binding.label
        );
    }
}

/// A task is paused.
fn hold(state: &mut State) {
    let held = match press(state, "2 p y") {
        Some(Effect::Pause(hold)) => hold,
        other => panic!("{other:?}"),
    };
    tell(state, Message::Paused(held, Ok(())));
}

/// The console shows a recording, whose state changes with the keys.
fn rewinds(state: &mut State) {
    let times = (0..60).map(|second| AT - (60 - second) * SECOND).collect();
    state.link.past = Some(Past::new("x.tw", times, RaisedMark::alerts([10, 50]), 30));
}

/// A console where the keys of a scope work, and do something that can be seen.
fn console(scope: Scope) -> State {
    // Two of them, so that there is a next one.
    let mut state = alarmed((80, 24), vec![deadlock(), futurelock()]);
    tell(
        &mut state,
        Message::Listed(vec![
            listed(4242, |_| ()),
            listed(4300, |_| ()),
            listed(4400, |_| ()),
        ]),
    );
    let keys = match scope {
        Scope::Table => "l",
        Scope::Lists => "j j j",
        Scope::All | Scope::Watch => "j",
        Scope::Past => {
            rewinds(&mut state);
            "j"
        }
        Scope::Picker => "0 j",
        Scope::Record => "! j",
        Scope::Menu => "s r Dn",
        Scope::Columns => "c Space j Space j",
        Scope::Prompt => "/ d b Enter / ^U c o Enter / Up Lt",
        Scope::Command => ": p r o c s Enter : t a s k s Enter : Up Lt",
        Scope::Question => "a",
        Scope::Pause => "2 p",
        Scope::Leave => {
            hold(&mut state);
            "q"
        }
        Scope::Debugger => "2 D",
    };
    press(&mut state, keys);
    state
}

#[test]
fn every_binding_does_something() {
    for binding in KEYS {
        for (pressed, _) in binding.keys {
            let mut state = console(binding.scope);
            assert!(
                scopes(&state).contains(&binding.scope),
                "{:?}",
                binding.scope
            );
            assert!(action(scopes(&state), *pressed).is_some(), "{pressed:?}");
            // The open view's own digit changes nothing, so come from another one; forward is after
            // back.
            for (needs, before) in [("1", "2"), ("H", "2"), ("L", "2 H"), ("X", "x")] {
                if *pressed == key(needs) {
                    press(&mut state, before);
                }
            }
            let told = |state: &State| {
                let asked = state.wanted().past.map(|(nth, _)| nth);
                (screen(state), format!("{:?} {asked:?}", state.overlay))
            };
            let before = told(&state);
            let effect = tell(&mut state, Message::Key(*pressed));
            let after = told(&state);
            assert!(
                effect.is_some() || before != after,
                "{} ({pressed:?}) does nothing",
                binding.label
            );
        }
    }
}

#[test]
fn the_hints_of_a_record_are_keys_that_work_there() {
    for hint in HINTS {
        let keys = hint
            .split(' ')
            .take_while(|word| word.len() == 1 || *word == "Enter");
        for name in keys {
            let bound = action(scopes(&console(Scope::Record)), key(name));
            assert!(bound.is_some(), "{hint}: {name}");
        }
    }
}

#[test]
fn what_help_shows_fits_its_columns() {
    for (at, binding) in layout::helped().enumerate() {
        let (keys, words) = match at < layout::key_lines() {
            true => help::LEFT,
            false => help::RIGHT,
        };
        assert!(binding.label.len() <= keys, "{}", binding.label);
        assert!(binding.help.len() <= words, "{}", binding.help);
    }
}

#[test]
fn effects() {
    use turbowish_model::snapshot::Accounting::Disarmed;
    let check = |keys: &str, expected: Option<Effect>| {
        assert_eq!(press(&mut attached((80, 24)), keys), expected, "{keys}");
    };
    check("q", Some(Effect::Quit));
    check("^C", Some(Effect::Quit));
    check("? q", None);
    check("? q q", Some(Effect::Quit));
    check("s ^C", None);
    check("s q", None);
    check("/ q", None);
    check("0 q", None);
    check("0 q q", Some(Effect::Quit));
    check("^Z", Some(Effect::Suspend));
    check("^L", Some(Effect::Redraw));
    check("a y", Some(Effect::Switch(Disarmed)));
    check("a n", None);
    check("a Enter", None);
    check("a Enter j", None);
    check("a x j", None);
    check("M", Some(Effect::Mouse(false)));
    check("M M", Some(Effect::Mouse(true)));
    check("a Esc", None);
    check("p", None);
    check("2 D x", None);
    check("2 D Esc", None);
}

#[test]
fn quitting_with_paused_tasks_asks() {
    let check = |keys: &str, expected: Option<Effect>| {
        let mut state = attached((80, 24));
        hold(&mut state);
        assert_eq!(press(&mut state, keys), expected, "{keys}");
    };
    check("q", None);
    check("q r", Some(Effect::Leave { keep: false }));
    check("q k", Some(Effect::Leave { keep: true }));
    check("q s", None);
    check("q s q k", Some(Effect::Leave { keep: true }));
    check("q q", None);
    check("q Esc j", None);
    check("0 q", None);
}
