//! Names that are ours as well: of traits for every type, of arguments, functions, modules.

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
}

#[test]
fn same() {
    same! {
        blanket(1);
        blanket(9);
        shadow_ty(1, |n| n);
        future(3);
        call(|| 2);
        path();
    }
}
