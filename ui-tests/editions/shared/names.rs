//! Names that are ours as well: of traits for every type, of arguments, functions, modules; and macros that have the names of known
//! ones and read something else.

use crate::twice::{Loud, later};
use std::pin::pin;

pub trait Probe {
    fn probe(&self) -> u32 {
        1
    }
    fn call(&self) -> u32 {
        2
    }
    fn taken(self) -> u32
    where
        Self: Sized,
    {
        3
    }
    fn of(&self) {}
}
impl<T: ?Sized> Probe for T {}

mod homonyms {
    macro_rules! assert_ok {
        ($e:expr) => {
            match $e {
                Ok(value) => value,
                Err(error) => panic!("{:?}", error),
            }
        };
    }
    macro_rules! join {
        ($a:expr; $b:expr) => {
            ($b, $a)
        };
        ($a:expr) => {
            async move { $a }
        };
    }
    macro_rules! select {
        ($a:expr, $($b:ident)*) => {
            [$a, $($b),*]
        };
        ($($a:expr => $b:expr;)*) => {
            [$(if $a { $b } else { 0 }),*]
        };
    }
    macro_rules! info {
        ($($key:ident: $value:expr),*; $rest:expr) => {{
            $(let $key = $value;)*
            $rest
        }};
    }
    macro_rules! vec {
        ($($key:expr => $value:expr),*) => {
            [$(($key, $value)),*]
        };
    }
    macro_rules! format {
        ($e:block) => {
            $e
        };
        ($a:ident $b:expr) => {
            ($b, stringify!($a))
        };
    }
    macro_rules! matches {
        ($a:expr, $b:expr) => {
            ($a == $b, stringify!($b))
        };
    }
    macro_rules! pin {
        ($e:expr) => {
            &mut std::boxed::Box::pin($e)
        };
    }
    macro_rules! dbg {
        ($($e:expr),*) => {
            [$($e),*]
        };
    }
    pub(super) use {assert_ok, dbg, format, info, join, matches, pin, select, vec};
}

twice! {
    pub async fn blanket(n: u32) -> Result<u32, String> {
        let p = n.probe() + 5u8.call() + "x".taken();
        if n == 9 {
            Err("nine")?
        }
        Ok(later(p).await)
    }
    pub async fn shadow_ty(at: u32, call: fn(u32) -> u32) -> u32 {
        struct Call(u32);
        #[allow(non_upper_case_globals)]
        const future: u32 = 4;
        mod core {
            pub fn x() -> u32 {
                1
            }
        }
        fn at_(n: u32) -> u32 {
            n
        }
        let private = at_(at) + core::x();
        Call(later(private).await).0 + call(future)
    }
    pub async fn future(future: u32) -> u32 {
        if future == 0 {
            0
        } else {
            Box::pin(self::future(future - 1)).await + future
        }
    }
    pub async fn call(unreached: impl Fn() -> u32) -> u32 {
        let once = unreached();
        later(once).await + unreached()
    }
    pub async fn path() -> &'static str {
        fn __turbowish_path2() {}
        let x = module_path!();
        let _ = later(x).await;
        std::any::type_name::<Loud>()
    }
    pub async fn homonyms(n: u32) -> String {
        let shown = {
            use super::homonyms::{assert_ok, dbg, format, info, join, matches, pin, select, vec};
            let ok = assert_ok!(later(Ok::<u32, String>(n)).await);
            let joined = join!(later(1).await; later(2).await);
            let chosen = select!(later(3).await, n ok);
            let pairs = select! { later(true).await => later(4).await; false => later(5).await; };
            let sum = info!(a: later(6).await, b: later(7).await; a + b + later(8).await);
            let list = vec![later("a").await => later(9).await, "b" => 10];
            let block = format!({ later(11).await });
            let named = format!(name later(12).await);
            let same = matches!(later(13).await, 13);
            let pinned = pin!(later(14)).await;
            let all = dbg!(later(15).await, 16);
            let block_of = join!(later(17).await).await;
            (ok, joined, chosen, pairs, sum, list, block, named, same, pinned, all, block_of)
        };
        format!("{:?} {:?}", shown, dbg!(later(n).await, later('c').await))
    }
}

#[test]
fn same() {
    same! {
        homonyms(1);
        blanket(1);
        blanket(9);
        shadow_ty(1, |n| n);
        future(3);
        call(|| 2);
        path();
    }
}

/// Names that a `let` cannot take, and a constant that every type has.
mod values {
    use crate::twice::later;

    twice! {
        #[allow(non_camel_case_types)]
        pub struct future;
        #[allow(non_camel_case_types)]
        pub struct once;
        #[allow(non_camel_case_types)]
        pub struct _entered;
        pub trait Named {
            const PROBE: u32 = 1;
        }
        impl<T> Named for T {}
        pub async fn value(n: u32) -> u32 {
            later(n).await + async { later(n).await }.await + u32::PROBE
        }
        pub async fn called_once() -> impl FnOnce(u32) -> u32 {
            |n| n
        }
        pub async fn called() -> u32 {
            called_once().await(plain_fn())
        }
        pub async fn in_a_closure(n: u32) -> u32 {
            let add = async |m: u32| later(n + m).await;
            add(1).await
        }
        pub fn boxed(n: u32) -> std::pin::Pin<Box<dyn std::future::Future<Output = u32>>> {
            Box::pin(async move { later(n).await })
        }
        #[cfg_attr(all(), turbowish::instrument)]
        pub fn plain_fn() -> u32 {
            3
        }
    }

    #[test]
    fn same() {
        same! {
            value(1);
            called();
            in_a_closure(1);
            boxed(1);
        }
    }
}
