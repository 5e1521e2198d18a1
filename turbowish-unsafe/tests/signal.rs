//! SIGTERM is heard in the process that listens, and its threads may be kept apart from signals.
#![cfg(unix)]

use std::mem::MaybeUninit;
use std::ptr;

use turbowish_unsafe::signal;

/// Whether this thread blocks these signals.
fn blocks<const N: usize>(signals: [i32; N]) -> [bool; N] {
    let mut set = MaybeUninit::uninit();
    // SAFETY: without a set of its own the call writes the present one, which `sigismember` reads.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), set.as_mut_ptr());
        signals.map(|signal| libc::sigismember(set.as_ptr(), signal) == 1)
    }
}

#[test]
fn sigterm_is_heard_here_and_not_in_a_child() {
    assert!(signal::is_default());
    let (mut sigterm, ear) = signal::pipe().expect("a pipe");
    assert!(signal::listen(ear).expect("it is allowed"));
    assert!(!signal::is_default());
    for _ in 0..2 {
        // SAFETY: the handler is ours.
        unsafe { libc::raise(libc::SIGTERM) };
        assert!(sigterm.wait());
    }

    // SAFETY: the child does nothing but wait for signals.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            // SAFETY: it may be called at any time.
            unsafe { libc::pause() };
        }
    }
    let mut status = 0;
    // SAFETY: it is our child, and nobody else waits for it.
    unsafe {
        libc::kill(child, libc::SIGTERM);
        libc::waitpid(child, &mut status, 0);
    }
    assert!(libc::WIFSIGNALED(status));
    assert_eq!(libc::WTERMSIG(status), libc::SIGTERM);

    // With a second pipe nothing changes: there is a handler now.
    let (mut second, ear) = signal::pipe().expect("a pipe");
    assert!(!signal::listen(ear).expect("nothing is installed"));
    assert!(!second.wait());
}

#[test]
fn threads_of_ours_get_no_signal_of_the_process() {
    let signals = [libc::SIGTERM, libc::SIGUSR1, libc::SIGPIPE, libc::SIGSEGV];
    let before = blocks(signals);
    let there = signal::apart(|| std::thread::spawn(move || blocks(signals)));
    assert_eq!(blocks(signals), before);
    assert_eq!(
        there.join().expect("it does not panic"),
        [true, true, true, false]
    );
}
