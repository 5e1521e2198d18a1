//! `turbowish demo`: a real server and a load in this process, which the console watches like any
//! other process. Unless it is calm, the server has troubles to be found (`kv::trouble`).
//!
//! The server and the load have separate runtimes, and the console shows only the server while it
//! serves clients over loopback TCP. Nothing is left behind: see [`Demo::stop`].

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use kv::load::{Counts, Load};
use kv::trouble::Trouble;
use kv::{Config, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Commands per second: server and load together take about half a core, and leave the rest to the
/// console and its user.
const RATE: u32 = 12_000;

/// Short enough that a user who looks for only a few seconds sees the first snapshot.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(1);

/// A server under load, and accounting in this process. Dropping it stops all of them.
pub(crate) struct Demo {
    // The order matters: fields drop from top to bottom.
    load: Service<Counts>,
    trouble: Option<Trouble>,
    server: Service<()>,
    _dir: Dir,
    _turbowish: turbowish::Guard,
}

/// Starts accounting, the server, and the load. A console can attach to this process when it
/// returns. A calm server has no troubles.
///
/// # Errors
/// A message that names the part that could not be started.
pub(crate) fn start(is_calm: bool) -> Result<Demo, String> {
    let guard = turbowish::Builder::new().name("kv-demo").init();
    let dir =
        Dir::create().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let (server, address) = start_server(&dir.0)
        .map_err(|error| format!("cannot start the demo's server on loopback TCP: {error}"))?;
    let load =
        start_load(address).map_err(|error| format!("cannot start the demo's load: {error}"))?;
    let trouble = match is_calm {
        true => None,
        false => Some(Trouble::start().map_err(|error| format!("cannot start threads: {error}"))?),
    };
    Ok(Demo {
        load,
        trouble,
        server,
        _dir: dir,
        _turbowish: guard,
    })
}

impl Demo {
    /// Stops the load and the server, removes the temporary folder, and returns the counts of the
    /// load.
    ///
    /// # Errors
    /// The load lost its server, or the server could not write its last snapshot.
    pub(crate) fn stop(mut self) -> Result<Counts, String> {
        let counts = self
            .load
            .stop()
            .map_err(|error| format!("the demo's load failed: {error}"));
        drop(self.trouble.take());
        let served = self.server.stop();
        served.map_err(|error| format!("the demo's server failed: {error}"))?;
        counts
    }
}

fn start_server(dir: &Path) -> io::Result<(Service<()>, SocketAddr)> {
    let runtime = Builder::new_multi_thread()
        .thread_name("kv-worker")
        .enable_all()
        .build()?;
    let mut config = Config::new(dir);
    config.snapshot_every = SNAPSHOT_EVERY;
    let server = runtime.block_on(on_worker(Server::bind(config)))?;
    let address = server.local_addr();
    let part = Service::start("kv-server", runtime, |stopped| server.run(stopped))?;
    Ok((part, address))
}

fn start_load(server: SocketAddr) -> io::Result<Service<Counts>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let load = Load {
        rate: Some(RATE),
        ..Load::default()
    };
    Service::start("kv-load", runtime, move |stopped| {
        kv::load::run(server, load, stopped)
    })
}

/// A future on a separate runtime and thread, which ends on request.
struct Service<T> {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<T>>>,
}

/// Runs a future as a task, so that it runs on a worker and not on the thread that waits for it.
async fn on_worker<T: Send + 'static>(
    future: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<T> {
    tokio::spawn(future).await?
}

/// Ready when a part is to end.
type Stopped = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

impl<T: Send + 'static> Service<T> {
    fn start<F>(
        name: &str,
        runtime: Runtime,
        run: impl FnOnce(Stopped) -> F + Send + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = io::Result<T>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let stopped: Stopped = Box::pin(async {
            // An error means that the sender is gone, which is the signal too.
            let _ = stopped.await;
        });
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || runtime.block_on(on_worker(run(stopped))))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl<T> Service<T> {
    fn stop(&mut self) -> io::Result<T> {
        drop(self.stop.take());
        let gone = || io::Error::other("its thread is gone");
        let thread = self.thread.take().ok_or_else(gone)?;
        thread.join().map_err(|_| io::Error::other("it panicked"))?
    }
}

impl<T> Drop for Service<T> {
    fn drop(&mut self) {
        // The outcome is available from `stop`.
        let _ = self.stop();
    }
}

/// A folder that is removed with everything in it.
struct Dir(PathBuf);

impl Dir {
    /// Creates the folder for this user only; another user's folder of the same name is never used.
    fn create() -> io::Result<Self> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let path = std::env::temp_dir().join(format!("turbowish-demo-{process}-{number}"));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // The system cleans its temporary folder; the error can be reported to nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Dir, start};

    #[test]
    fn a_demo_leaves_nothing_behind() {
        leaves_nothing_behind(false);
        leaves_nothing_behind(true);
    }

    fn leaves_nothing_behind(is_calm: bool) {
        let demo = start(is_calm).expect("a loopback port and a folder");
        let dir = demo._dir.0.clone();
        assert!(dir.is_dir());
        let counts = demo
            .stop()
            .expect("no broken connection, and a last snapshot");
        assert_eq!(counts.errors, 0);
        assert!(!dir.exists());
    }

    #[test]
    fn two_folders_are_never_the_same() {
        let (one, other) = (
            Dir::create().expect("a folder"),
            Dir::create().expect("a folder"),
        );
        assert_ne!(one.0, other.0);
        std::fs::write(one.0.join("file"), b"text").expect("a file");
        let path = one.0.clone();
        drop(one);
        assert!(!path.exists());
        assert!(other.0.exists());
    }
}
