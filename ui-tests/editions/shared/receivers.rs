//! `self`, `mut self`, `&self`, `&mut self`, `Pin`, `Arc`, `Rc`, `Box`, `&Rc`, `self: &Self`, and `Self` in bodies.

use crate::twice::later;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

twice! {
    #[derive(Debug, Clone, Default)]
    pub struct Counter<'t> {
        name: &'t str,
        count: u32,
    }
    impl<'t> Counter<'t> {
        const START: u32 = 1;
        async fn new(name: &'t str) -> Self {
            Self { name, count: later(Self::START).await }
        }
        async fn by_reference(&self) -> &'t str {
            later(self.name).await
        }
        async fn borrowed(&self, _other: &str) -> &u32 {
            later(()).await;
            &self.count
        }
        async fn exclusive(&mut self) -> &mut u32 {
            self.count += later(1).await;
            &mut self.count
        }
        async fn by_value(self) -> u32 {
            later(self.count).await
        }
        async fn changed(mut self) -> Self {
            self.count += later(1).await;
            self
        }
        async fn in_a_pin(self: Pin<&mut Self>) -> u32 {
            later(self.count).await
        }
        async fn in_a_mut_pin(mut self: Pin<&mut Self>) -> u32 {
            self.as_mut().count += later(1).await;
            self.count
        }
        async fn in_an_arc(self: Arc<Self>) -> usize {
            later(Arc::strong_count(&self)).await
        }
        async fn by_rc(self: &Rc<Self>) -> usize {
            later(()).await;
            Rc::strong_count(self)
        }
        async fn in_a_box(self: Box<Self>) -> Self {
            later(()).await;
            *self
        }
        async fn in_a_mut_box(mut self: Box<Self>) -> Box<Self> {
            self.count += later(1).await;
            self
        }
        async fn typed<'s>(self: &'s Self, _: &'t str) -> &'s u32 {
            later(()).await;
            &self.count
        }
        async fn hidden(&self) -> Counter<'_> {
            Counter { name: later(self.name).await, count: 0 }
        }
        async fn mapped<'s, F, R>(&'s self, f: F) -> R
        where
            F: FnOnce(&'s Self) -> R,
            R: 's,
        {
            later(f(self)).await
        }
        async fn taken_apart(self) -> u32 {
            let Counter { name: _, count } = self;
            later(count).await
        }
        async fn through_self(&self) -> u32 {
            self.hidden().await.by_value().await + Self::new("a").await.count + Counter::<'t>::START
        }
        fn plain(&self) -> u32 {
            self.count
        }
        const fn constant(&self) -> u32 {
            self.count
        }
    }
    pub async fn all() -> String {
        let mut counter = Counter::new("name").await;
        *counter.exclusive().await += 1;
        let mut seen = vec![counter.by_reference().await.len() as u32, *counter.borrowed("").await];
        seen.push(Pin::new(&mut counter).in_a_pin().await);
        seen.push(Pin::new(&mut counter).in_a_mut_pin().await);
        seen.push(Arc::new(counter.clone()).in_an_arc().await as u32);
        seen.push(Rc::new(counter.clone()).by_rc().await as u32);
        let counter = Box::new(counter).in_a_mut_box().await.in_a_box().await.changed().await;
        seen.push(*counter.typed("").await);
        seen.push(counter.mapped(|counter| counter.count).await);
        seen.push(counter.through_self().await + counter.plain() + counter.constant());
        seen.push(counter.clone().taken_apart().await);
        format!("{:?} {:?}", seen, counter)
    }
    pub async fn sent(counter: Counter<'static>) -> u32 {
        counter.clone().by_value().await + *counter.borrowed("").await
    }
    pub fn counter() -> Counter<'static> {
        Counter { name: "static", count: 3 }
    }
    pub fn of_sent() -> impl Future<Output = u32> {
        sent(counter())
    }
}

#[test]
fn same() {
    same! {
        all();
        of_sent();
    }
    assert!(whole!(instrumented::all()).contains("[4, 3, 3, 4, 1, 1, 6, 6, "));
}
