//! Services, pools, executors, streams: the bounds that published crates put on them, and how they pass futures on.

use crate::twice::later;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Debug;
use std::future::Future;
use std::ops::{AsyncFn, ControlFlow};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, RwLock};
use std::task::{Context, Poll, ready};

pub trait Layer<S> {
    type Service;
    fn layer(&self, inner: S) -> Self::Service;
}
pub trait Service<R> {
    type Response;
    type Error;
    type Future: Future<Output = Result<Self::Response, Self::Error>>;
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>>;
    fn call(&mut self, req: R) -> Self::Future;
}
pub trait Database: Sized + Send + Sync + 'static {
    type Row: Send;
    type Arguments<'q>: Default + Send;
    type Connection: Connection<Database = Self>;
    const NAME: &'static str;
}
pub trait Connection: Send {
    type Database: Database;
    fn ping(&mut self) -> impl Future<Output = Result<(), BoxError>> + Send + '_;
    fn close(self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static
    where
        Self: Sized;
}
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;
pub trait Lending {
    type Item<'a>: Debug
    where
        Self: 'a;
    fn next<'s>(&'s mut self) -> impl Future<Output = Option<Self::Item<'s>>>;
}

twice! {
    // sqlx-like
    #[derive(Debug, Default)]
    pub struct PgConn(u32);
    #[derive(Debug)]
    pub struct Pg;
    impl Database for Pg {
        type Row = u32;
        type Arguments<'q> = Vec<&'q str>;
        type Connection = PgConn;
        const NAME: &'static str = "pg";
    }
    impl Connection for PgConn {
        type Database = Pg;
        async fn ping(&mut self) -> Result<(), BoxError> {
            self.0 += later(1).await;
            Ok(())
        }
        async fn close(mut self) -> Result<(), BoxError> {
            self.ping().await?;
            Err("closed".into())
        }
    }
    pub trait Executor<'c>: Send + Debug + Sized {
        type Database: Database;
        fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Vec<String>, BoxError>>
        where
            'c: 'e,
            E: Into<Cow<'q, str>> + Send + 'q;
        #[allow(async_fn_in_trait)]
        async fn fetch_one<'e, 'q: 'e, E>(self, query: E) -> Result<String, BoxError>
        where
            'c: 'e,
            E: Into<Cow<'q, str>> + Send + 'q,
        {
            self.fetch_many(query)
                .await?
                .into_iter()
                .next()
                .ok_or_else(|| "none".into())
        }
    }
    impl<'c> Executor<'c> for &'c Mutex<PgConn> {
        type Database = Pg;
        fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Vec<String>, BoxError>>
        where
            'c: 'e,
            E: Into<Cow<'q, str>> + Send + 'q,
        {
            let query = query.into();
            Box::pin(async move {
                let mut out = Vec::new();
                for word in query.split(' ') {
                    out.push(later(word.to_owned()).await);
                    self.lock().unwrap().0 += 1;
                }
                Ok(out)
            })
        }
    }
    pub async fn executes() -> Result<String, BoxError> {
        let c = Mutex::new(PgConn(1));
        let owned = String::from("select one");
        let r = (&c).fetch_one(&*owned).await?;
        let e = c.into_inner()?;
        let e = e.close().await.unwrap_err();
        Ok(format!("{r} {e}"))
    }
    pub struct Pool<DB: Database>(Arc<RwLock<Vec<DB::Connection>>>);
    impl<DB: Database> Clone for Pool<DB> {
        fn clone(&self) -> Self {
            Pool(self.0.clone())
        }
    }
    impl<DB> Pool<DB>
    where
        DB: Database,
        for<'q> DB::Arguments<'q>: Default + Debug,
    {
        pub async fn with<F, R>(&self, f: F) -> Result<R, BoxError>
        where
            F: for<'a> FnOnce(&'a mut DB::Connection, DB::Arguments<'a>) -> BoxFuture<'a, Result<R, BoxError>>
                + Send,
            R: Send,
        {
            let mut conn = { self.0.write().map_err(|_| "poisoned")?.pop().ok_or("empty")? };
            conn.ping().await?;
            let r = f(&mut conn, Default::default()).await;
            self.0.write().map_err(|_| "poisoned")?.push(conn);
            r
        }
        pub async fn retry<F>(self: &Arc<Self>, mut times: usize, f: F) -> ControlFlow<BoxError, F::Output>
        where
            F: Future + Clone,
        {
            loop {
                if times == 0 {
                    break ControlFlow::Break(DB::NAME.into());
                }
                times -= 1;
                match f.clone().await {
                    out if times == 0 => return ControlFlow::Continue(out),
                    _ => continue,
                }
            }
        }
    }
    pub async fn pools() -> Result<u32, BoxError> {
        let pool: Pool<Pg> = Pool(Arc::new(RwLock::new(vec![PgConn(3)])));
        let n = pool
            .with(|c, a| {
                async move {
                    c.ping().await?;
                    Ok(c.0 + a.len() as u32)
                }
                .boxed()
            })
            .await?;
        let m = match Arc::new(pool).retry(2, std::future::ready(5)).await {
            ControlFlow::Continue(n) => n,
            ControlFlow::Break(e) => return Err(e),
        };
        Ok(n + m)
    }
    // GAT lending iterators
    pub struct Windows {
        data: Vec<u8>,
        at: usize,
    }
    impl Lending for Windows {
        type Item<'a> = &'a [u8];
        async fn next<'s>(&'s mut self) -> Option<Self::Item<'s>> {
            let at = self.at;
            self.at += later(1).await;
            self.data.get(at..at + 2)
        }
    }
    pub async fn lends() -> usize {
        let mut w = Windows {
            data: vec![1, 2, 3, 4],
            at: 0,
        };
        let mut n = 0;
        while let Some(win) = w.next().await {
            n += win.len();
        }
        n
    }
    // tower-like
    #[derive(Clone)]
    pub struct Timeout<S> {
        inner: S,
        limit: u32,
    }
    impl<S, Req> Service<Req> for Timeout<S>
    where
        S: Service<Req> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        Req: Send + 'static,
    {
        type Response = S::Response;
        type Error = BoxError;
        type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;
        fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            ready!(self.inner.poll_ready(cx)).map_err(Into::into)?;
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: Req) -> Self::Future {
            let clone = self.inner.clone();
            let mut inner = std::mem::replace(&mut self.inner, clone);
            let limit = self.limit;
            Box::pin(async move {
                let fut = inner.call(req);
                if limit == 0 {
                    return Err("timeout".into());
                }
                fut.await.map_err(Into::into)
            })
        }
    }
    #[derive(Clone)]
    pub struct Echo;
    impl Service<String> for Echo {
        type Response = String;
        type Error = std::convert::Infallible;
        type Future = BoxFuture<'static, Result<String, Self::Error>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: String) -> Self::Future {
            async move { Ok(later(req).await) }.boxed()
        }
    }
    pub async fn serves(limit: u32) -> Result<String, BoxError> {
        let mut svc = Timeout { inner: Echo, limit };
        std::future::poll_fn(|cx| svc.poll_ready(cx)).await?;
        svc.call("x".to_owned()).await
    }
    // closures of HRTB
    pub async fn hr<F>(f: F) -> usize
    where
        F: for<'a, 'b> AsyncFn(&'a [u8], &'b str) -> (&'a [u8], &'b str),
    {
        let (a, b) = f(b"ab", "c").await;
        a.len() + b.len()
    }
    pub async fn hr_call() -> usize {
        hr(async |a, b| {
            later(()).await;
            (a, b)
        })
        .await
    }
    pub async fn boxed_closures() -> u32 {
        let fs: Vec<Box<dyn Fn(u32) -> BoxFuture<'static, u32> + Send + Sync>> = vec![
            Box::new(|n| Box::pin(async move { later(n).await })),
            Box::new(|n| async move { n + later(1).await }.boxed()),
        ];
        let mut sum = 0;
        for f in &fs {
            sum += f(sum + 1).await;
        }
        let mut map: HashMap<&str, fn(u32) -> BoxFuture<'static, u32>> = HashMap::new();
        map.insert("a", |n| Box::pin(later(n)));
        sum + map["a"](1).await
    }
    pub async fn streams() -> Vec<u32> {
        let s = futures::stream::iter(0..5u32)
            .filter(|n| {
                let n = *n;
                async move { later(n % 2 == 0).await }
            })
            .then(|n| async move { later(n).await })
            .map(|n| n + 1);
        futures::pin_mut!(s);
        let mut out = vec![];
        while let Some(n) = s.next().await {
            out.push(n);
        }
        let unf: Vec<u32> = futures::stream::unfold(0u32, |n| async move {
            if n > 2 {
                None
            } else {
                Some((later(n).await, n + 1))
            }
        })
        .collect()
        .await;
        out.extend(unf);
        let folded = futures::stream::iter([1u32, 2])
            .fold(String::new(), |mut acc, n| async move {
                acc.push_str(&later(n).await.to_string());
                acc
            })
            .await;
        out.push(folded.len() as u32);
        out.extend(
            futures::future::try_join_all((0..2u32).map(|n| async move { Ok::<_, ()>(later(n).await) }))
                .await
                .unwrap(),
        );
        out
    }
    pub async fn combinators(n: u32) -> Result<u32, String> {
        later(Ok::<u32, String>(n))
            .and_then(|n| async move {
                if n == 0 {
                    Err("zero".to_owned())
                } else {
                    Ok(later(n).await)
                }
            })
            .or_else(|e| async move { if e == "zero" { Ok(later(5).await) } else { Err(e) } })
            .map_ok(|n| n + 1)
            .await
    }
}

#[test]
fn same() {
    same! {
        executes();
        pools();
        lends();
        serves(0);
        serves(1);
        hr_call();
        boxed_closures();
        streams();
        combinators(0);
        combinators(1);
    }
}
