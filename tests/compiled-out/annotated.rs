//! What people annotate: the same source without the attributes must compile to the same assembly.

use std::future::Future;
use std::pin::Pin;

pub struct Store {
    values: Vec<u64>,
}

#[turbowish::instrument]
impl Store {
    pub async fn sum(&self, parser: &dyn Parse) -> Result<u64, String> {
        let mut sum = 0;
        for value in &self.values {
            sum += step(*value, [7; 32]).await;
        }
        let factor = parser.parse("2").await?;
        Ok(sum * factor)
    }

    pub const fn empty() -> Store {
        Store { values: Vec::new() }
    }
}

pub trait Parse {
    fn parse<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<u64, String>> + Send + 'a>>;
}

pub struct Decimal;

impl Parse for Decimal {
    #[turbowish::instrument]
    fn parse<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<u64, String>> + Send + 'a>> {
        Box::pin(async move { text.parse().map_err(|error| format!("{text}: {error}")) })
    }
}

#[turbowish::instrument(name = "a step")]
async fn step(value: u64, weights: [u8; 32]) -> u64 {
    std::future::poll_fn(|_| std::task::Poll::Ready(())).await;
    value * u64::from(weights[(value % 32) as usize])
}

#[turbowish::instrument]
mod deep {
    pub async fn outer(text: String) -> usize {
        let inner = async { text.len() };
        inner.await + super::sync(&text)
    }
}

#[turbowish::instrument]
fn sync(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Makes the compiler print the polls of the futures above.
pub fn futures<'a>(
    store: &'a Store,
    parser: &'a dyn Parse,
) -> (
    Pin<Box<dyn Future<Output = Result<u64, String>> + 'a>>,
    Pin<Box<dyn Future<Output = usize> + Send>>,
    Box<dyn Parse>,
) {
    (
        Box::pin(store.sum(parser)),
        Box::pin(deep::outer(String::from("4 and 2"))),
        Box::new(Decimal),
    )
}
