//! Unix socket of this process: it appears complete (bound, closed to others, listening) or not at
//! all, and only its creator removes it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use tokio::net::{UnixListener, UnixStream};
use turbowish_wire::discovery;

use super::accept::Listen;

/// The listening socket of this process.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    file: (u64, u64),
    pid: u32,
}

/// Listens at `<pid>.sock` in the folder, which is created if necessary.
pub(super) async fn bind(folder: &Path, pid: u32) -> io::Result<Socket> {
    discovery::prepare(folder)?;
    let path = discovery::socket(folder, pid);
    if is_in_use(&path).await {
        let text = format!(
            "another process {pid} listens at {} (in another container?); set {} to another folder",
            path.display(),
            discovery::RUNTIME_DIR,
        );
        return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
    }
    // A console removes a socket that refuses it, so the socket must listen before it gets its
    // name.
    let unnamed = folder.join(format!(".{pid}.new"));
    let made = listen(&unnamed).and_then(|made| {
        fs::rename(&unnamed, &path)?;
        Ok(made)
    });
    let (listener, file) = made.map_err(|error| {
        let text = format!(
            "cannot listen at {}: {error}; set {} to another folder",
            path.display(),
            discovery::RUNTIME_DIR
        );
        io::Error::new(error.kind(), text)
    })?;
    Ok(Socket {
        listener,
        path,
        file,
        pid,
    })
}

async fn is_in_use(path: &Path) -> bool {
    match UnixStream::connect(path).await {
        Ok(_) => true,
        // Its backlog is full: the process listens, and is stopped.
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

fn listen(path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok((listener, identity(path)?))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A child of `fork` is not the creator, and the name may belong to another process by now.
        let ours = std::process::id() == self.pid
            && identity(&self.path).is_ok_and(|file| file == self.file);
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Listen for Socket {
    type Stream = UnixStream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.listener
            .poll_accept(context)
            .map_ok(|(stream, _)| stream)
    }

    fn may_enter(stream: &UnixStream) -> bool {
        stream
            .peer_cred()
            .is_ok_and(|peer| peer.uid() == discovery::uid())
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}
