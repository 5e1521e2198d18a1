//! List of this user's processes that run TurboWish, including stopped ones. Sockets of dead
//! processes are removed.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinSet;
use turbowish_model::snapshot::Process;

use super::{CONNECT_TIMEOUT, ClientError, Connection, Target};
use crate::discovery::{self, Entry};

/// A socket whose process is alive.
#[derive(Debug)]
pub struct Found {
    /// Process ID, from the socket's name.
    pub pid: u32,
    /// Path of the socket; [`Target::Socket`] connects to it.
    pub socket: PathBuf,
    /// The process, or why it does not answer (stopped, another protocol, too many consoles).
    pub answer: Result<Process, ClientError>,
}

/// The processes found, and the folders that could not be read.
#[derive(Debug, Default)]
pub struct Listing {
    /// By process ID.
    pub found: Vec<Found>,
    /// Each names the folder and the cause.
    pub faults: Vec<io::Error>,
}

/// Lists the processes of this user. All are asked concurrently, within [`CONNECT_TIMEOUT`].
pub async fn list() -> Listing {
    list_in(&discovery::folders(), CONNECT_TIMEOUT).await
}

/// Lists the processes in these folders.
pub async fn list_in(folders: &[PathBuf], limit: Duration) -> Listing {
    let mut listing = Listing::default();
    let mut asked = JoinSet::new();
    for folder in folders {
        match discovery::entries(folder) {
            Ok(entries) => entries.into_iter().for_each(|entry| {
                asked.spawn(ask(entry, limit));
            }),
            Err(fault) => listing.faults.push(fault),
        }
    }
    while let Some(answer) = asked.join_next().await {
        listing.found.extend(answer.ok().flatten());
    }
    listing
        .found
        .sort_by(|a, b| (a.pid, &a.socket).cmp(&(b.pid, &b.socket)));
    listing
}

async fn ask(entry: Entry, limit: Duration) -> Option<Found> {
    let Entry { pid, socket } = entry;
    let asked = file(&socket);
    let answer = Connection::connect_within(&Target::Socket(socket.clone()), limit).await;
    let stale = match &answer {
        Err(ClientError::Unreachable { cause, .. }) => match cause.kind() {
            io::ErrorKind::ConnectionRefused => true,
            io::ErrorKind::NotFound => return None,
            _ => false,
        },
        // A child that inherited the socket keeps it open when the process itself is gone.
        Err(ClientError::Silent { .. }) => !discovery::is_alive(pid),
        _ => false,
    };
    if stale {
        remove(&socket, asked);
        return None;
    }
    Some(Found {
        pid,
        socket,
        answer: answer.map(|connection| connection.process),
    })
}

/// Identity of a socket file. An inode number may be reused as soon as it is free: the change time
/// tells the files apart.
type File = (u64, u64, i64, i64);

/// Identity of the file at this path, if it is a socket.
fn file(socket: &Path) -> Option<File> {
    let found = fs::symlink_metadata(socket).ok()?;
    let is_socket = found.file_type().is_socket();
    is_socket.then(|| (found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// Removes the socket that was asked, but not one that has replaced it: a restarted process may
/// have the same ID.
fn remove(socket: &Path, asked: Option<File>) {
    if asked.is_some() && file(socket) == asked {
        // Another console may have been faster.
        let _ = fs::remove_file(socket);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::time::Duration;

    use super::{ClientError, file, list_in, remove};
    use crate::discovery::{prepare, socket};

    /// Long enough for a refusal; nothing answers here.
    const LIMIT: Duration = Duration::from_millis(50);

    /// A process ID that no process has.
    const NOBODY: u32 = i32::MAX.unsigned_abs();

    fn folder() -> tempfile::TempDir {
        let closed = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new()
            .permissions(closed)
            .tempdir()
            .unwrap();
        prepare(folder.path()).unwrap();
        folder
    }

    async fn check(folder: &Path, expected: &[u32]) {
        let listing = list_in(&[folder.to_path_buf()], LIMIT).await;
        assert!(listing.faults.is_empty(), "{:?}", listing.faults);
        let pids: Vec<u32> = listing.found.iter().map(|found| found.pid).collect();
        assert_eq!(pids, expected);
    }

    #[tokio::test]
    async fn a_stopped_process_is_listed_as_silent() {
        let folder = folder();
        let me = std::process::id();
        let _open = UnixListener::bind(socket(folder.path(), me)).unwrap();
        let listing = list_in(&[folder.path().to_path_buf()], LIMIT).await;
        assert!(matches!(
            listing.found[0].answer,
            Err(ClientError::Silent { .. })
        ));
        assert!(socket(folder.path(), me).exists());
    }

    #[tokio::test]
    async fn what_dead_processes_left_is_removed() {
        let folder = folder();
        let me = std::process::id();
        drop(UnixListener::bind(socket(folder.path(), me)).unwrap());
        drop(UnixListener::bind(socket(folder.path(), NOBODY)).unwrap());
        check(folder.path(), &[]).await;
        assert!(!socket(folder.path(), me).exists());
        assert!(!socket(folder.path(), NOBODY).exists());
    }

    #[test]
    fn what_came_in_the_place_of_what_was_asked_stays() {
        let folder = folder();
        let path = socket(folder.path(), NOBODY);
        let bind = || UnixListener::bind(&path).unwrap();
        drop(bind());
        // A second link keeps the inode number from being reused.
        fs::hard_link(&path, folder.path().join("kept")).unwrap();
        let asked = file(&path);
        fs::remove_file(&path).unwrap();
        let _next = bind();
        remove(&path, asked);
        assert!(path.exists());
        remove(&path, file(&path));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_socket_that_outlives_its_process_is_removed() {
        let folder = folder();
        let _inherited = UnixListener::bind(socket(folder.path(), NOBODY)).unwrap();
        check(folder.path(), &[]).await;
        assert!(!socket(folder.path(), NOBODY).exists());
    }

    #[tokio::test]
    async fn other_files_are_left_alone() {
        let folder = folder();
        fs::write(socket(folder.path(), 12), "mine").unwrap();
        fs::write(folder.path().join("notes"), "mine").unwrap();
        check(folder.path(), &[]).await;
        assert!(socket(folder.path(), 12).exists());
    }

    #[tokio::test]
    async fn an_open_folder_is_a_fault_and_hides_no_other() {
        let (open, good) = (folder(), folder());
        fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let _open = UnixListener::bind(socket(good.path(), std::process::id())).unwrap();
        let listing = list_in(&[open.path().into(), good.path().into()], LIMIT).await;
        assert_eq!(listing.found.len(), 1);
        assert!(listing.faults[0].to_string().contains("is open to others"));
    }
}
