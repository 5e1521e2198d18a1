//! The store over all of its shards, on a clock that the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Blob, Condition, Db, Expiry, SHARDS, Ttl};
use crate::clock::Clock;
use crate::expiry;

fn store() -> (Arc<Db>, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(1_000));
    let db = Db::new(Clock::Manual(Arc::clone(&time)));
    (Arc::new(db), time)
}

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

fn keys(count: usize) -> Vec<Blob> {
    (0..count).map(|n| blob(&format!("key:{n}"))).collect()
}

fn pairs(keys: &[Blob], value: &str) -> Vec<(Blob, Blob)> {
    keys.iter().map(|key| (key.clone(), blob(value))).collect()
}

#[tokio::test]
async fn many_keys_at_once_reach_all_shards() {
    let (db, _) = store();
    let keys = keys(500);
    db.mset(pairs(&keys, "v")).await;
    assert_eq!(db.len().await, 500);
    let (copies, _) = db.copy().await;
    assert_eq!(copies.len(), SHARDS);
    assert!(
        copies.iter().all(|copy| !copy.is_empty()),
        "500 keys miss a shard"
    );
    assert_eq!(db.mget(&keys).await, vec![Some(blob("v")); 500]);
    assert_eq!(
        db.exists(&[keys[0].clone(), keys[0].clone(), blob("nobody")])
            .await,
        2
    );
    assert_eq!(
        db.del(&[keys[0].clone(), keys[0].clone(), blob("nobody")])
            .await,
        1
    );
    assert_eq!(db.len().await, 499);
    db.clear().await;
    assert_eq!(db.len().await, 0);
    assert_eq!(db.mget(&keys).await, vec![None; 500]);
}

#[tokio::test]
async fn of_two_pairs_with_one_key_the_later_counts() {
    let (db, _) = store();
    db.mset(vec![(blob("k"), blob("1")), (blob("k"), blob("2"))])
        .await;
    assert_eq!(db.get(b"k").await, Ok(Some(blob("2"))));
}

#[tokio::test]
async fn a_sweep_removes_what_nobody_asked_for() {
    let (db, time) = store();
    for (n, key) in keys(3_000).into_iter().enumerate() {
        let expiry = if n % 3 == 0 {
            Expiry::Never
        } else {
            Expiry::After(50)
        };
        assert!(db.set(key, blob("v"), expiry, Condition::Always).await);
    }
    assert_eq!(expiry::sweep(&db).await, 0);
    time.fetch_add(49, Ordering::Relaxed);
    assert_eq!(expiry::sweep(&db).await, 0);
    time.fetch_add(1, Ordering::Relaxed);
    assert_eq!(db.len().await, 3_000, "nobody looked yet");
    assert_eq!(expiry::sweep(&db).await, 2_000);
    assert_eq!(db.len().await, 1_000);
}

#[tokio::test]
async fn relative_times_follow_the_clock() {
    let (db, time) = store();
    db.mset(vec![(blob("k"), blob("v"))]).await;
    assert_eq!(db.ttl(b"k").await, Ttl::Forever);
    assert!(db.expire(blob("k"), 20).await);
    time.fetch_add(5, Ordering::Relaxed);
    assert_eq!(db.ttl(b"k").await, Ttl::Left(15));
    assert!(db.expire(blob("k"), i64::MIN).await, "in the past: removed");
    assert_eq!(db.ttl(b"k").await, Ttl::Missing);
    assert!(!db.expire(blob("k"), 20).await);
}

/// Many tasks write all keys at once; whoever reads all keys at once never sees two writers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_of_many_keys_are_never_seen_halfway() {
    let (db, _) = store();
    let keys = Arc::new(keys(40));
    db.mset(pairs(&keys, "start")).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let (db, keys) = (Arc::clone(&db), Arc::clone(&keys));
        writers.spawn(async move {
            for round in 0..200 {
                db.mset(pairs(&keys, &format!("{writer}:{round}"))).await;
            }
        });
    }
    for _ in 0..200 {
        let values = db.mget(&keys).await;
        assert!(values.iter().all(|value| *value == values[0]), "torn read");
        let (copies, _) = db.copy().await;
        let mut copied = copies.iter().flatten().map(|(_, entry)| &entry.value);
        let first = copied.next().expect("forty keys");
        assert!(copied.all(|value| value == first), "torn snapshot");
        tokio::task::yield_now().await;
    }
    while let Some(ended) = writers.join_next().await {
        ended.expect("no writer fails");
    }
}
