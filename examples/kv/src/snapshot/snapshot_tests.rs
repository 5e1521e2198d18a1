//! Round trip of the store to disk, in a separate folder.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use turbowish::sync::oneshot;

use super::{load, path, run, write};
use crate::clock::Clock;
use crate::db::{Blob, Condition, Db, End, Expiry, Ttl};

fn store(time: &Arc<AtomicU64>) -> Db {
    Db::new(Clock::Manual(Arc::clone(time)))
}

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let name = |entry: io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    entries
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect()
}

#[tokio::test]
async fn what_was_written_is_loaded() {
    let dir = tempfile::tempdir().expect("a folder");
    let time = Arc::new(AtomicU64::new(1_000));
    let db = store(&time);
    // More than one page of text, a list, and keys with a deadline.
    for n in 0..2_000 {
        let (key, value) = (blob(&format!("key:{n}")), blob(&"v".repeat(100)));
        assert!(db.set(key, value, Expiry::Never, Condition::Always).await);
    }
    let words = vec![blob("a"), blob("b")];
    assert_eq!(
        db.push(blob("list"), words.clone(), End::Right).await,
        Ok(2)
    );
    for (key, ms) in [("soon", 10), ("later", 100)] {
        let expiry = Expiry::After(ms);
        assert!(
            db.set(blob(key), blob("v"), expiry, Condition::Always)
                .await
        );
    }
    let changes = write(&db, &path(dir.path())).await.expect("written");
    assert_eq!(changes, db.changes().await);
    assert_eq!(
        names(dir.path()),
        ["kv.snapshot"],
        "nothing unfinished stays"
    );

    time.fetch_add(50, Ordering::Relaxed);
    let db = store(&time);
    load(&db, &path(dir.path())).await.expect("loaded");
    assert_eq!(
        db.len().await,
        2_002,
        "all but the key that ended meanwhile"
    );
    assert_eq!(db.get(b"key:1999").await, Ok(Some(blob(&"v".repeat(100)))));
    assert_eq!(db.range(b"list", 0, -1).await, Ok(words));
    assert_eq!(db.ttl(b"soon").await, Ttl::Missing);
    assert_eq!(db.ttl(b"later").await, Ttl::Left(50));
    assert_eq!(db.ttl(b"list").await, Ttl::Forever);
}

#[tokio::test]
async fn no_file_is_an_empty_store_and_a_broken_one_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = path(dir.path());
    let db = store(&Arc::default());
    load(&db, &path).await.expect("nothing to load");
    assert_eq!(db.len().await, 0);
    std::fs::write(&path, b"KVSNAP\n\x01 and then something else").expect("a file");
    let error = load(&db, &path).await.expect_err("damaged");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let expected = format!(
        "snapshot {}: checksum does not match; move it away to start empty",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(db.len().await, 0);
}

#[tokio::test]
async fn an_unfinished_file_does_not_count() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = path(dir.path());
    let db = store(&Arc::default());
    db.mset(vec![(blob("k"), blob("v"))]).await;
    write(&db, &path).await.expect("written");
    std::fs::write(path.with_extension("snapshot.tmp"), b"half of").expect("a file");
    let again = store(&Arc::default());
    load(&again, &path).await.expect("loaded");
    assert_eq!(again.get(b"k").await, Ok(Some(blob("v"))));
}

/// Runs the task to its end on a store with one key, and says whether there is a file.
async fn last_write(is_saved: bool) -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let path = path(dir.path());
    let db = Arc::new(store(&Arc::default()));
    db.mset(vec![(blob("k"), blob("v"))]).await;
    let saved = if is_saved { db.changes().await } else { 0 };
    let (finish, finished) = oneshot::channel();
    drop(finish);
    let every = Duration::from_secs(3_600);
    let done = run(db, path.clone(), every, saved, finished).await;
    done.expect("no error");
    path.exists()
}

#[tokio::test]
async fn the_last_snapshot_is_written_if_something_has_changed() {
    assert!(last_write(false).await);
    assert!(!last_write(true).await);
}

#[tokio::test]
async fn the_task_writes_while_the_server_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = path(dir.path());
    let db = Arc::new(store(&Arc::default()));
    db.mset(vec![(blob("k"), blob("v"))]).await;
    let (finish, finished) = oneshot::channel();
    let every = Duration::from_millis(1);
    let task = tokio::spawn(run(Arc::clone(&db), path.clone(), every, 0, finished));
    while !path.exists() {
        assert!(!task.is_finished(), "ended by itself");
        tokio::task::yield_now().await;
    }
    drop(finish);
    task.await.expect("no panic").expect("written");
    let again = store(&Arc::default());
    load(&again, &path).await.expect("loaded");
    assert_eq!(again.get(b"k").await, Ok(Some(blob("v"))));
}
