//! Recordings that processes keep beside their sockets, so that they are there after a crash.
//!
//! A process appends to `<pid>.tw`. When that file has its size, it becomes `<pid>.old.tw`, in
//! place of the one before. Its threads have their last polls in memory that is the file
//! `<pid>.ring`. At an orderly end the process removes all three.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use turbowish_model::sorting;

use super::{is_alive, parse_pid, socket, uid, verify};

/// Maximum number of recordings of dead processes in a folder.
pub const DEAD_KEPT: usize = 10;

/// Time for which the recording of a dead process is kept.
pub const DEAD_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The recording of a process in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Process ID, from the names of the files.
    pub pid: u32,
    /// Its files, that with the earlier chunks first. Each is a recording of its own.
    pub segments: Vec<PathBuf>,
    /// The file of the rings of its threads.
    pub ring: Option<PathBuf>,
    /// Whether the process lives: it has its socket, and a process has this ID.
    pub lives: bool,
}

/// The files of a process's recording in a folder, that with the earlier chunks first.
#[must_use]
pub fn segments(folder: &Path, pid: u32) -> [PathBuf; 2] {
    ["old.tw", "tw"].map(|end| folder.join(format!("{pid}.{end}")))
}

/// The file of the rings of a process's threads, in a folder.
#[must_use]
pub fn ring(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{pid}.ring"))
}

impl Recording {
    /// All its files.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.segments.iter().chain(&self.ring)
    }
}

/// Lists the recordings in a folder by process ID; empty if there is no folder.
///
/// # Errors
/// If the folder is not closed to others, does not belong to this user, or cannot be read.
pub fn recordings(folder: &Path) -> io::Result<Vec<Recording>> {
    match verify(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    }
    let mut pids = Vec::new();
    for file in fs::read_dir(folder)? {
        pids.extend(pid_of(&file?.path()));
    }
    sorting::ascending(&mut pids);
    pids.dedup();
    let recordings = pids.into_iter().map(|pid| {
        let is_there = |path: &PathBuf| matches!(own_file(path), Ok(Some(_)));
        Recording {
            pid,
            segments: segments(folder, pid).into_iter().filter(is_there).collect(),
            ring: Some(ring(folder, pid)).filter(is_there),
            lives: is_alive(pid) && fs::symlink_metadata(socket(folder, pid)).is_ok(),
        }
    });
    let recordings = recordings.filter(|recording| recording.files().next().is_some());
    Ok(recordings.collect())
}

/// Removes the recordings of dead processes that are older than [`DEAD_AGE`], and the oldest ones
/// beyond [`DEAD_KEPT`].
///
/// # Errors
/// As [`recordings`].
pub fn sweep(folder: &Path, now: SystemTime) -> io::Result<()> {
    let mut dead: Vec<(SystemTime, Recording)> = recordings(folder)?
        .into_iter()
        .filter(|recording| !recording.lives)
        .map(|recording| (written(&recording), recording))
        .collect();
    sorting::by_key(&mut dead, |(written, _)| *written);
    let beyond = dead.len().saturating_sub(DEAD_KEPT);
    for (nth, (written, recording)) in dead.iter().enumerate() {
        let age = now.duration_since(*written).unwrap_or_default();
        if nth < beyond || age > DEAD_AGE {
            for file in recording.files() {
                // Another process may have been faster.
                let _ = fs::remove_file(file);
            }
        }
    }
    Ok(())
}

/// When the recording was last written to.
fn written(recording: &Recording) -> SystemTime {
    let found = recording.files().map(fs::symlink_metadata);
    let times = found.filter_map(|found| found.ok()?.modified().ok());
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Removes what an earlier process with the same ID has left at this path.
///
/// # Errors
/// If something else is there, which stays, or it cannot be removed.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    match own_file(path)? {
        Some(_) => fs::remove_file(path),
        None => Ok(()),
    }
}

/// The file at this path, if there is one.
///
/// # Errors
/// If it is not a regular file of this user.
fn own_file(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.uid() == uid() => Ok(Some(found)),
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn pid_of(file: &Path) -> Option<u32> {
    let name = file.file_name()?.to_str()?;
    let ends = [".old.tw", ".tw", ".ring"];
    let stem = ends.iter().find_map(|end| name.strip_suffix(end));
    parse_pid(stem?)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use super::super::{prepare, socket};
    use super::{
        DEAD_AGE, DEAD_KEPT, Recording, pid_of, recordings, remove_stale, ring, segments, sweep,
    };

    /// A process ID that no process has, and those before it.
    const NOBODY: u32 = i32::MAX.unsigned_abs();

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("turbowish");
        prepare(&folder).unwrap();
        (root, folder)
    }

    fn pids(folder: &Path) -> Vec<u32> {
        let found = recordings(folder).unwrap();
        found.iter().map(|recording| recording.pid).collect()
    }

    #[test]
    fn pids_are_read_from_names() {
        for (name, expected) in [
            ("4242.tw", Some(4242)),
            ("4242.old.tw", Some(4242)),
            ("4242.ring", Some(4242)),
            ("4242.old.ring", None),
            ("4242.new.tw", None),
            ("old.tw", None),
            ("0.tw", None),
            ("4242.sock", None),
        ] {
            assert_eq!(pid_of(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn recordings_are_those_of_processes_that_live_and_that_do_not() {
        let (_root, folder) = folder();
        let me = std::process::id();
        let [_, mine] = segments(&folder, me);
        let [old, new] = segments(&folder, NOBODY);
        let [both_rings, alone] = [NOBODY, NOBODY - 1].map(|pid| ring(&folder, pid));
        let other = folder.join("notes.tw");
        for path in [&mine, &old, &new, &both_rings, &alone, &other] {
            fs::write(path, "").unwrap();
        }
        // A process of this ID lives, but it is another one: the socket is gone.
        let recording = |pid, segments: &[&PathBuf], ring: Option<&PathBuf>, lives| Recording {
            pid,
            segments: segments.iter().map(|path| (*path).clone()).collect(),
            ring: ring.cloned(),
            lives,
        };
        let dead = || {
            let polls = recording(NOBODY - 1, &[], Some(&alone), false);
            [
                polls,
                recording(NOBODY, &[&old, &new], Some(&both_rings), false),
            ]
        };
        let all = |lives| {
            let [first, second] = dead();
            [recording(me, &[&mine], None, lives), first, second]
        };
        assert_eq!(recordings(&folder).unwrap(), all(false));
        fs::write(socket(&folder, me), "").unwrap();
        assert_eq!(recordings(&folder).unwrap(), all(true));
        assert_eq!(recordings(&folder.join("none")).unwrap(), []);
    }

    #[test]
    fn old_recordings_of_the_dead_and_too_many_of_them_are_removed() {
        let (_root, folder) = folder();
        let now = SystemTime::now();
        let hour = Duration::from_secs(3600);
        let begin = NOBODY - 2 * u32::try_from(DEAD_KEPT).unwrap();
        let write = |path: &Path, age: Duration| {
            let file = File::create(path).unwrap();
            file.set_modified(now - age).unwrap();
        };
        // A live process that has written nothing for two days.
        let me = std::process::id();
        fs::write(socket(&folder, me), "").unwrap();
        write(&segments(&folder, me)[1], 2 * DEAD_AGE);
        // The oldest has the highest ID.
        for nth in 0..20 {
            let [old, new] = segments(&folder, begin + nth);
            // The ring is the file that was written last.
            for (path, before) in [(old, 2), (new, 1), (ring(&folder, begin + nth), 0)] {
                write(&path, hour * nth / 2 + hour * before / 8);
            }
        }
        sweep(&folder, now).unwrap();
        let newest: Vec<u32> = [me].into_iter().chain(begin..begin + 10).collect();
        assert_eq!(pids(&folder), newest);
        sweep(&folder, now + DEAD_AGE - hour * 2).unwrap();
        let young: Vec<u32> = [me].into_iter().chain(begin..begin + 5).collect();
        assert_eq!(pids(&folder), young);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 + 3 * 5);
    }

    #[test]
    fn only_a_file_of_our_own_is_replaced() {
        let (_root, folder) = folder();
        let [old, new] = segments(&folder, NOBODY);
        remove_stale(&old).unwrap();
        fs::write(&old, "").unwrap();
        remove_stale(&old).unwrap();
        assert!(!old.exists());
        symlink(folder.join("precious"), &old).unwrap();
        fs::create_dir(&new).unwrap();
        for path in [&old, &new] {
            remove_stale(path).unwrap_err();
            assert!(fs::symlink_metadata(path).is_ok());
        }
        assert_eq!(pids(&folder), [0; 0], "neither is a recording");
    }
}
