//! Thread data of Linux.

/// The operating system's ID of this thread.
pub(crate) fn id() -> Option<u64> {
    let id = rustix::thread::gettid().as_raw_nonzero().get();
    u64::try_from(id).ok()
}

/// Time in which a thread of this process was ready to run while the machine ran others, since the
/// thread started. A wait in progress counts when it ends. For the monitor only: it reads a file.
pub(crate) fn run_delay_ns(id: u64) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok()?;
    parse_run_delay_ns(&text)
}

/// Parses `RUN_NS RUN_DELAY_NS SLICES`. A kernel that does not account run delay writes three
/// zeros.
fn parse_run_delay_ns(text: &str) -> Option<u64> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let [_run, run_delay, slices] = [numbers.next()?, numbers.next()?, numbers.next()?];
    (slices.ok()? > 0).then_some(run_delay.ok()?)
}

#[cfg(test)]
mod tests {
    use super::{id, parse_run_delay_ns, run_delay_ns};

    #[test]
    fn run_delay_is_the_second_of_three_numbers() {
        let check = |text, expected| assert_eq!(parse_run_delay_ns(text), expected, "{text:?}");
        check("7048 53339 1\n", Some(53_339));
        check("7048 0 1", Some(0));
        check("7048 53339 1 4\n", Some(53_339));
        check(
            "18446744073709551615 18446744073709551615 1\n",
            Some(u64::MAX),
        );
        check("0 0 0\n", None);
        check("", None);
        check("\n", None);
        check("7048\n", None);
        check("7048 53339", None);
        check("7048 -1 1\n", None);
        check("7048 5.3 1\n", None);
        check("7048 18446744073709551616 1\n", None);
        check("7048 53339 one\n", None);
    }

    #[test]
    fn a_thread_that_is_not_of_this_process_has_none() {
        assert_eq!(run_delay_ns(u64::MAX), None);
    }

    #[test]
    fn a_thread_reads_its_own() {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let own = id().and_then(run_delay_ns);
        assert_eq!(own.is_some(), parse_run_delay_ns(&told).is_some());
        assert!(own >= parse_run_delay_ns(&told));
    }
}
