//! Where an await can stand. Every row of the table of constructs that is about places has a function.
//!
//! | construct | function |
//! |---|---|
//! | match guard, if let, while let, let-else (and its `else`), match, `while` condition | `guards`, `lets`, `let_else`, `conditions` |
//! | tail match, parentheses | `tail_match`, `parentheses` |
//! | `break` with await, `break 'label`, labelled block, `continue`, `for` over await, `return x.await` | `labels`, `breaks`, `loops`, `returns` |
//! | index, `&x.await`, `*x.await = `, `+=`, unary, binary, tuple, array, struct literal, cast, field | `places`, `operators`, `literals` |
//! | `?` before and behind, chains, awaits in arguments of awaited calls, temporaries in them | `questions`, `chains` |
//! | `x.as_mut().await`, field moved out, plain variable, `IntoFuture`, block, `match`, `if` awaited | `operands`, `statement_heads`, `partly_moved` |
//! | empty body, no await | `empty`, `without_await` |

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Mutex;

use crate::twice::{Loud, later, say};

/// Awaited by way of its `IntoFuture`.
#[derive(Debug)]
pub struct Eventually(u32);

impl IntoFuture for Eventually {
    type Output = u32;
    type IntoFuture = Pin<Box<dyn Future<Output = u32> + Send>>;
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(later(self.0))
    }
}

#[derive(Debug, Clone, Default)]
pub struct Named {
    pub x: u32,
    pub y: String,
    pub z: u32,
}

twice! {
    pub async fn empty() {}
    pub async fn without_await(n: u32) -> u32 {
        n + 1
    }
    pub async fn guards(x: Option<u32>) -> u32 {
        match later(x).await {
            Some(n) if later(n).await > 3 => n,
            Some(n) if matches!(n, 1) => 10,
            Some(ref n) if { later(()).await; *n == 2 } => *n + 100,
            Some(n) => n,
            None => 0,
        }
    }
    pub async fn lets(x: Option<u32>) -> u32 {
        let mut sum = 0;
        if let Some(n) = later(x).await {
            sum += n;
        } else if let Ok(n) = later("7").await.parse::<u32>() {
            sum += n;
        } else {
            unreachable!()
        }
        let mut rest = vec![1, 2, 3];
        while let Some(n) = later(rest.pop()).await {
            if n == 2 {
                continue;
            }
            sum += later(n).await;
        }
        sum
    }
    pub async fn let_else(x: Option<u32>) -> Result<u32, String> {
        let Some(n) = later(x).await else {
            return Err(later("none").await.to_owned());
        };
        let (Some(m), _) = (x.filter(|m| *m > 1), Loud("tuple")) else {
            say("else");
            return Ok(later(n).await);
        };
        Ok(m + 100)
    }
    pub async fn conditions(mut n: u32) -> u32 {
        let mut rounds = 0;
        while later(n).await > 0 && later(true).await {
            n -= 1;
            rounds += 1;
        }
        if later(rounds).await > 1 || later(true).await {
            rounds + 1
        } else {
            rounds
        }
    }
    pub async fn tail_match(x: Result<u32, String>) -> String {
        match later(x).await {
            Ok(0) => "zero".into(),
            Ok(n) => later(n).await.to_string(),
            Err(text) => later(text).await,
        }
    }
    pub async fn labels(n: u32) -> u32 {
        let found = 'outer: loop {
            for i in 0..n {
                if i == 3 {
                    break 'outer later(i).await;
                }
                if i == 7 {
                    continue 'outer;
                }
            }
            break 0;
        };
        let block = 'block: {
            let Some(m) = later(Some(found)).await else { break 'block 7 };
            if m > 1 {
                break 'block later(1).await;
            }
            2
        };
        'unused: while later(true).await {
            loop {
                break 'unused;
            }
        }
        found * 10 + block
    }
    pub async fn breaks(text: &str) -> Result<usize, String> {
        let mut bytes = text.bytes();
        let mut seen = 0;
        Ok(loop {
            seen += 1;
            break if later(bytes.next()).await.ok_or("end")? == b'x' { seen } else { continue };
        })
    }
    pub async fn loops(values: &Mutex<Vec<u32>>) -> u32 {
        let mut sum = 0;
        for (index, value) in later(values).await.lock().unwrap().iter().enumerate() {
            sum += *value * index as u32;
        }
        for value in later(vec![1, 2]).await {
            'inner: for other in 0..later(value).await {
                if other == 1 {
                    break 'inner;
                }
                sum += later(other).await;
            }
        }
        sum
    }
    pub async fn returns(n: u32) -> Result<u32, String> {
        if n == 0 {
            return later(Ok(0)).await;
        }
        if n == 1 {
            return Err(later("one").await.into());
        }
        let n = if n == 2 { return Ok(later(2).await) } else { n };
        return Ok(n);
    }
    pub async fn places() -> (Vec<u32>, u32, usize) {
        let mut list = vec![1, 2];
        list[later(0).await] += later(5).await;
        *later(&mut list[1]).await += 1;
        *later(list.last_mut()).await.unwrap() *= later(2).await;
        let extended = &*later(String::from("text")).await;
        let cell = &later(Rc::new(3)).await;
        let first = later(vec![3]).await[0] + later(Named { x: 4, ..Named::default() }).await.x;
        let mut map: HashMap<&str, u32> = HashMap::new();
        *map.entry(later("a").await).or_insert(later(1).await) += later(2).await;
        (list, first + **cell + map["a"], extended.len())
    }
    pub async fn operators(flag: bool) -> (i64, bool, usize) {
        let n = -later(1i32).await as i64 + i64::from(!later(0u8).await) - later(2i64).await * later(3i64).await;
        let b = !later(flag).await && later(true).await || later(flag).await ^ !later(flag).await;
        let range = (later(1usize).await..later(4usize).await).len() + (..=later(1usize).await).end;
        (n << later(1).await, b, range)
    }
    pub async fn literals(n: Named) -> (Named, [u32; 2], (u32, String), [u8; 3]) {
        let named = Named { x: later(n.x + 1).await, ..n };
        let array = [later(1).await, later(2).await];
        let (a, b) = (later(3).await, later("b").await);
        let [c, d];
        [c, d] = [later(a).await, later(4).await];
        (named, array, (c + d, format!("{}", b)), [later(7u8).await; 3])
    }
    pub async fn questions(text: &str) -> Result<u32, Box<dyn std::error::Error>> {
        fn made(ok: bool) -> Result<impl Future<Output = Option<u32>>, String> {
            if ok { Ok(later(Some(1))) } else { Err("not made".into()) }
        }
        let n: u32 = later(text.parse()).await?;
        let m = made(n < 5)?.await.ok_or_else(|| format!("nothing"))?;
        Ok(later(later(Ok::<_, String>(m)).await?).await + n)
    }
    pub async fn chains(text: &str) -> String {
        let length = later(later(text.to_owned()).await.trim()).await.len();
        let shown = later(&format!("{}{}", length, later('c').await)).await.to_uppercase();
        later(later(Some(shown)).await.map(|shown| shown + "!")).await.unwrap_or_default()
    }
    pub struct Kept {
        wait: Pin<Box<dyn Future<Output = u32>>>,
        name: Loud,
    }
    impl Kept {
        async fn both(self) -> (u32, Loud) {
            let n = self.wait.await;
            (n, self.name)
        }
        async fn by_reference(&mut self) -> u32 {
            (&mut self.wait).await
        }
    }
    pub async fn partly_moved() -> (u32, Loud) {
        let mut first = Kept { wait: Box::pin(later(1)), name: Loud("first") };
        let n = first.by_reference().await;
        let (m, name) = Kept { wait: Box::pin(later(2)), name: Loud("second") }.both().await;
        (n + m, name)
    }
    pub async fn operands(mut pinned: Pin<&mut (dyn Future<Output = u32> + Send)>) -> u32 {
        let variable = later(1);
        let mut boxed: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(later(2));
        let by_reference = &mut boxed;
        let pair = (later(3), 4);
        let first = pinned.as_mut().await;
        first + variable.await + by_reference.await + pair.0.await + pair.1 + Eventually(5).await + std::future::ready(6).await
    }
    pub async fn statement_heads(flag: bool) -> u32 {
        if flag { later(1) } else { later(2) }.await;
        match flag { true => later(1), false => later(3) }.await;
        { later(1) }.await;
        loop { break later(1) }.await;
        async { later(1).await }.await;
        (async {}).await;
        async move { let _ = flag; }.await;
        vec![later(1)].pop().unwrap().await;
        (|| later(1))().await;
        -later(1i32).await as u32 + (if flag { later(4) } else { later(5) }).await
    }
    pub async fn parentheses(n: u32) -> u32 {
        (later(n)).await + ({ later(n) }).await + ((later(n))).await + { later(n) }.await + { { { later(2).await } } } + (|| { 1 })()
    }
}

#[test]
fn same() {
    let values = Mutex::new(vec![1, 2, 3]);
    same! {
        empty();
        without_await(1);
        guards(Some(4));
        guards(Some(1));
        guards(Some(2));
        guards(Some(3));
        guards(None);
        lets(Some(1));
        lets(None);
        let_else(None);
        let_else(Some(1));
        let_else(Some(2));
        conditions(0);
        conditions(2);
        tail_match(Ok(0));
        tail_match(Ok(1));
        tail_match(Err("error".into()));
        labels(5);
        labels(1);
        breaks("abxc");
        breaks("abc");
        loops(&values);
        returns(0);
        returns(1);
        returns(2);
        returns(3);
        places();
        operators(true);
        operators(false);
        literals(Named { x: 1, y: "y".into(), z: 2 });
        questions("1");
        questions("x");
        questions("9");
        chains(" ab ");
        partly_moved();
        operands(Box::pin(later(1)).as_mut());
        statement_heads(true);
        statement_heads(false);
        parentheses(1);
    }
}
