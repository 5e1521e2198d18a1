//! Macros of one's own, in every place of a body; `cfg` in every place.

use crate::twice::{later, say};
use std::fmt::Debug;

macro_rules! own { ($($t:tt)*) => { $($t)* } }
macro_rules! ret {
    ($e:expr) => {
        return $e
    };
}
macro_rules! bind {
    ($p:pat = $e:expr) => {
        let $p = $e;
    };
}
macro_rules! hyg {
    ($e:expr) => {{
        let x = 1;
        x + $e
    }};
}
macro_rules! t {
    ($e:expr) => {
        match $e {
            Ok(x) => x,
            Err(e) => return Err(From::from(e)),
        }
    };
}
macro_rules! named {
    (function = $f:expr, repair = $r:expr) => {
        match $f {
            Ok(x) => x,
            Err(_) => {
                $r;
                $f?
            }
        }
    };
}
macro_rules! twice_of {
    ($f:expr) => {
        $f + $f
    };
}
macro_rules! with_label { ($l:lifetime, $b:block) => { $l: loop { $b; break $l; } } }
macro_rules! arms { ($x:expr, $($p:pat => $e:expr),* $(,)?) => { match $x { $($p => $e),* } } }
macro_rules! nested_def {
    ($name:ident) => {
        macro_rules! $name {
            ($e:expr) => {
                $e.await
            };
        }
    };
}
macro_rules! recursive { () => { 0 }; ($h:expr $(, $t:expr)*) => { $h + recursive!($($t),*) } }
macro_rules! tyfn {
    ($name:ident, $r:ty, $b:expr) => {
        pub async fn $name() -> $r {
            $b
        }
    };
}
macro_rules! guard {
    ($x:ident if $c:expr => $b:expr) => {
        match later(1).await {
            $x if $c => $b,
            _ => 0,
        }
    };
}

macro_rules! nothing {
    () => {};
}
pub struct Fs {
    a: u32,
    b: u32,
}
fn f2(n: u32) -> u32 {
    n
}

twice! {
    pub async fn owned(n: u32) -> u32 {
        own!(let a = later(n).await;);
        own! { let b = { later(1).await }; }
        bind!((c, _) = later((3, 4)).await);
        let x = 10;
        let d = hyg!(later(x).await);
        own!(a + b + c + d)
    }
    pub async fn rets(n: u32) -> Result<u32, Box<dyn std::error::Error>> {
        if n == 0 {
            ret!(Err("zero".into()))
        }
        if n == 1 {
            ret!(Ok(later(1).await));
        }
        let m: u32 = t!(later("5").await.parse());
        let k = named!(
            function = later(Err::<u32, _>("bad")).await,
            repair = later(2).await
        );
        Ok(m + n + k)
    }
    pub async fn labelled() -> u32 {
        let mut n = 0;
        with_label!('l, { n += later(1).await; if n < 3 { continue 'l; } });
        let mut m = 0;
        'o: while own!(later(m).await < 5) {
            m += 1;
            if own!({ later(m).await == 2 }) {
                continue 'o;
            }
            if m == 4 {
                break 'o;
            }
        }
        while let Some(k) = own!(later(Some(m)).await.filter(|k| *k < 6)) {
            m += k;
        }
        n * 100 + m
    }
    pub async fn many(n: u32) -> u32 {
        nested_def!(aw);
        let a = aw!(later(n));
        let b = arms!(later(n).await, 0 => later(1).await, 1 => { later(2).await }, 101 => return 7, _ => 3,);
        let c = recursive!(later(1).await, later(2).await, 3);
        let d = twice_of!(later(2).await);
        let e = guard!(q if later(true).await => later(q).await);
        a + b + c + d + e
    }
    tyfn!(ty_unit, (), later(()).await);
    tyfn!(ty_res, Result<Box<dyn Debug>, Box<dyn std::error::Error>>, {
        later("1").await.parse::<u32>()?;
        Ok(Box::new(2))
    });
    tyfn!(ty_imp, impl Debug + Send, later(3).await);
    pub async fn cfgs<#[cfg(all())] T: Debug, #[cfg(any())] U>(t: T, #[cfg(any())] u: U) -> u32
    where
        T: Clone,
    {
        let s = (
            #[cfg(any())]
            later(1).await,
            #[cfg(all())]
            later(2).await,
        );
        let arr = [
            #[cfg(any())]
            later(9).await,
            #[cfg(all())]
            later(3).await,
        ];
        let st = Fs {
            #[cfg(all())]
            a: later(1).await,
            #[cfg(any())]
            a: nope().await,
            b: later(4).await,
        };
        let r = match later(1).await {
            #[cfg(any())]
            1 => own!(nope().await),
            #[cfg(all())]
            1 => own!(later(6).await),
            _ => 0,
        };
        let c = f2(
            #[cfg(any())]
            nope().await,
            #[cfg(all())]
            later(1).await,
        );
        #[cfg(any())]
        if own!(nope().await) {
            nope!()
        } else {
        }
        #[cfg(all())]
        if own!(later(true).await) {
            say("if");
        }
        #[cfg(any())]
        for _ in own!(nope().await) {}
        #[cfg(any())]
        while own!(nope().await) {}
        #[cfg(any())]
        loop {
            own!(nope().await)
        }
        #[cfg(any())]
        let Some(_q) = own!(nope().await) else {
            return nope().await;
        };
        #[cfg(any())]
        own! { nope().await }
        #[cfg(any())]
        async { nope().await }.await;
        #[cfg(any())]
        async fn gone() {
            nope().await
        }
        #[cfg(any())]
        {
            let x = async || nope().await;
        }
        #[allow(unused)] #[cfg(all())] #[rustfmt::skip] let z = async { later(2).await }.await;
        s.0 + arr[0] + st.a + st.b + r + c + z
    }
    pub async fn stmts() -> u32 {
        later(1).await;
        {}
        if true {
            later(()).await
        } else {
        }
        match 1 {
            _ => later(()).await,
        }
        nothing!();
        loop {
            break;
        }
        (later(1).await)
    }
}

#[test]
fn same() {
    same! {
        owned(3);
        rets(0);
        rets(1);
        rets(2);
        labelled();
        many(0);
        many(2);
        many(101);
        ty_unit();
        ty_res();
        ty_imp();
        cfgs(1);
        stmts();
    }
}
