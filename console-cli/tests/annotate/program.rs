//! What `turbowish annotate` finds and leaves: the program means the same before and after.

#![deny(warnings)]

use std::num::ParseIntError;
use std::rc::Rc;

use async_trait::async_trait;

trait Plain {
    async fn ask(&self, n: u32) -> u32;

    /// Asks.
    async fn twice(&self, n: u32) -> u32 {
        self.ask(n).await + self.ask(n).await
    }
}

#[async_trait]
trait Boxed: Send + Sync {
    async fn ask(&self, n: u32) -> u32;

    /// Reads, and asks.
    #[must_use]
    async fn twice(&self, text: &str) -> Result<u32, ParseIntError> {
        let n: u32 = text.parse()?;
        Ok(self.ask(n).await + self.ask(n).await)
    }
}

struct Adder(u32);

impl Plain for Adder {
    async fn ask(&self, n: u32) -> u32 {
        self.0 + n
    }
}

#[async_trait]
impl Boxed for Adder {
    async fn ask(&self, n: u32) -> u32 {
        async fn same(n: u32) -> u32 {
            n
        }
        tokio::task::yield_now().await;
        self.0 + same(n).await
    }
}

#[async_trait(?Send)]
trait Local {
    async fn add<'a>(&'a mut self, n: Rc<u32>) -> &'a u32;
}

#[async_trait(?Send)]
impl Local for Adder {
    async fn add<'a>(&'a mut self, n: Rc<u32>) -> &'a u32 {
        tokio::task::yield_now().await;
        self.0 += *n;
        &self.0
    }
}

mod outer {
    pub(crate) mod inner {
        #![allow(dead_code)]

        #[inline]
        pub(crate) async fn one() -> u32 {
            1
        }

        const fn two() -> u32 {
            2
        }

        #[cfg(any())]
        async fn never() {
            compile_error!("it is left out")
        }
    }

    mod macros {
        // An attribute on this module would hide the macro's path.
        #[macro_export]
        macro_rules! seven {
            () => {
                7
            };
        }

        #[rustfmt::skip] pub(crate) async fn seven() -> u32 { crate::seven!() } pub(crate) async fn eight() -> u32 { 8 }
    }

    pub(crate) use macros::{eight, seven};

    macro_rules! nine {
        ($name:ident) => {
            pub(crate) async fn $name() -> u32 {
                9
            }
        };
    }

    nine!(nine);
}

const _: () = {
    impl Adder {
        async fn hidden(self: Box<Self>) -> u32 {
            self.0
        }
    }
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut adder = Adder(1);
    let boxed: &dyn Boxed = &adder;
    assert_eq!(boxed.twice("1").await, Ok(4));
    assert!(boxed.twice("x").await.is_err());
    let spawned = tokio::spawn(async {
        let boxed: Box<dyn Boxed> = Box::new(Adder(2));
        boxed.twice("2").await
    });
    assert_eq!(spawned.await.unwrap(), Ok(8));
    assert_eq!(Plain::twice(&adder, 1).await, 4);
    assert_eq!(*adder.add(Rc::new(1)).await, 2);
    assert_eq!(Box::new(adder).hidden().await, 2);
    assert_eq!(outer::inner::one().await, 1);
    assert_eq!(outer::seven().await + outer::eight().await, 15);
    assert_eq!(outer::nine().await, 9);
}
