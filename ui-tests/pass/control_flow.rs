//! Awaits keep their place in every kind of expression.

#![deny(warnings)]

use std::collections::HashMap;

#[turbowish::instrument]
mod instrumented {
    use super::*;

    async fn id<T>(value: T) -> T {
        tokio::task::yield_now().await;
        value
    }

    pub async fn question(text: &str) -> Result<u32, std::num::ParseIntError> {
        let number = id(text.parse::<u32>()).await?;
        Ok(id(id(number).await).await + 1)
    }

    pub async fn let_else(option: Option<u32>) -> u32 {
        let Some(number) = id(option).await else {
            return id(0).await;
        };
        number
    }

    pub async fn chain(option: Option<u32>) -> u32 {
        if let Some(number) = id(option).await
            && number > 1
            && id(number).await < 10
        {
            number
        } else if let Some(number) = option {
            number * 100
        } else {
            0
        }
    }

    pub async fn matched(number: u32) -> &'static str {
        match id(number).await {
            0 => "zero",
            n if n == 1 && id(n).await == 1 => "one",
            _ if { id(()).await; number } == 2 => "two",
            _ => id("many").await,
        }
    }

    pub async fn labels() -> u32 {
        let mut rounds = 0;
        let found = 'outer: loop {
            for step in 0.. {
                rounds += id(1).await;
                if step > 1 && rounds < 5 {
                    continue 'outer;
                }
                if rounds > 6 {
                    break 'outer id(rounds).await;
                }
            }
        };
        let block = 'block: {
            if id(found).await > 100 {
                break 'block 0;
            }
            1
        };
        while id(rounds).await > 3 {
            rounds -= 1;
        }
        while let Some(_) = id(None::<u32>).await {}
        found + block + rounds
    }

    pub async fn places() -> (u32, [u32; 2], String) {
        let mut map: HashMap<&str, u32> = HashMap::new();
        *map.entry(id("a").await).or_insert(id(1).await) += id(2).await;
        let mut array = [id(1).await, 2];
        array[id(1).await] = -id(-7i32).await as u32;
        let text = String::from("é") + &id("x".to_owned()).await;
        (map["a"], array, format!("{}{}", text, id(1).await))
    }

    pub async fn futures_by_name() -> u32 {
        let future = id(1);
        let pinned = std::pin::pin!(id(2));
        let mut boxed = Box::pin(id(3));
        let block = id(4);
        future.await + pinned.await + (&mut boxed).await + { block }.await
    }

    pub async fn temporaries(values: &std::sync::Mutex<Vec<u32>>) -> u32 {
        let first = id(values.lock().unwrap()[0]).await;
        let length = &id(values.lock().unwrap().len() as u32).await;
        first + *length
    }

    pub async fn items() -> u32 {
        const N: u32 = 2;
        struct Inner;
        impl Inner {
            async fn get(&self) -> u32 {
                id(N).await
            }
        }
        fn sync(n: u32) -> u32 {
            n
        }
        use std::convert::identity;
        identity(sync(Inner.get().await))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    use instrumented::*;
    assert_eq!(question("3").await, Ok(4));
    assert!(question("x").await.is_err());
    assert_eq!((let_else(Some(1)).await, let_else(None).await), (1, 0));
    assert_eq!((chain(Some(2)).await, chain(Some(1)).await, chain(None).await), (2, 100, 0));
    let mut words = Vec::new();
    for number in 0..4 {
        words.push(matched(number).await);
    }
    assert_eq!(words, ["zero", "one", "two", "many"]);
    assert_eq!(labels().await, 7 + 1 + 3);
    assert_eq!(places().await, (3, [1, 7], "éx1".into()));
    assert_eq!(futures_by_name().await, 10);
    assert_eq!(temporaries(&std::sync::Mutex::new(vec![4])).await, 5);
    assert_eq!(items().await, 2);
}
