//! `async` blocks and closures capture, return and infer as written; macros with awaits inside are left alone.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[turbowish::instrument]
mod instrumented {
    use super::*;

    pub async fn borrowing(mut text: String) -> String {
        let length = async { text.len() }.await;
        async {
            text.push('!');
        }
        .await;
        let moved = async move { text };
        format!("{}{length}", moved.await)
    }

    pub async fn spawned() -> Result<u32, &'static str> {
        let handle = tokio::spawn(async move {
            tokio::task::yield_now().await;
            Ok::<_, &'static str>(1)
        });
        handle.await.unwrap()
    }

    pub async fn inferred_from_outside() -> Result<u32, std::num::ParseIntError> {
        let future: Boxed<'_, Result<u32, std::num::ParseIntError>> = Box::pin(async {
            let n: u32 = "4".parse()?;
            Ok(n)
        });
        let converted: Boxed<'_, u64> = Box::pin(async { 1u32.into() });
        Ok(future.await? + converted.await as u32)
    }

    pub async fn returned_blocks() -> Vec<u32> {
        let jobs = [1, 2].map(|n| async move {
            tokio::task::yield_now().await;
            n
        });
        let mut results = Vec::new();
        for job in jobs {
            results.push(job.await);
        }
        let optional = Some(async { return 3 });
        if let Some(future) = optional {
            results.push(future.await);
        }
        results
    }

    pub async fn endless_blocks() {
        let handle = tokio::spawn(async {
            loop {
                tokio::task::yield_now().await;
            }
        });
        let panicking = tokio::spawn(async { panic!("asked to") });
        handle.abort();
        assert!(handle.await.unwrap_err().is_cancelled());
        assert!(panicking.await.is_err());
    }

    pub async fn async_closures() -> u32 {
        let mut total = 0;
        let mut add = async |n: u32| {
            tokio::task::yield_now().await;
            total += async { n }.await;
            total
        };
        add(1).await;
        add(2).await
    }

    pub async fn selected() -> (u32, u32, u32) {
        let winner = tokio::select! {
            biased;
            one = async { true } => one,
            () = tokio::time::sleep(Duration::from_secs(60)) => tokio::task::yield_now().await == (),
        };
        let (a, b) = tokio::join!(async { 2 }, async { tokio::task::yield_now().await; 3 });
        (winner as u32, a, b)
    }

    pub async fn tried() -> Result<(u32, u32), String> {
        tokio::try_join!(async { Ok(1) }, async { Err::<u32, _>("no".to_owned()) })
    }

    pub async fn in_format() -> String {
        println!("{}", async { 1 }.await);
        let v = vec![async { 1 }.await, 2];
        assert_eq!(async { 1 }.await, v[0]);
        assert!(matches!(async { Some(1) }.await, Some(_)));
        format!("{}-{}", async { "a" }.await, v.len())
    }

    pub async fn macro_awaited() -> u32 {
        macro_rules! number {
            ($e:expr) => {
                async move { $e.await }
            };
        }
        number!(async { 5 }).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    use instrumented::*;
    assert_eq!(borrowing("ab".into()).await, "ab!2");
    assert_eq!(spawned().await, Ok(1));
    assert_eq!(inferred_from_outside().await, Ok(5));
    assert_eq!(returned_blocks().await, [1, 2, 3]);
    endless_blocks().await;
    assert_eq!(async_closures().await, 3);
    assert_eq!(selected().await, (1, 2, 3));
    assert_eq!(tried().await, Err("no".into()));
    assert_eq!(in_format().await, "a-2");
    assert_eq!(macro_awaited().await, 5);
}
