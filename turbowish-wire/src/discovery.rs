//! Discovery of processes: a process is found by its socket `<pid>.sock` in a folder that only its
//! user can access.
//!
//! The folder is `$TURBOWISH_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/turbowish`, else
//! `/tmp/turbowish-<uid>`. A process creates it with mode 0700 and refuses one that belongs to
//! another user, is a symbolic link, or is open to others: the owner of the folder decides which
//! processes a console sees. A console searches every folder that a process of its user may have
//! chosen, since a service has no `$XDG_RUNTIME_DIR` where a login shell has one.

mod recording;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

pub use recording::{
    DEAD_AGE, DEAD_KEPT, Recording, recordings, remove_stale, ring, segments, sweep,
};
use turbowish_model::sorting;

/// Environment variable with the path of the folder.
pub const RUNTIME_DIR: &str = "TURBOWISH_RUNTIME_DIR";

const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

/// Effective user ID of this process, as sockets report it.
#[must_use]
pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Folder for the socket of a process of this user. Nothing is created yet.
#[must_use]
pub fn folder() -> PathBuf {
    folders().swap_remove(0)
}

/// Folders that a console searches, that of [`folder`] first.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    candidates(
        std::env::var_os(RUNTIME_DIR),
        std::env::var_os(XDG_RUNTIME_DIR),
        uid(),
    )
}

fn candidates(own: Option<OsString>, xdg: Option<OsString>, uid: u32) -> Vec<PathBuf> {
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return vec![own.into()];
    }
    let xdg = xdg
        .map(PathBuf::from)
        .filter(|xdg| xdg.is_absolute() && xdg.is_dir());
    let last = PathBuf::from(format!("/tmp/turbowish-{uid}"));
    xdg.map(|xdg| xdg.join("turbowish"))
        .into_iter()
        .chain([last])
        .collect()
}

/// Path of a process's socket in a folder.
#[must_use]
pub fn socket(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{pid}.sock"))
}

/// Creates the folder if it does not exist, and checks that only this user can access it.
///
/// # Errors
/// The text says which folder is wrong, why, and what to do.
pub fn prepare(folder: &Path) -> io::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    // A symbolic link or a file at the path is reported by the check, with a clearer message.
    if let Err(error) = made
        && fs::symlink_metadata(folder).is_err()
    {
        return Err(fault(
            folder,
            error.kind(),
            &format!("cannot be created ({error})"),
        ));
    }
    verify(folder)
}

/// Checks that the path is a folder, belongs to this user, and is closed to others.
///
/// # Errors
/// As [`prepare`]; `NotFound` if there is none.
pub fn verify(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)
        .map_err(|e| fault(folder, e.kind(), &format!("cannot be read ({e})")))?;
    match reason_against(&found, uid()) {
        Some(reason) => Err(fault(folder, io::ErrorKind::PermissionDenied, &reason)),
        None => Ok(()),
    }
}

fn reason_against(found: &Metadata, uid: u32) -> Option<String> {
    if found.is_symlink() {
        return Some("is a symbolic link".to_owned());
    }
    if !found.is_dir() {
        return Some("is not a folder".to_owned());
    }
    if found.uid() != uid {
        return Some(format!(
            "belongs to user {}, not to you ({uid})",
            found.uid()
        ));
    }
    let mode = found.mode() & 0o777;
    (mode & 0o077 != 0)
        .then(|| format!("is open to others (mode {mode:04o}; chmod 0700 closes it)"))
}

fn fault(folder: &Path, kind: io::ErrorKind, reason: &str) -> io::Error {
    let folder = folder.display();
    io::Error::new(
        kind,
        format!("the folder {folder} {reason}; set {RUNTIME_DIR} to another one"),
    )
}

/// A socket in a folder, and the process ID in its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Process ID, from the file's name.
    pub pid: u32,
    /// Path of the socket.
    pub socket: PathBuf,
}

/// Lists the sockets in a folder by process ID; empty if there is no folder.
///
/// # Errors
/// If the folder is not closed to others, does not belong to this user, or cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    match verify(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    }
    let mut entries = Vec::new();
    for file in fs::read_dir(folder)? {
        let socket = file?.path();
        if let Some(pid) = pid_of(&socket) {
            entries.push(Entry { pid, socket });
        }
    }
    sorting::ascending(&mut entries);
    Ok(entries)
}

fn pid_of(socket: &Path) -> Option<u32> {
    parse_pid(socket.file_name()?.to_str()?.strip_suffix(".sock")?)
}

/// The process ID that a part of a name is, as a process writes it.
fn parse_pid(text: &str) -> Option<u32> {
    let digits =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| digits)
}

/// Whether a process with this ID runs, of any user. One that has ended does not, though it still
/// has an ID because its parent has not waited for it.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    has_id(pid) && !is_zombie(pid)
}

fn has_id(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| match rustix::process::test_kill_process(pid) {
        Ok(()) => true,
        Err(errno) => errno == rustix::io::Errno::PERM,
    })
}

/// Whether a process is stopped, by a signal or a debugger. Only Linux tells.
#[must_use]
pub fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| matches!(state, 'T' | 't'))
}

/// Whether a process has ended but still has an ID. Only Linux tells.
fn is_zombie(pid: u32) -> bool {
    // The first thread may have ended before others.
    stat(pid).is_some_and(|(state, threads)| matches!(state, 'Z' | 'X') && threads <= 1)
}

/// Linux's letter for the state of a process, and the number of its threads; `None` on other
/// systems.
fn stat(pid: u32) -> Option<(char, u32)> {
    const THREADS: usize = 17;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in brackets, and may contain anything.
    let mut facts = stat.rsplit_once(") ")?.1.split(' ');
    let state = facts.next()?.chars().next()?;
    Some((state, facts.nth(THREADS - 1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::{candidates, entries, has_id, is_alive, pid_of, prepare};

    #[test]
    fn the_folder_is_the_first_that_is_named() {
        let xdg = tempfile::tempdir().unwrap();
        let xdg = xdg.path().to_str().unwrap();
        let check = |own: Option<&str>, dir: Option<&str>, expected: &[PathBuf]| {
            assert_eq!(
                candidates(own.map(Into::into), dir.map(Into::into), 1000),
                expected
            );
        };
        let last = PathBuf::from("/tmp/turbowish-1000");
        let in_xdg = Path::new(xdg).join("turbowish");
        check(Some("/own"), Some(xdg), &["/own".into()]);
        check(Some(""), Some(xdg), &[in_xdg.clone(), last.clone()]);
        check(None, Some(xdg), &[in_xdg, last.clone()]);
        check(None, Some("relative"), std::slice::from_ref(&last));
        check(None, Some("/no/such/folder"), std::slice::from_ref(&last));
        check(None, None, &[last]);
    }

    #[test]
    fn pids_are_read_from_names() {
        for (name, expected) in [
            ("4242.sock", Some(4242)),
            ("0.sock", None),
            ("007.sock", None),
            ("+7.sock", None),
            (".sock", None),
            ("4242", None),
            ("4242.sock.new", None),
            ("99999999999.sock", None),
        ] {
            assert_eq!(pid_of(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_new_folder_is_closed() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a").join("b");
        prepare(&folder).unwrap();
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        prepare(&folder).unwrap();
        fs::write(folder.join("12.sock"), "").unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
        let pids: Vec<u32> = entries(&folder).unwrap().iter().map(|e| e.pid).collect();
        assert_eq!(pids, [12]);
    }

    #[test]
    fn no_folder_holds_no_entries() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(entries(&root.path().join("none")).unwrap(), []);
    }

    #[test]
    fn folders_of_others_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let check = |name: &str, expected: &str| {
            let folder = root.path().join(name);
            let text = prepare(&folder).unwrap_err().to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains(folder.to_str().unwrap()), "{text}");
        };
        prepare(&root.path().join("good")).unwrap();
        symlink(root.path().join("good"), root.path().join("link")).unwrap();
        check("link", "is a symbolic link");
        fs::write(root.path().join("file"), "").unwrap();
        check("file", "is not a folder");
        fs::create_dir(root.path().join("open")).unwrap();
        fs::set_permissions(root.path().join("open"), fs::Permissions::from_mode(0o750)).unwrap();
        check("open", "is open to others (mode 0750");
        check("file/below", "cannot be created");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let found = fs::symlink_metadata("/").unwrap();
        let other = std::os::unix::fs::MetadataExt::uid(&found) + 1;
        let reason = super::reason_against(&found, other).unwrap();
        assert!(reason.contains("belongs to user"), "{reason}");
    }

    #[test]
    fn processes_are_alive_or_not() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(0));
        assert!(!is_alive(u32::MAX));
        assert!(!is_alive(i32::MAX.unsigned_abs()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_nobody_has_waited_for_is_not_alive() {
        let program = std::env::current_exe().unwrap();
        let mut listing = Command::new(program);
        let mut child = listing.arg("--list").stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while is_alive(child.id()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "it ends at once");
            std::thread::yield_now();
        }
        assert!(has_id(child.id()));
        assert!(child.wait().unwrap().success());
        assert!(!has_id(child.id()));
    }
}
