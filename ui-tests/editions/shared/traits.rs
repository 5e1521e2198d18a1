//! Traits: required and default methods, `Send` promised, futures in trait signatures, boxed ones, unsized types.

use crate::twice::later;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

/// What neither twin writes: its futures are promised to be `Send`, or not.
pub trait Promises {
    fn sent(&self) -> impl Future<Output = u32> + Send;
    fn unsent(&self) -> impl Future<Output = u32>;
    fn borrowed<'a>(&'a self, text: &'a str) -> impl Future<Output = &'a str> + Send;
    fn boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>>;
    fn shown(&self) -> impl Future<Output = impl Debug>;
    fn endless(&self, n: u32) -> impl Future<Output = ()>;
    fn default(&self) -> impl Future<Output = u32> + Send {
        async { 7 }
    }
}

twice! {
    pub trait Store {
        type Value: Debug + Send;
        const LIMIT: u32;
        #[allow(async_fn_in_trait)]
        async fn get(&self, key: u32) -> Self::Value;
        #[allow(async_fn_in_trait)]
        async fn first(&self) -> (Self::Value, u32) {
            (self.get(later(1).await).await, Self::LIMIT)
        }
        #[allow(async_fn_in_trait)]
        async fn consumed(self) -> u32
        where
            Self: Sized,
        {
            later(Self::LIMIT).await
        }
        #[allow(async_fn_in_trait)]
        async fn generic<T: Debug>(&self, value: T, _: u32) -> String {
            format!("{:?}", later(value).await)
        }
        fn boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>> {
            Box::pin(async move { later(1).await })
        }
        fn promised(&self) -> impl Future<Output = u32> + Send;
    }
    #[derive(Debug)]
    pub struct Memory(u32);
    impl Store for Memory {
        type Value = String;
        const LIMIT: u32 = 7;
        async fn get(&self, key: u32) -> Self::Value {
            format!("{} {}", self.0, later(key).await)
        }
        async fn generic<T: Debug>(&self, value: T, unused: u32) -> String {
            format!("{:?}!", later(value).await)
        }
        async fn promised(&self) -> u32 {
            later(self.0).await
        }
    }
    impl<T: Store + Sync + ?Sized> Store for Box<T>
    where
        T::Value: Clone,
    {
        type Value = (T::Value, u32);
        const LIMIT: u32 = 8;
        async fn get(&self, key: u32) -> Self::Value {
            ((**self).get(key).await, later(key).await)
        }
        fn promised(&self) -> impl Future<Output = u32> + Send {
            (**self).promised()
        }
    }
    impl Promises for Memory {
        async fn sent(&self) -> u32 {
            later(self.0).await
        }
        async fn unsent(&self) -> u32 {
            let local = Rc::new(self.0);
            later(()).await;
            *local
        }
        async fn borrowed<'a>(&'a self, text: &'a str) -> &'a str {
            later(text).await
        }
        fn boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>> {
            Box::pin(async move { later(self.0).await })
        }
        async fn shown(&self) -> impl Debug {
            later(self).await
        }
        async fn endless(&self, n: u32) {
            later(n).await;
        }
    }
    pub trait Unsized {
        #[allow(async_fn_in_trait)]
        async fn length(&self) -> usize;
    }
    impl Unsized for str {
        async fn length(&self) -> usize {
            later(self.len()).await
        }
    }
    impl<T> Unsized for [T] {
        async fn length(&self) -> usize {
            later(()).await;
            self.len()
        }
    }
    impl Unsized for dyn Fn() -> usize {
        async fn length(&self) -> usize {
            later(self()).await
        }
    }
    pub trait Endless {
        #[allow(async_fn_in_trait)]
        async fn run(&self) -> !;
    }
    impl Endless for Memory {
        async fn run(&self) -> ! {
            later(()).await;
            panic!("{}", self.0)
        }
    }
    pub async fn everything() -> String {
        let memory = Memory(3);
        let boxed = Box::new(Memory(4));
        let object: &(dyn Fn() -> usize + 'static) = &|| 2;
        let lengths = "abc".length().await + [1, 2][..].length().await + object.length().await;
        format!(
            "{:?} {:?} {} {} {} {} {:?} {}",
            memory.first().await,
            Store::first(&boxed).await,
            memory.generic('c', 1).await,
            Store::generic(&boxed, 'c', 1).await,
            Store::boxed(&memory).await,
            Promises::boxed(&memory).await,
            memory.shown().await,
            lengths,
        ) + &format!("{} {} {}", boxed.promised().await, memory.unsent().await, memory.consumed().await)
    }
    pub async fn until_panic() -> u32 {
        Memory(9).run().await
    }
    pub fn sent() -> impl Future<Output = u32> {
        let memory: &'static Memory = Box::leak(Box::new(Memory(1)));
        assert_send(memory.sent())
    }
    pub fn unsent() -> impl Future<Output = u32> {
        let memory: &'static Memory = Box::leak(Box::new(Memory(1)));
        memory.unsent()
    }
    fn assert_send<F: Future + Send>(future: F) -> F {
        future
    }
    pub async fn generic_sent<P: Promises + Sync>(promises: &P) -> u32 {
        promises.sent().await + promises.borrowed("ab").await.len() as u32 + Promises::default(promises).await
    }
    pub fn of_generic() -> impl Future<Output = u32> {
        let memory: &'static Memory = Box::leak(Box::new(Memory(1)));
        assert_send(generic_sent(memory))
    }
}

#[test]
fn same() {
    same! {
        everything();
        until_panic();
        sent();
        unsent();
        of_generic();
    }
}
