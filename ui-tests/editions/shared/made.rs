//! Functions that `macro_rules!` makes: names, types, patterns, bodies, lifetimes, visibility, `self` and attributes come from elsewhere.

use std::fmt::Debug;
use std::future::Future;

use crate::twice::{Loud, later};

macro_rules! function {
    ([$($attr:meta)?] $vis:vis async fn $name:ident($($argument:ident: $ty:ty),*) -> $output:ty $body:block) => {
        $(#[$attr])? $vis async fn $name($($argument: $ty),*) -> $output $body
    };
}
macro_rules! patterns {
    ([$($attr:meta)?] $(#[$meta:meta])* $name:ident($($pat:pat => $ty:ty),*) { $($expr:expr);* }) => {
        $(#[$meta])*
        $(#[$attr])?
        pub async fn $name($($pat: $ty),*) -> u32 {
            $(let _kept = $expr;)*
            later(1).await
        }
    };
}
macro_rules! methods {
    ([$($attr:meta)?] $ty:ident { $($name:ident => $expr:expr),* }) => {
        #[derive(Debug)]
        pub struct $ty(pub u32);
        $(#[$attr])?
        impl $ty {
            $(pub async fn $name(&self, x: u32) -> u32 {
                later(self.0).await + $expr + x
            })*
        }
    };
}
macro_rules! method_with_self {
    ([$($attr:meta)?] $ty:ident, $this:ident, $name:ident, $body:block) => {
        impl $ty {
            $(#[$attr])?
            pub async fn $name(&$this) -> u32 $body
        }
    };
}
macro_rules! item {
    ([$($attr:meta)?] $item:item) => {
        $(#[$attr])? $item
    };
}
macro_rules! output {
    ($ty:ty) => {
        Result<$ty, String>
    };
}
macro_rules! two_of_a_name {
    ([$($attr:meta)?] $name:ident, $x:ident) => {
        $(#[$attr])?
        pub async fn $name($x: Loud, x: Loud, (y, _): (Loud, Loud)) -> (Loud, Loud) {
            let z = ($x, later(()).await, y);
            (x, z.0)
        }
    };
}
macro_rules! awaits {
    ($future:expr) => {{
        let future = $future;
        future.await
    }};
}
macro_rules! lifetime {
    ([$($attr:meta)?] $lt:lifetime, $name:ident) => {
        $(#[$attr])?
        pub async fn $name<$lt>(text: &$lt str, other: &str) -> &$lt str {
            let _ = other;
            later(text).await
        }
    };
}
macro_rules! blocks {
    ([$($attr:meta)?] $name:ident, $block:block) => {
        $(#[$attr])?
        pub async fn $name() -> u32 {
            let kept = async move $block;
            kept.await + async $block.await
        }
    };
}
macro_rules! tokens {
    ([$($attr:meta)?] $(#[$meta:meta])* async fn $name:ident $arguments:tt $(-> $output:ty)? $body:block) => {
        $(#[$attr])?
        $(#[$meta])*
        pub async fn $name $arguments $(-> $output)? $body
    };
}
macro_rules! generic {
    ([$($attr:meta)?] $name:ident<$($param:ident: $bound:path),*>) => {
        $(#[$attr])?
        pub async fn $name<$($param: $bound + Default),*>() -> String {
            format!("{:?}", later(($($param::default(),)*)).await)
        }
    };
}
macro_rules! module {
    ([$($attr:meta)?] $name:ident { $($tokens:tt)* }) => {
        $(#[$attr])?
        pub mod $name {
            use super::*;
            $($tokens)*
        }
    };
}

macro_rules! definitions {
    ($($attr:meta)?) => {
        function! {
            [$($attr)?]
            pub async fn function(a: u32, b: &str, c: (u32, String)) -> Result<u32, String> {
                let x = later(a).await;
                if x == 0 {
                    return Err(c.1);
                }
                Ok(x + b.len() as u32 + c.0)
            }
        }
        patterns! {
            [$($attr)?]
            #[inline]
            with_patterns((a, _) => (u32, Loud), mut b => u32, _ => Loud, c => Loud) { later(a).await; { b += 1; b } }
        }
        methods! {
            [$($attr)?]
            Made { one => 1, two => later(2).await, three => { let y = 3; later(y).await } }
        }
        #[derive(Debug)]
        pub struct WithSelf(pub u32);
        method_with_self!([$($attr)?] WithSelf, self, get, { later(self.0).await });
        method_with_self!([$($attr)?] WithSelf, self, get_more, { self.get().await + later(1).await });
        item! {
            [$($attr)?]
            pub async fn whole(mut x: u32, (y, z): (u32, u32)) -> u32 { x += later(y).await; x + z }
        }
        item! {
            [$($attr)?]
            impl WithSelf {
                pub async fn consumed(self, _: Loud) -> u32 { later(self.0).await }
            }
        }
        item! {
            [$($attr)?]
            pub async fn output(n: u32) -> output!(u32) {
                if n == 0 {
                    return Err("zero".into());
                }
                Ok(later(n).await)
            }
        }
        item! {
            [$($attr)?]
            pub async fn uses_macros(call: u32) -> u32 {
                let future = 1;
                awaits!(later(call)) + awaits!(async { later(2).await }) + future
            }
        }
        two_of_a_name!([$($attr)?] two_of_a_name, x);
        two_of_a_name!([$($attr)?] two_names, z);
        lifetime!([$($attr)?] 'text, lifetime);
        blocks!([$($attr)?] blocks, { later(1).await });
        tokens!([$($attr)?] #[must_use] async fn kept(x: &u32, _: Loud) -> u32 { later(*x).await });
        tokens!([$($attr)?] async fn silent(_: &u32) { later(()).await });
        generic!([$($attr)?] generic<T: Debug, U: Debug>);
        module! {
            [$($attr)?]
            module {
                pub async fn inside<'a>(text: &'a str) -> &'a str { later(text).await }
                pub trait Trait {
                    fn sent(&self) -> impl Future<Output = u32> + Send;
                }
                impl Trait for u32 {
                    async fn sent(&self) -> u32 { later(*self).await }
                }
            }
        }
        pub async fn everything() -> String {
            use module::Trait as _;
            let made = Made(1);
            let sum = made.one(1).await + made.two(1).await + made.three(1).await;
            let with_self = WithSelf(5);
            let sum = sum + with_self.get_more().await + with_self.consumed(Loud("x")).await + 7u32.sent().await;
            format!("{} {} {}", sum, generic::<u8, String>().await, module::inside("text").await)
        }
    };
}

mod plain {
    use super::*;
    definitions!();
}

mod instrumented {
    use super::*;
    definitions!(turbowish::instrument);
}

#[test]
fn same() {
    same! {
        function(0, "b", (1, "zero".to_owned()));
        function(1, "b", (1, "zero".to_owned()));
        with_patterns((1, Loud("a")), 2, Loud("b"), Loud("c"));
        whole(1, (2, 3));
        output(0);
        output(1);
        uses_macros(3);
        two_of_a_name(Loud("1"), Loud("2"), (Loud("3"), Loud("4")));
        two_names(Loud("1"), Loud("2"), (Loud("3"), Loud("4")));
        lifetime("text", &String::from("other"));
        blocks();
        kept(&1, Loud("x"));
        silent(&1);
        everything();
    }
}
