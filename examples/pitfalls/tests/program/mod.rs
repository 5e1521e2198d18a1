//! A program that a test runs, and a connection to it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use turbowish_wire::client::{Connection, Target};

/// Ends with its input, which this holds.
pub(crate) struct Program {
    child: Child,
    pub(crate) connection: Connection,
    _folder: tempfile::TempDir,
}

impl Program {
    /// Starts it with this setting.
    pub(crate) async fn start(path: &str, (name, value): (&str, &str)) -> Self {
        let own = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(own).tempdir();
        let folder = folder.expect("a folder");
        let mut child = Command::new(path)
            .env("TURBOWISH_RUNTIME_DIR", folder.path())
            .env(name, value)
            .env("KV_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let socket = turbowish_wire::discovery::socket(folder.path(), child.id());
        let connection = connected(&mut child, &socket).await;
        Self {
            child,
            connection,
            _folder: folder,
        }
    }

    /// What it has recorded.
    pub(crate) async fn chunks(&self) -> Vec<u8> {
        let mut past = self.connection.past(0, 0).await.expect("the recording");
        let mut chunks = Vec::new();
        while let Some(next) = past.next().await {
            chunks.extend_from_slice(&next.expect("chunks"));
        }
        chunks
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

async fn connected(child: &mut Child, socket: &Path) -> Connection {
    let target = Target::Socket(socket.to_owned());
    let begun = Instant::now();
    loop {
        match Connection::connect(&target).await {
            Ok(connection) => return connection,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(10), "{error}"),
        }
        assert!(child.try_wait().expect("a child").is_none(), "it ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
