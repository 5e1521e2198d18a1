//! Output thread. A terminal that accepts nothing, because of ^S or because nobody reads it, blocks
//! this thread alone; the console still handles keys and signals.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::lock::lock;

/// Maximal wait, when the console exits, for a terminal that accepts no byte; then it is left as it
/// is.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes per write: few, so that progress on a slow line is noticed in time.
const PIECE: usize = 512;

/// The terminal as a writer: flushing hands the written bytes to the thread, and never blocks.
#[derive(Clone, Debug)]
pub(super) struct Output {
    unsent: Vec<u8>,
    sender: Sender<Vec<u8>>,
    way: Arc<Way>,
}

/// Progress of the thread.
#[derive(Debug, Default)]
struct Way {
    progress: Mutex<Progress>,
    changed: Condvar,
    drained: Notify,
}

#[derive(Debug, Default)]
struct Progress {
    sent: u64,
    written: u64,
    /// The error after which nothing can be written.
    fault: Option<io::ErrorKind>,
}

impl Progress {
    const fn is_idle(&self) -> bool {
        self.sent == self.written || self.fault.is_some()
    }
}

impl Way {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    fn advance(&self, written: io::Result<u64>) {
        let mut progress = self.lock();
        match written {
            Ok(bytes) => progress.written += bytes,
            Err(fault) => progress.fault = Some(fault.kind()),
        }
        let idle = progress.is_idle();
        drop(progress);
        self.changed.notify_all();
        if idle {
            self.drained.notify_one();
        }
    }
}

impl Output {
    /// Standard output.
    pub(super) fn of_stdout() -> io::Result<Self> {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self::new(file))
    }

    fn new(to: impl Write + Send + 'static) -> Self {
        let (sender, inbox) = channel();
        let way = Arc::new(Way::default());
        let own = Arc::clone(&way);
        std::thread::spawn(move || write_all(to, &inbox, &own));
        Self {
            unsent: Vec::new(),
            sender,
            way,
        }
    }

    /// Whether the terminal has received everything, or never will: there is room for another
    /// frame.
    pub(super) fn is_idle(&self) -> bool {
        self.way.lock().is_idle()
    }

    /// Waits until that may be the case.
    pub(super) async fn drained(&self) {
        self.way.drained.notified().await;
    }

    /// Waits until the terminal has received everything, as long as it makes progress; returns
    /// whether it has.
    pub(super) fn settle(&self) -> bool {
        let mut progress = self.way.lock();
        loop {
            if progress.is_idle() {
                return true;
            }
            let before = progress.written;
            let stands = |now: &mut Progress| !now.is_idle() && now.written == before;
            let waited = self
                .way
                .changed
                .wait_timeout_while(progress, PATIENCE, stands);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return false;
            }
            progress = now;
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.unsent);
        let mut progress = self.way.lock();
        if let Some(fault) = progress.fault {
            return Err(fault.into());
        }
        progress.sent += bytes.len() as u64;
        drop(progress);
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.sender.send(bytes).map_err(gone)
    }
}

/// The body of the thread: runs until all writers are dropped, or the terminal is gone.
fn write_all(mut to: impl Write, inbox: &Receiver<Vec<u8>>, way: &Way) {
    for bytes in inbox {
        for piece in bytes.chunks(PIECE) {
            let written = to.write_all(piece).map(|()| piece.len() as u64);
            let failed = written.is_err();
            way.advance(written);
            if failed {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Accepts a piece only on request.
    struct Slow(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            self.0.recv().map_err(gone)?;
            // The receiver may have been dropped.
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn whoever_writes_never_waits_for_the_terminal() {
        let (take, taken) = channel();
        let (told, written) = channel();
        let mut output = Output::new(Slow(taken, told));
        assert!(output.is_idle() && output.settle());
        write!(output, "{}", "x".repeat(2 * PIECE)).unwrap();
        output.flush().unwrap();
        assert!(!output.is_idle());
        take.send(()).unwrap();
        assert_eq!(written.recv().unwrap().len(), PIECE);
        assert!(!output.is_idle() && !output.settle());
        take.send(()).unwrap();
        assert!(output.settle() && output.is_idle());
    }

    #[test]
    fn a_terminal_that_is_gone_is_an_error_and_holds_nobody_back() {
        let (take, taken) = channel();
        let (told, _) = channel();
        let mut output = Output::new(Slow(taken, told));
        write!(output, "x").unwrap();
        output.flush().unwrap();
        drop(take);
        assert!(output.settle());
        write!(output, "y").unwrap();
        assert_eq!(
            output.flush().unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
    }
}
