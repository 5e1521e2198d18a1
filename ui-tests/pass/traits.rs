//! A trait and its implementations fit together, whichever of them is instrumented, and stay `Send` where they were.

use std::future::Future;

#[turbowish::instrument]
trait Store {
    type Value: Send;
    async fn get(&self, key: u32) -> Option<Self::Value>;
    async fn get_or(&self, key: u32, default: Self::Value) -> Self::Value {
        self.get(key).await.unwrap_or(default)
    }
    async fn unused_default(&self, _key: u32) {}
    fn name(&self) -> &'static str {
        "store"
    }
    #[turbowish::instrument(skip)]
    async fn skipped(&self) -> u32 {
        1
    }
}

struct Memory;
struct Disk;

#[turbowish::instrument]
impl Store for Memory {
    type Value = u32;
    async fn get(&self, key: u32) -> Option<u32> {
        tokio::task::yield_now().await;
        (key > 0).then_some(key)
    }
}

impl Store for Disk {
    type Value = String;
    async fn get(&self, _key: u32) -> Option<String> {
        None
    }
    #[turbowish::instrument]
    async fn get_or(&self, _key: u32, default: String) -> String {
        default + "!"
    }
    fn name(&self) -> &'static str {
        "disk"
    }
}

trait Promises {
    fn promised(&self) -> impl Future<Output = u32> + Send;
    fn borrowed<'a>(&'a self, text: &'a str) -> impl Future<Output = &'a str> + Send;
}

#[turbowish::instrument]
impl Promises for Memory {
    async fn promised(&self) -> u32 {
        tokio::task::yield_now().await;
        1
    }
    async fn borrowed<'a>(&'a self, text: &'a str) -> &'a str {
        text
    }
}

#[turbowish::instrument]
impl<T: Store + Sync> Store for &T {
    type Value = T::Value;
    async fn get(&self, key: u32) -> Option<T::Value> {
        T::get(self, key).await
    }
}

trait Unsized {
    async fn length(&self) -> usize;
}

#[turbowish::instrument]
impl Unsized for str {
    async fn length(&self) -> usize {
        self.len()
    }
}

#[turbowish::instrument]
impl<T> Unsized for [T] {
    async fn length(&self) -> usize {
        self.len()
    }
}

async fn generic<P: Promises + Send + Sync + 'static>(promises: P) -> u32 {
    tokio::spawn(async move { promises.promised().await }).await.unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Memory.get_or(0, 5).await, 5);
    assert_eq!(Memory.get_or(3, 5).await, 3);
    assert_eq!((&Memory).get(2).await, Some(2));
    Memory.unused_default(1).await;
    assert_eq!(Memory.skipped().await, 1);
    assert_eq!((Memory.name(), Disk.name()), ("store", "disk"));
    assert_eq!(Disk.get_or(1, "a".into()).await, "a!");
    assert_eq!(generic(Memory).await, 1);
    assert_eq!(Memory.borrowed("a").await, "a");
    assert_eq!("abc".length().await + [1, 2].length().await, 5);
    // `Send` is seen through the rewritten signature.
    assert_eq!(tokio::spawn(async { Memory.get(1).await }).await.unwrap(), Some(1));
}
