//! File of the rings: the threads have their last polls in memory that is part of it, so that the
//! polls since the last look are there however the process ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Resource, getrlimit};
use turbowish_model::account::poll_ring::{PollWords, ring_places};
use turbowish_recording::{ClockReading, MOST_RINGS, RING_POLLS, ring_header, ring_span};
use turbowish_unsafe::mapping;
use turbowish_wire::discovery;

use super::file::is_raised;
use super::polls::SLOWEST;

/// The file beside the socket.
#[derive(Debug)]
pub(crate) struct RingFile {
    file: File,
    path: PathBuf,
    pid: u32,
    /// Number of rings.
    taken: AtomicU64,
    /// Time of the last note, in nanoseconds since 1970; before the first one a time that never
    /// comes.
    noted: AtomicU64,
}

/// Age at which a note gives way to the next one, in nanoseconds: the readings of the clock for two
/// copies of polls may be as far apart.
const NOTE_NS: u64 = SLOWEST.as_nanos() as u64;

impl RingFile {
    /// Creates the file in the folder of the socket, which is made if necessary. What an earlier
    /// process of this ID has left there goes. `None` if the process may write no file, or another
    /// one has this place.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn create(
        folder: &Path,
        pid: u32,
        clock: &ClockReading,
    ) -> io::Result<Option<Self>> {
        // The server says what is wrong with the folder.
        let is_ours = !is_raised() && discovery::prepare(folder).is_ok();
        if !is_ours || UnixStream::connect(discovery::socket(folder, pid)).is_ok() {
            return Ok(None);
        }
        let path = discovery::ring(folder, pid);
        for left in discovery::segments(folder, pid).iter().chain([&path]) {
            discovery::remove_stale(left)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)?;
        let rings = Self {
            file,
            path,
            pid,
            taken: AtomicU64::new(0),
            noted: AtomicU64::new(u64::MAX),
        };
        match rings.note(clock) {
            Ok(()) => Ok(Some(rings)),
            Err(error) => {
                rings.remove();
                Err(error)
            }
        }
    }

    /// Memory for the ring of one more thread; `None` if all places are taken.
    ///
    /// # Errors
    /// The file may not grow, or cannot be mapped.
    pub(crate) fn ring(&self) -> io::Result<Option<&'static [PollWords]>> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if number >= MOST_RINGS.min(mapping::MOST as u64) {
            return Ok(None);
        }
        let (begin, end) = ring_span(number);
        // The system would end the program for trying.
        if getrlimit(Resource::Fsize)
            .current
            .is_some_and(|most| most < end)
        {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        mapping::words(&self.file, begin, ring_places(RING_POLLS)).map(Some)
    }

    /// Notes what time it is, for a reader of the rings when the process is gone, unless the last
    /// note is new enough.
    ///
    /// # Errors
    /// The system does not take it.
    pub(super) fn note(&self, clock: &ClockReading) -> io::Result<()> {
        let noted = self.noted.load(Ordering::Relaxed);
        if clock.unix_ns.abs_diff(noted) < NOTE_NS {
            return Ok(());
        }
        // One short call: the process does not die in the middle of it.
        self.file.write_all_at(&ring_header(clock), 0)?;
        self.noted.store(clock.unix_ns, Ordering::Relaxed);
        Ok(())
    }

    /// The line about a thread that has no memory in it.
    pub(crate) fn reason(&self, error: &io::Error) -> String {
        reason(&self.path, error)
    }

    /// Removes the file. The threads keep the memory.
    pub(super) fn remove(&self) {
        // A child of `fork` is not the one that made it, and the name may be another one's.
        let is_same = |named: fs::Metadata, own: fs::Metadata| {
            (named.dev(), named.ino()) == (own.dev(), own.ino())
        };
        let named = fs::symlink_metadata(&self.path);
        if std::process::id() == self.pid
            && let (Ok(named), Ok(own)) = (named, self.file.metadata())
            && is_same(named, own)
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The line about what the file would have kept.
pub(crate) fn reason(path: &Path, error: &io::Error) -> String {
    format!(
        "the last polls before a crash may be lost: {}: {error}",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::Ordering::Relaxed;

    use turbowish_model::account::poll_ring::PollRing;
    use turbowish_model::account::time::Scale;
    use turbowish_recording::{ClockReading, MOST_RINGS, ring_header, ring_span};
    use turbowish_wire::discovery;

    use super::RingFile;

    const CLOCK: ClockReading = ClockReading {
        scale: Scale::NANOSECONDS,
        ticks: 1,
        unix_ns: 2,
    };

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("turbowish");
        (root, folder)
    }

    fn create(folder: &Path) -> std::io::Result<Option<RingFile>> {
        RingFile::create(folder, std::process::id(), &CLOCK)
    }

    #[test]
    fn rings_are_in_the_file_until_it_is_removed() {
        let (_root, folder) = folder();
        let pid = std::process::id();
        discovery::prepare(&folder).unwrap();
        let path = discovery::ring(&folder, pid);
        // What an earlier process has left.
        let [old, new] = discovery::segments(&folder, pid);
        for left in [&path, &old, &new] {
            fs::write(left, "left").unwrap();
        }
        let file = create(&folder).unwrap().expect("nobody is there");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(
            (mode & 0o777, old.exists(), new.exists()),
            (0o600, false, false)
        );
        let rings = [3, 9].map(|thread| {
            let ring = PollRing::lent(file.ring().unwrap().expect("room"), thread);
            ring.loan().expect("it fits")[0][0].store(1, Relaxed);
            ring
        });
        // Number of polls, and of the thread.
        let heads = || {
            let bytes = fs::read(&path).unwrap();
            [0, 1].map(|number| {
                let (begin, _) = ring_span(number);
                let at = usize::try_from(begin).unwrap();
                let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
                (word(at), word(at + 8))
            })
        };
        assert_eq!(heads(), [(1, 3), (1, 9)]);
        // Another thread has the place.
        let memory = rings[0].loan().expect("it fits");
        let next = PollRing::lent(memory, 4);
        assert_eq!(heads(), [(0, 4), (1, 9)]);
        file.remove();
        assert!(!path.exists());
        memory[0][0].store(7, Relaxed);
        assert_eq!(next.written(), 7);
    }

    #[test]
    fn a_note_stays_until_it_is_old_or_the_time_of_day_has_changed() {
        let (_root, folder) = folder();
        let file = create(&folder).unwrap().expect("nobody is there");
        let ms = 1_000_000;
        let at = |unix_ns| ClockReading { unix_ns, ..CLOCK };
        for (now, noted) in [
            (2 + 249 * ms, 2),
            (2 + 250 * ms, 2 + 250 * ms),
            (300 * ms, 2 + 250 * ms),
            (9_000 * ms, 9_000 * ms),
            (8_800 * ms, 9_000 * ms),
            (8_700 * ms, 8_700 * ms),
        ] {
            file.note(&at(now)).unwrap();
            let left = fs::read(&file.path).unwrap();
            assert_eq!(left, ring_header(&at(noted)), "{now}");
        }
    }

    #[test]
    fn there_is_an_end_of_places() {
        let (_root, folder) = folder();
        let file = create(&folder).unwrap().expect("nobody is there");
        file.taken.store(MOST_RINGS, Relaxed);
        assert!(file.ring().unwrap().is_none());
        // A file that may not be written has no room for a ring.
        let closed = RingFile {
            file: fs::File::open(&file.path).unwrap(),
            path: file.path.clone(),
            pid: file.pid,
            taken: 0.into(),
            noted: 0.into(),
        };
        let error = closed.ring().unwrap_err();
        let begin = format!(
            "the last polls before a crash may be lost: {}: ",
            file.path.display()
        );
        assert!(closed.reason(&error).starts_with(&begin));
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let (_root, folder) = folder();
        let pid = std::process::id();
        discovery::prepare(&folder).unwrap();
        let path = discovery::ring(&folder, pid);
        let precious = folder.join("precious");
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, &path).unwrap();
        create(&folder).unwrap_err();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        fs::remove_file(&path).unwrap();

        // Another file has the name by now.
        let file = create(&folder).unwrap().expect("nobody is there");
        fs::rename(&precious, &path).unwrap();
        file.remove();
        assert_eq!(fs::read(&path).unwrap(), b"precious");

        // A process of this ID listens there, in another container.
        let _other = UnixListener::bind(discovery::socket(&folder, pid)).unwrap();
        assert!(create(&folder).unwrap().is_none());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said_by_the_server() {
        let (root, _) = folder();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(create(&file.join("below")).unwrap().is_none());
    }
}
