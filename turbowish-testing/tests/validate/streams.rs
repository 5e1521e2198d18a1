//! The streams of the mock executor: coherent, of every kind of event, and the same for the same
//! seed.

use std::collections::BTreeSet;

use turbowish_model::event::Event;
use turbowish_testing::event_file::{read, write};
use turbowish_testing::mock::{self, Mock, names};

use super::reports;

fn stream(seed: u64, switches: bool) -> Vec<Event> {
    mock::run(&mut Mock::new(seed, 250, switches))
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    for seed in 0..50 {
        let one = write(&stream(seed, true), &names());
        let other = write(&stream(seed, true), &names());
        assert_eq!(one, other);
        assert_ne!(one, write(&stream(seed + 1, true), &names()));
        let read = read(&one, &mut names()).expect("in the format").remove(0);
        assert_eq!(read.events, stream(seed, true));
    }
}

#[test]
fn a_stream_of_the_mock_has_no_report() {
    let mut words = BTreeSet::new();
    for seed in 0..600 {
        let events = stream(seed, seed % 2 == 0);
        let told = reports(&events);
        let lines: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert!(
            lines.is_empty(),
            "seed {seed}: {}\n{}",
            lines.join("\n"),
            write(&events, &names())
        );
        if seed < 100 {
            let text = write(&events, &names());
            let found = text.split("\"k\":\"").skip(1);
            words.extend(found.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words.join(" "), WORDS);
}

/// All but what no program of the mock does: it closes and drops no resource, and tells wakes of
/// tasks.
const WORDS: &str = "console_arm console_connect console_disarm console_disconnect console_pause console_query \
console_reply console_resume create drop intent_done intent_gone intent_made intent_sure poll_end poll_start \
resource_left resource_made resource_put resource_released resource_taken resource_took resource_wait \
task_begin task_cloned task_dropped task_end task_woken user_attribute user_count user_gauge";
