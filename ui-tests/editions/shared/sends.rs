//! Futures that must be `Send` where the compiler is short of lifetimes: streams of borrowed futures, closures of any lifetime, objects.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all, select_all, try_join_all};
use futures::stream::{self, FuturesUnordered, StreamExt, TryStreamExt};
use futures::{FutureExt, TryFutureExt};

use crate::twice::later;

pub trait Backend: Debug + Send + Sync {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>>;
}

pub trait Transport: Clone + Send + Sync + 'static {
    type Error: std::error::Error + Send + Sync + 'static;
    type Body: AsRef<[u8]> + Send;
    fn fetch(&self, key: &str) -> impl Future<Output = Result<Self::Body, Self::Error>> + Send;
}

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub type Hook = Box<dyn for<'a> Fn(&'a mut Vec<u32>) -> BoxFuture<'a, ()> + Send + Sync>;

pub fn is_send<T: Send>(value: T) -> T {
    value
}

twice! {
    #[derive(Debug, Clone)]
    pub struct Memory(pub BTreeMap<String, Vec<u8>>);
    impl Backend for Memory {
        fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
            Box::pin(async move {
                if key.is_empty() {
                    return Err("no key".into());
                }
                Ok(later(self.0.get(key).cloned()).await)
            })
        }
    }
    impl Transport for Memory {
        type Error = std::io::Error;
        type Body = Vec<u8>;
        async fn fetch(&self, key: &str) -> Result<Vec<u8>, std::io::Error> {
            let found = self.get(key).await.map_err(std::io::Error::other)?;
            found.ok_or_else(|| std::io::ErrorKind::NotFound.into())
        }
    }
    #[derive(Clone)]
    pub struct Client<T>(Arc<T>, usize);
    impl<T: Transport> Client<T> {
        async fn length(&self, key: &str) -> Result<usize, BoxError> {
            Ok(self.0.fetch(key).await?.as_ref().len())
        }
        async fn all<'k, I>(&self, keys: I) -> Result<usize, BoxError>
        where
            I: IntoIterator<Item = &'k str> + Send,
            I::IntoIter: Send,
        {
            let lengths = try_join_all(keys.into_iter().map(|key| self.length(key))).await?;
            Ok(lengths.into_iter().sum())
        }
        async fn unordered(&self, keys: &[String]) -> Result<usize, BoxError> {
            let mut running: FuturesUnordered<_> = keys.iter().map(|key| self.length(key)).collect();
            let mut sum = 0;
            while let Some(length) = running.try_next().await? {
                sum += length;
            }
            Ok(sum)
        }
        async fn buffered(self, keys: Vec<String>) -> Vec<Option<usize>> {
            let limit = self.1;
            let client = &self;
            stream::iter(keys)
                .map(|key| async move { client.length(&key).await.ok() })
                .buffered(limit)
                .collect()
                .await
        }
        async fn first(&self, keys: &[&str]) -> Option<usize> {
            let (first, index, rest) = select_all(keys.iter().map(|key| self.length(key).boxed())).await;
            drop(rest);
            first.ok().map(|length| length * 10 + index)
        }
        fn spawned(&self, key: &'static str) -> BoxFuture<'static, Result<usize, BoxError>> {
            let client = self.0.clone();
            async move { Client(client, 1).length(key).await }.boxed()
        }
        async fn mapped<F, R>(&self, key: &str, f: F) -> Option<R>
        where
            F: for<'b> FnOnce(&'b [u8]) -> BoxFuture<'b, R> + Send,
            R: Send,
        {
            let body = self.0.fetch(key).await.ok()?;
            Some(f(body.as_ref()).await)
        }
    }
    fn memory() -> Memory {
        Memory(vec![("a".to_owned(), vec![1]), ("b".to_owned(), vec![1, 2])].into_iter().collect())
    }
    fn client() -> &'static Client<Memory> {
        Box::leak(Box::new(Client(Arc::new(memory()), 2)))
    }
    fn keys() -> &'static [String] {
        Box::leak(Box::new(["a".to_owned(), "b".to_owned()]))
    }
    pub fn all(missing: bool) -> impl Future<Output = Result<usize, BoxError>> {
        is_send(client().all(vec!["a", if missing { "c" } else { "b" }]))
    }
    pub fn unordered() -> impl Future<Output = Result<usize, BoxError>> {
        is_send(client().unordered(keys()))
    }
    pub fn buffered() -> impl Future<Output = Vec<Option<usize>>> {
        is_send(client().clone().buffered(vec!["a".into(), "c".into(), "b".into()]))
    }
    pub fn first() -> impl Future<Output = Option<usize>> {
        is_send(client().first(&["a", "b"]))
    }
    pub fn spawned() -> impl Future<Output = Result<usize, BoxError>> {
        is_send(client().spawned("b").or_else(|error| async move { Err(error) }))
    }
    pub fn mapped() -> impl Future<Output = Option<u8>> {
        is_send(client().mapped("b", |body| async move { later(body[1]).await }.boxed()))
    }
    async fn through(backend: &dyn Backend, keys: &[&str]) -> Vec<Result<usize, String>> {
        join_all(keys.iter().map(|key| async move {
            let found = backend.get(key).await.map_err(|error| error.to_string())?;
            Ok(found.map_or(0, |body| body.len()))
        }))
        .await
    }
    pub fn through_an_object() -> impl Future<Output = Vec<Result<usize, String>>> {
        is_send(through(&*client().0, &["a", "", "c"]))
    }
    async fn hooked(hooks: Vec<Hook>) -> Vec<u32> {
        let mut list = vec![1];
        for hook in &hooks {
            hook(&mut list).await;
        }
        stream::iter(hooks).fold(list, |mut list, hook| async move { hook(&mut list).await; list }).await
    }
    pub fn hooks() -> impl Future<Output = Vec<u32>> {
        let push: Hook = Box::new(|list| Box::pin(async move { list.push(later(2).await) }));
        let double: Hook = Box::new(|list| async move { list.iter_mut().for_each(|n| *n *= 2); later(()).await }.boxed());
        is_send(hooked(vec![push, double]))
    }
}

#[test]
fn same() {
    same! {
        all(false);
        all(true);
        unordered();
        buffered();
        first();
        spawned();
        mapped();
        through_an_object();
        hooks();
    }
}
