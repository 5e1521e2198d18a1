//! What is moved, assigned again, borrowed and called again; values that cannot be.

use crate::twice::{Loud, later};
use std::borrow::Cow;
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;

twice! {
    pub async fn reassigned(mut x: Loud, mut y: Loud, (mut z, w): (Loud, Loud)) {
        drop(x);
        later(()).await;
        x = Loud("x2");
        drop(y);
        drop(z);
        z = Loud("z2");
        y = Loud("y2");
        later(()).await;
        drop(w);
    }
    pub async fn cond_moved(x: Option<Loud>, y: Result<Loud, Loud>) -> usize {
        if let Some(l) = x {
            later(()).await;
            drop(l);
        }
        match y {
            Ok(l) if l.0.len() > 1 => {
                later(l).await;
                1
            }
            Ok(_l) => 2,
            Err(Loud(n)) => later(n.len()).await,
        }
    }
    pub async fn recursive(n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let b: Pin<Box<dyn Future<Output = u32>>> = Box::pin(recursive(n - 1));
        b.await + later(1).await
    }
    pub async fn one_of_two(n: u32) -> u32 {
        if n == 0 {
            0
        } else {
            Box::pin(other_of_two(n - 1)).await + 1
        }
    }
    pub async fn other_of_two(n: u32) -> u32 {
        if n == 0 {
            0
        } else {
            async { Box::pin(one_of_two(n - 1)).await + 1 }.await
        }
    }
    pub async fn recursive_generic<T: Debug + Clone>(t: T, n: u32) -> String {
        if n == 0 {
            format!("{t:?}")
        } else {
            let s: String = Box::pin(recursive_generic(t.clone(), n - 1)).await;
            later(s).await
        }
    }
    pub async fn inf_arg(x: Result<u32, Infallible>) -> u32 {
        match x {
            Ok(n) => later(n).await,
            Err(e) => match e {},
        }
    }
    pub async fn inf_only(x: Infallible) -> u32 {
        match x {}
    }
    pub async fn inf_out() -> Result<Infallible, String> {
        Err(later("e".to_owned()).await)
    }
    pub async fn cows<'a>(
        x: impl Into<Cow<'a, str>>,
        y: Option<&(dyn Fn(&str) -> usize + Sync)>,
    ) -> Result<Cow<'a, str>, Cow<'static, str>> {
        let x = x.into();
        match y.map(|f| f(&x)) {
            Some(0) => Err("empty".into()),
            Some(n) if later(n).await > 3 => Ok(x[..3].to_owned().into()),
            _ => Ok(x),
        }
    }
    pub async fn rcs(x: Rc<RefCell<Vec<u32>>>) -> usize {
        for i in 0..3 {
            let n = later(i).await;
            x.borrow_mut().push(n);
        }
        let l = x.borrow().len();
        l
    }
    pub async fn refs<'a>(list: &'a mut Vec<Loud>, at: usize) -> Option<&'a mut Loud> {
        if list.first()?.0.len() == at {
            return list.first_mut();
        }
        later(()).await;
        list.get_mut(at)
    }
    pub async fn big_expr(a: u32) -> u32 {
        (((later(a).await + later(a).await) * (later(2).await - 1)) << (later(1).await as u8 & 3))
            | [later(1).await, 2][later(1).await as usize] ^ {
                let q = later(1).await;
                q
            }
            | if later(true).await { 8 } else { 16 }
    }
    pub async fn ranges() -> u32 {
        let mut s = 0;
        for i in later(1).await..=later(3).await {
            s += i;
        }
        for i in (later(0).await..).take(later(2).await) {
            s += i;
        }
        s + [1, 2, 3, 4][later(1).await..].len() as u32
    }
    pub async fn closures_in() -> u32 {
        let mut v = vec![3, 1, 2];
        let k = later(2u32).await;
        v.sort_by_key(|x| {
            let y = *x;
            y ^ k
        });
        let v = &v;
        let f = |n: u32| -> Pin<Box<dyn Future<Output = Result<u32, String>> + '_>> {
            Box::pin(async move {
                if n == k {
                    return Err("k".into());
                }
                Ok(later(n).await + v[0])
            })
        };
        let a = match f(1).await {
            Ok(n) => n,
            Err(_) => 0,
        };
        a + f(k).await.unwrap_or(40)
    }
    pub async fn dbg_like() -> u32 {
        debug_assert!(later(true).await, "{}", later(1).await);
        assert_ne!(later(1).await, 2);
        let v = vec![later(1).await; later(2).await];
        write_it(v).await
    }
    async fn write_it(v: Vec<u32>) -> u32 {
        use std::fmt::Write;
        let mut s = String::new();
        write!(s, "{}", later(v.len()).await).unwrap();
        writeln!(&mut s).unwrap();
        std::fmt::Write::write_fmt(&mut s, format_args!("{}", v[0])).unwrap();
        s.len() as u32
    }
    pub mod deep {
        pub mod er {
            use super::super::*;
            pub async fn inner() -> u32 {
                super::sibling().await + super::super::recursive(1).await
            }
            impl super::Own {
                pub async fn m(&self) -> u32 {
                    later(self.0).await
                }
            }
        }
        pub async fn sibling() -> u32 {
            crate::twice::later(1).await
        }
        pub struct Own(pub u32);
    }
    pub async fn deeps() -> u32 {
        deep::er::inner().await + deep::Own(4).m().await
    }
}

#[test]
fn same() {
    same! {
        reassigned(Loud("x"), Loud("y"), (Loud("z"), Loud("w")));
        cond_moved(None, Ok(Loud("ll")));
        cond_moved(Some(Loud("s")), Err(Loud("e")));
        cond_moved(None, Ok(Loud("l")));
        recursive(2);
        one_of_two(3);
        recursive_generic('c', 2);
        inf_arg(Ok(1));
        inf_out();
        cows("abcdef", Some(&|s| s.len()));
        cows("", Some(&|s| s.len()));
        cows("a".to_owned(), None);
        rcs(Rc::new(RefCell::new(vec![])));
        big_expr(3);
        ranges();
        closures_in();
        dbg_like();
        deeps();
        refs(&mut vec![Loud("a"), Loud("b")], 1);
    }
}
