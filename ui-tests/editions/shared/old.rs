//! What edition 2024 no longer reads: names that became keywords, `unsafe` left out, patterns and macros of before.

use crate::twice::{Loud, later};
use std::fmt::Debug;

macro_rules! of_expr {
    ($e:expr) => {
        $e
    };
    (_) => {
        7
    };
}

twice! {
    pub async fn gen(gen: u32, union: u32, auto: u32, default: u32, safe: u32, raw: u32) -> u32 {
        let macro_rules = later(gen).await;
        'gen: loop {
            if later(union).await > 0 {
                break 'gen;
            }
        }
        struct Names {
            gen: u32,
            auto: u32,
        }
        let names = Names { gen: later(auto).await, auto };
        names.gen + names.auto + default + safe + raw + macro_rules
    }
    pub async fn calls_gen() -> u32 {
        gen(1, 2, 3, 4, 5, 6).await
    }
    pub async fn old_borrows(text: &str, other: &u32) -> impl Debug {
        let _ = other;
        later(text.len()).await
    }
    pub async fn expressions() -> u32 {
        of_expr!(_) + of_expr!(later(1).await)
    }
    pub async fn binding_modes(pair: &(u32, Option<Loud>)) -> (u32, usize) {
        let &(first, ref second) = pair;
        let mut all = 0;
        for &(ref name, n) in later(&[("a", 1), ("b", 2)]).await {
            all += name.len() + n;
        }
        match later(second).await {
            &Some(ref loud) => (first, loud.0.len() + all),
            None => (first, all),
        }
    }
    pub async fn never_falls_back() {
        fn made<T: Default>() -> Result<T, ()> {
            Ok(T::default())
        }
        #[allow(dependency_on_unit_never_type_fallback)]
        async fn run() -> Result<(), ()> {
            made()?;
            later(()).await;
            Ok(())
        }
        let _ = run().await;
    }
}

#[test]
fn same() {
    same! {
        gen(1, 2, 3, 4, 5, 6);
        calls_gen();
        old_borrows("text", &1);
        expressions();
        binding_modes(&(1, Some(Loud("loud"))));
        binding_modes(&(1, None));
        never_falls_back();
    }
}
