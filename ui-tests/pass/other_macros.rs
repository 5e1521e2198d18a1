//! Attributes that must still read `async fn` find it, and what they make of it is understood.

use std::future::Future;

#[turbowish::instrument]
mod tests {
    #[tokio::test]
    #[ignore = "only has to build here"]
    async fn test() {
        tokio::task::yield_now().await;
    }
}

#[turbowish::instrument]
#[must_use]
async fn checked(n: u32) -> u32 {
    tokio::task::yield_now().await;
    n
}

#[turbowish::instrument]
#[cfg_attr(all(), must_use)]
async fn checked_conditionally(n: u32) -> Result<u32, ()> {
    Ok(n)
}

#[turbowish::instrument]
#[tokio::main(flavor = "current_thread")]
async fn before() -> Result<u32, ()> {
    Ok(checked(1).await)
}

#[tokio::main(flavor = "current_thread")]
#[turbowish::instrument]
async fn after() -> Result<u32, ()> {
    Ok(checked(1).await)
}

#[turbowish::instrument]
fn block<'a>(text: &'a str) -> impl Future<Output = Result<&'a str, String>> + use<'a> {
    let length = text.len();
    async move {
        tokio::task::yield_now().await;
        if length == 0 {
            return Err("empty".into());
        }
        Ok(text)
    }
}

#[turbowish::instrument]
fn starts() -> tokio::task::JoinHandle<u32> {
    tokio::spawn(async { checked(2).await })
}

#[turbowish::instrument]
fn early(n: u32) -> Result<u32, std::num::ParseIntError> {
    if n == 0 {
        return Ok(0);
    }
    let parsed: u32 = "x".parse()?;
    Ok(parsed)
}

fn main() {
    assert_eq!(before(), Ok(1));
    assert_eq!(after(), Ok(1));
    assert_eq!(early(0), Ok(0));
    assert!(early(1).is_err());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        assert_eq!(checked_conditionally(1).await, Ok(1));
        assert_eq!(block("a").await, Ok("a"));
        assert_eq!(block("").await, Err("empty".into()));
        assert_eq!(starts().await.unwrap(), 2);
    });
}
