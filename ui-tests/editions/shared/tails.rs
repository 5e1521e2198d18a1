//! Functions that return a future with an `async` tail: opaque, boxed, by method, in methods of traits that others wrote.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{BoxFuture, LocalBoxFuture};

use crate::twice::{Loud, later};

/// As of a service that others call.
pub trait Service {
    type Output;
    type Future: Future<Output = Self::Output>;
    fn call(&mut self, n: u32) -> Self::Future;
}

twice! {
    pub fn opaque(text: &str) -> impl Future<Output = usize> + '_ {
        async move { later(text.len()).await }
    }
    pub fn opaque_generic<'a, T: AsRef<str> + Sync + 'a>(text: &'a T) -> impl Future<Output = usize> + Send + 'a {
        let early = text.as_ref().len();
        async move { later(early + text.as_ref().len()).await }
    }
    pub fn opaque_into(n: u32) -> impl IntoFuture<Output = u32> {
        async move { later(n).await }
    }
    pub fn opaque_error(n: u32) -> impl Future<Output = Result<u32, Box<dyn std::error::Error>>> {
        async move {
            if n == 0 {
                return Err("zero".into());
            }
            let parsed: u32 = "5".parse()?;
            Ok(later(parsed).await)
        }
    }
    pub fn opaque_in_block(x: Loud) -> impl Future<Output = u32> {
        let n = 1;
        {
            let m = 2;
            async move {
                let _ = &x;
                later(n + m).await
            }
        }
    }
    pub fn maybe(fail: bool) -> Result<impl Future<Output = u32>, String> {
        if fail {
            return Err("failed".into());
        }
        Ok(async { later(1).await })
    }
    pub fn boxed_by_method(n: u32) -> BoxFuture<'static, u32> {
        async move { later(n).await }.boxed()
    }
    pub fn boxed_by_local_method<'a>(n: &'a Rc<u32>) -> LocalBoxFuture<'a, Result<u32, ()>> {
        async move { Ok(**n + later(1).await) }.boxed_local()
    }
    pub fn boxed_by_function<'a>(n: &'a u32) -> LocalBoxFuture<'a, u32> {
        FutureExt::boxed_local(async move { later(*n).await })
    }
    pub fn pinned<'a>(n: &'a mut u32, x: Loud, y: Loud) -> Pin<Box<dyn Future<Output = &'a mut u32> + Send + 'a>> {
        *n += 1;
        Box::pin(async move {
            let _ = (&y, &x);
            *n += later(1).await;
            n
        })
    }
    pub fn pinned_early(n: u32) -> Pin<Box<dyn Future<Output = u32>>> {
        if n == 0 {
            return Box::pin(async { later(0).await });
        }
        let x = Loud("kept outside");
        std::boxed::Box::pin(async move { later(n).await })
    }
    pub fn pinned_opaque(n: u32) -> Pin<Box<impl Future<Output = u32>>> {
        Box::pin(async move { later(n).await })
    }
    pub fn boxed_twice(n: u32) -> Box<dyn Future<Output = u32> + Unpin> {
        Box::new(Box::pin(async move { later(n).await }))
    }
    pub fn recursive(n: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
        Box::pin(async move { if n == 0 { 0 } else { recursive(n - 1).await + later(1).await } })
    }
    pub fn no_future(n: u32) -> impl Fn(u32) -> futures::future::Ready<u32> {
        move |m| futures::future::ready(n + m)
    }
    #[derive(Debug)]
    pub struct Adds(pub u32);
    impl Service for Adds {
        type Output = Result<u32, std::num::ParseIntError>;
        type Future = Pin<Box<dyn Future<Output = Self::Output> + Send>>;
        fn call(&mut self, n: u32) -> Self::Future {
            let sum = self.0 + n;
            Box::pin(async move { Ok(later(sum).await + "1".parse::<u32>()?) })
        }
    }
    impl IntoFuture for Adds {
        type Output = u32;
        type IntoFuture = BoxFuture<'static, u32>;
        fn into_future(self) -> Self::IntoFuture {
            async move { later(self.0).await }.boxed()
        }
    }
    impl Adds {
        pub fn borrowed(&self) -> impl Future<Output = u32> + '_ {
            async move { later(self.0).await }
        }
        pub fn call_twice(&mut self) -> BoxFuture<'_, u32> {
            Box::pin(async move { self.call(1).await.unwrap() + self.call(2).await.unwrap() })
        }
    }
    pub async fn everything() -> u32 {
        let mut adds = Adds(1);
        adds.call_twice().await + adds.borrowed().await + adds.await + maybe(false).unwrap().await + no_future(1)(2).await
            + opaque_into(3).await + boxed_twice(4).await
    }
}

#[test]
fn same() {
    same! {
        opaque("text");
        opaque_generic(&"text");
        opaque_error(0);
        opaque_error(1);
        opaque_in_block(Loud("x"));
        boxed_by_method(1);
        boxed_by_local_method(&Rc::new(1));
        boxed_by_function(&1);
        pinned(&mut 1, Loud("x"), Loud("y"));
        pinned_early(0);
        pinned_early(1);
        pinned_opaque(1);
        recursive(2);
        everything();
    }
    assert!(instrumented::maybe(true).is_err());
}
