//! Thread data of Linux.

use std::fs::File;
use std::io::Read as _;

/// The operating system's ID of this thread.
pub(crate) fn id() -> Option<u64> {
    let id = rustix::thread::gettid().as_raw_nonzero().get();
    u64::try_from(id).ok()
}

/// Of a thread of this process, since it started: time on a processor, and run delay, the time in
/// which it was ready to run while the machine ran others. A wait in progress counts when it ends.
/// For the monitor only: it reads a file.
pub(crate) fn times(id: u64) -> Option<(u64, u64)> {
    parse_times(&head(id, "schedstat")?)
}

/// Whether a thread of this process sleeps or waits in the kernel at present: it is neither on a
/// processor, nor ready to run, nor stopped. `false` if unknown. For the monitor only: it reads a
/// file.
pub(crate) fn sleeps(id: u64) -> bool {
    head(id, "stat").is_some_and(|text| parse_sleeps(&text))
}

/// Bytes that hold three numbers, or the ID, a name of up to 63 bytes and the state.
const HEAD_BYTES: usize = 128;

/// The head of a file about a thread, by one call to read it: the kernel makes such a file when it
/// is read. A name that was cut inside a character is no UTF-8.
fn head(id: u64, file: &str) -> Option<String> {
    let mut bytes = [0; HEAD_BYTES];
    let file = File::open(format!("/proc/self/task/{id}/{file}"));
    let len = file.and_then(|mut file| file.read(&mut bytes)).ok()?;
    Some(String::from_utf8_lossy(bytes.get(..len)?).into_owned())
}

/// Parses `RUN_NS RUN_DELAY_NS SLICES`. A kernel that does not account run delay writes three
/// zeros.
fn parse_times(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let [run, run_delay, slices] = [numbers.next()?, numbers.next()?, numbers.next()?];
    let times = (run.ok()?, run_delay.ok()?);
    (slices.ok()? > 0).then_some(times)
}

/// Parses `TID (NAME) STATE ..`. A name may contain spaces and brackets.
fn parse_sleeps(text: &str) -> bool {
    let state = text.rsplit_once(") ").map(|(_, rest)| rest.as_bytes());
    matches!(state, Some([b'S' | b'D', b' ', ..]))
}

#[cfg(test)]
mod tests {
    use super::{id, parse_sleeps, parse_times, sleeps, times};

    #[test]
    fn times_are_the_first_two_of_three_numbers() {
        let check = |text, expected| assert_eq!(parse_times(text), expected, "{text:?}");
        check("7048 53339 1\n", Some((7_048, 53_339)));
        check("7048 0 1", Some((7_048, 0)));
        check("7048 53339 1 4\n", Some((7_048, 53_339)));
        check(
            "18446744073709551615 18446744073709551615 1\n",
            Some((u64::MAX, u64::MAX)),
        );
        check("0 0 0\n", None);
        check("", None);
        check("\n", None);
        check("7048\n", None);
        check("7048 53339", None);
        check("7048 -1 1\n", None);
        check("-1 7048 1\n", None);
        check("7048 5.3 1\n", None);
        check("7048 18446744073709551616 1\n", None);
        check("7048 53339 one\n", None);
    }

    #[test]
    fn a_thread_sleeps_in_two_of_the_states() {
        let check = |text, expected| assert_eq!(parse_sleeps(text), expected, "{text:?}");
        check("17 (main) S 1 17 17 0", true);
        check("17 (main) D 1 17 17 0", true);
        check("17 (a) R (b) S 1 17 17 0", true);
        check("17 (main) R 1 17 17 0", false);
        check("17 (main) T 1 17 17 0", false);
        check("17 (main) t 1 17 17 0", false);
        check("17 (a) S (b) R 1 17 17 0", false);
        check("17 (main) Sleeping", false);
        check("17 (main) ", false);
        check("17 (main)", false);
        check("", false);
    }

    #[test]
    fn a_thread_that_is_not_of_this_process_has_none() {
        assert_eq!(times(u64::MAX), None);
        assert!(!sleeps(u64::MAX));
    }

    #[test]
    fn a_thread_reads_its_own() {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let (own, told) = (id().and_then(times), parse_times(&told));
        assert_eq!(own.is_some(), told.is_some());
        assert!(own.map(|own| own.0) >= told.map(|told| told.0));
        assert!(own.map(|own| own.1) >= told.map(|told| told.1));
        // It runs while it reads.
        assert_eq!(id().map(sleeps), Some(false));
    }
}
