//! The store on disk: the file is always complete, because it is written under another name first.

mod format;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt;
use tokio::time::MissedTickBehavior;
use turbowish::sync::oneshot;

use crate::db::Db;

use format::{Decoder, Encoder};

/// Bytes encoded between two writes.
const PAGE: usize = 64 * 1024;

/// Where the snapshot of a folder is.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("kv.snapshot")
}

/// Writes the snapshot again and again where something has changed, and a last time when `finished` is.
///
/// `saved` is [`Db::changes`] of what is on disk already.
///
/// # Errors
/// If the last one cannot be written. Of others it says so and tries again.
#[turbowish::instrument]
pub(crate) async fn run(
    db: Arc<Db>,
    path: PathBuf,
    every: Duration,
    mut saved: u64,
    mut finished: oneshot::Receiver<()>,
) -> io::Result<()> {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            // An error says that the sender is gone, which is the signal.
            _ = &mut finished => break,
        }
        if db.changes().await != saved {
            match write(&db, &path).await {
                Ok(changes) => saved = changes,
                Err(error) => eprintln!("kv: cannot write {}: {error}", path.display()),
            }
        }
    }
    if db.changes().await != saved {
        write(&db, &path).await?;
    }
    Ok(())
}

/// Writes the store as it is now, and returns [`Db::changes`] of that instant.
#[turbowish::instrument]
pub(crate) async fn write(db: &Db, path: &Path) -> io::Result<u64> {
    let (shards, changes) = db.copy().await;
    let unfinished = path.with_extension("snapshot.tmp");
    let mut file = File::create(&unfinished).await?;
    let mut encoder = Encoder::new();
    for (key, entry) in shards.iter().flatten() {
        encoder.entry(key, entry);
        if encoder.page().len() >= PAGE {
            file.write_all(encoder.page()).await?;
            encoder.page().clear();
        }
    }
    file.write_all(&encoder.finish()).await?;
    file.sync_all().await?;
    fs::rename(&unfinished, path).await?;
    if let Some(dir) = path.parent() {
        // The new name is durable only with its folder.
        File::open(dir).await?.sync_all().await?;
    }
    Ok(changes)
}

/// Puts what the snapshot holds into the store; a missing file holds nothing.
///
/// # Errors
/// If the file cannot be read, or is no whole snapshot. Nothing has been stored then.
#[turbowish::instrument]
pub(crate) async fn load(db: &Db, path: &Path) -> io::Result<()> {
    let named = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("snapshot {}: {error}", path.display()),
        )
    };
    let bytes = match fs::read(path).await {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(named(error)),
    };
    let decoded: Result<Vec<_>, _> = Decoder::new(&bytes).and_then(Iterator::collect);
    let entries = decoded.map_err(|broken| {
        let advice = format!("{broken}; move it away to start empty");
        named(io::Error::new(io::ErrorKind::InvalidData, advice))
    })?;
    for (key, entry) in entries {
        db.restore(key, entry).await;
    }
    Ok(())
}

#[cfg(test)]
#[path = "snapshot/snapshot_tests.rs"]
mod tests;
