//! SIGTERM for a guest: heard only as long as its default action would end the process.
//!
//! Our handler stands in for the default action. Whoever installs a handler later replaces ours, and libraries that share
//! signals call ours from theirs. So at each signal our handler asks which handler is installed: if it is another one, the
//! signal is theirs and ours does nothing. If it is ours, nobody else listens, and [`Sigterm::wait`] returns.
//!
//! A child of `fork` has the handler but not the thread that waits: there it gives way to the default action.

use std::ffi::c_int;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// The process whose SIGTERM is heard.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Our handler's address, as the system tells it.
static OURS: AtomicUsize = AtomicUsize::new(0);
/// Where the handler writes to. It is never closed, so it stays good for every signal.
static WRITER: AtomicI32 = AtomicI32::new(-1);
/// A byte is on its way. With one byte at most, the handler never waits for room in the pipe.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The end of the pipe at which SIGTERM is heard.
#[derive(Debug)]
pub struct Sigterm(UnixStream);

/// What [`listen`] needs.
#[derive(Debug)]
pub struct Ear(UnixStream);

/// Both ends of a pair of sockets, which older Rust has in std and a pipe is not. Nothing is listened for yet, so that a thread which waits can be started before.
///
/// # Errors
/// The process has no descriptor left.
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

/// Listens from now on; once in a process. `false` if somebody else handles or ignores SIGTERM.
///
/// # Errors
/// The system refuses the handler.
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
        // Another thread was quicker by a moment.
        install(&before)?;
        return Ok(false);
    }
    Ok(true)
}

/// Ends the process as the default action of SIGTERM does. Returns only where that action does nothing: in process 1.
pub fn end() {
    let _ = install(&plain(libc::SIG_DFL));
    let mut term = MaybeUninit::uninit();
    // SAFETY: the set is initialised by the first call before the others use it. All of them may be called at any time.
    unsafe {
        libc::sigemptyset(term.as_mut_ptr());
        libc::sigaddset(term.as_mut_ptr(), libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, term.as_ptr(), ptr::null_mut());
        libc::raise(libc::SIGTERM);
    }
}

/// Runs `start`. Threads that are started in it get no signal that is sent to the process: it goes to a thread of the
/// application, which may have reasons to block it. What a thread does to itself (a fault) still reaches it, and so does a
/// profiler's SIGPROF.
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
    // SAFETY: `all` is initialised by the first call before the others use it, `before` is written to by the last one.
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

/// The signals that this thread blocked before.
struct Restored(MaybeUninit<libc::sigset_t>);

impl Drop for Restored {
    fn drop(&mut self) {
        // SAFETY: it is made only where `pthread_sigmask` has written the set.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, self.0.as_ptr(), ptr::null_mut()) };
    }
}

/// What SIGTERM does now. Signal handlers may call this.
fn action() -> libc::sighandler_t {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only writes the present one, and it is written if the call succeeds.
    unsafe {
        match libc::sigaction(libc::SIGTERM, ptr::null(), now.as_mut_ptr()) {
            0 => now.assume_init().sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

/// An action that is the default, or `came`.
fn plain(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: zeroes are an action with an empty set and no flags.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the set is there to be written to.
    unsafe { libc::sigfillset(&mut action.sa_mask) };
    action
}

/// Installs an action for SIGTERM, and gives back what was there. Signal handlers may call this.
fn install(action: &libc::sigaction) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `action` is from `plain`, or what the system gave back. What was there is written if the call succeeds.
    unsafe {
        match libc::sigaction(libc::SIGTERM, action, before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The handler. Everything that it calls may be called in one, and leaves `errno` alone unless it fails.
extern "C" fn came(signal: c_int) {
    if action() != OURS.load(Ordering::SeqCst) {
        return;
    }
    let is_owner = std::process::id() == OWNER.load(Ordering::SeqCst);
    if is_owner && TOLD.swap(true, Ordering::SeqCst) {
        return;
    }
    // SAFETY: one byte that lives for ever is written to a descriptor that is open, or the call fails.
    let write = || unsafe { libc::write(WRITER.load(Ordering::SeqCst), [0_u8].as_ptr().cast(), 1) };
    if !is_owner || write() != 1 {
        // Nobody hears it: the signal does what it did without us, once this handler has returned.
        let _ = install(&plain(libc::SIG_DFL));
        // SAFETY: it may be called in a handler.
        unsafe { libc::raise(signal) };
    }
}
