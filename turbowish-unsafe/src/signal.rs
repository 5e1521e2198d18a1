//! SIGTERM for a library: handled only while its default action would end the process.
//!
//! TurboWish's handler replaces the default action. A handler that is installed later replaces it,
//! and libraries that share signals call it from their own. So at each signal the handler checks
//! which handler is installed. If it is another one, the signal belongs to that handler, and
//! TurboWish's does nothing. Otherwise no other code listens, and [`Sigterm::wait`] returns.
//!
//! A child of `fork` has the handler but not the waiting thread: there the handler restores the
//! default action.

use std::ffi::c_int;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// ID of the process whose SIGTERM is handled.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Address of the handler, as the system reports it.
static OURS: AtomicUsize = AtomicUsize::new(0);
/// Descriptor to which the handler writes. Never closed, so it is valid for every signal.
static WRITER: AtomicI32 = AtomicI32::new(-1);
/// Whether a byte is in the pipe. With one byte at most, the handler never waits for room.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Reading end of the pipe: SIGTERM is received here.
#[derive(Debug)]
pub struct Sigterm(UnixStream);

/// Writing end of the pipe, for [`listen`].
#[derive(Debug)]
pub struct Ear(UnixStream);

/// Creates both ends as a socket pair, which older versions of std have and pipes they do not.
/// Nothing is installed yet, so that the waiting thread can be started first.
///
/// # Errors
/// If the process has no descriptor left.
pub fn pipe() -> io::Result<(Sigterm, Ear)> {
    let (reader, writer) = UnixStream::pair()?;
    Ok((Sigterm(reader), Ear(writer)))
}

impl Sigterm {
    /// Waits for a SIGTERM that would have ended the process. `false` if none can come any more.
    pub fn wait(&mut self) -> bool {
        let heard = self.0.read_exact(&mut [0]).is_ok();
        TOLD.store(false, Ordering::SeqCst);
        heard
    }
}

/// Whether SIGTERM has its default action.
#[must_use]
pub fn is_default() -> bool {
    action() == libc::SIG_DFL
}

/// Installs the handler, once in a process. `false` if SIGTERM is already handled or ignored.
///
/// # Errors
/// If the system refuses the handler.
pub fn listen(ear: Ear) -> io::Result<bool> {
    if !is_default() {
        return Ok(false);
    }
    let ours = came as extern "C" fn(c_int) as usize;
    OWNER.store(std::process::id(), Ordering::SeqCst);
    OURS.store(ours, Ordering::SeqCst);
    WRITER.store(ear.0.into_raw_fd(), Ordering::SeqCst);
    let before = install(&plain(ours))?;
    if before.sa_sigaction != libc::SIG_DFL {
        // Another thread has installed a handler in between.
        install(&before)?;
        return Ok(false);
    }
    Ok(true)
}

/// Ends the process as the default action of SIGTERM does. Returns only where that action does
/// nothing: in process 1.
pub fn end() {
    let _ = install(&plain(libc::SIG_DFL));
    let mut term = MaybeUninit::uninit();
    // SAFETY: the set is initialised by the first call before the others use it. All of them may be
    // called at any time.
    unsafe {
        libc::sigemptyset(term.as_mut_ptr());
        libc::sigaddset(term.as_mut_ptr(), libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, term.as_ptr(), ptr::null_mut());
        libc::raise(libc::SIGTERM);
    }
}

/// Runs `start` with signals blocked, so that threads started in it do not receive signals sent to
/// the process: those go to threads of the application, which may have reasons to block them.
/// Signals that a thread causes itself (a fault) still reach it, and so does a profiler's SIGPROF.
pub fn apart<R>(start: impl FnOnce() -> R) -> R {
    let own = [
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGPROF,
        libc::SIGSEGV,
        libc::SIGSYS,
        libc::SIGTRAP,
    ];
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `all` is initialised by the first call before the others use it, `before` is written
    // to by the last one.
    let blocked = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in own {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) == 0
    };
    let _restored = blocked.then(|| Restored(before));
    start()
}

/// Restores the signals that this thread blocked before.
struct Restored(MaybeUninit<libc::sigset_t>);

impl Drop for Restored {
    fn drop(&mut self) {
        // SAFETY: this is created only after `pthread_sigmask` has written the set.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, self.0.as_ptr(), ptr::null_mut()) };
    }
}

/// The present action of SIGTERM. Safe to call in a signal handler.
fn action() -> libc::sighandler_t {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only writes the present one, which is read only if the
    // call succeeds.
    unsafe {
        match libc::sigaction(libc::SIGTERM, ptr::null(), now.as_mut_ptr()) {
            0 => now.assume_init().sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

/// An action with handler `handler`: `SIG_DFL` or `came`.
fn plain(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: all zeroes is a valid action with an empty set and no flags.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the set is valid for writes.
    unsafe { libc::sigfillset(&mut action.sa_mask) };
    action
}

/// Installs an action for SIGTERM, and returns the previous one. Safe to call in a signal handler.
fn install(action: &libc::sigaction) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `action` is from `plain`, or was returned by the system. The previous action is read
    // only if the call succeeds.
    unsafe {
        match libc::sigaction(libc::SIGTERM, action, before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The signal handler. All functions that it calls are safe in one, and leave `errno` alone unless
/// they fail.
extern "C" fn came(signal: c_int) {
    if action() != OURS.load(Ordering::SeqCst) {
        return;
    }
    let is_owner = std::process::id() == OWNER.load(Ordering::SeqCst);
    if is_owner && TOLD.swap(true, Ordering::SeqCst) {
        return;
    }
    // SAFETY: one byte of static lifetime is written to an open descriptor, or the call fails.
    let write = || unsafe { libc::write(WRITER.load(Ordering::SeqCst), [0_u8].as_ptr().cast(), 1) };
    if !is_owner || write() != 1 {
        // Nothing receives it: the default action takes place once this handler has returned.
        let _ = install(&plain(libc::SIG_DFL));
        // SAFETY: `raise` may be called in a signal handler.
        unsafe { libc::raise(signal) };
    }
}
