//! `unsafe` functions and blocks, functions of other languages, target features, unions and `static mut` in bodies.
#![deny(warnings, unused, unsafe_op_in_unsafe_fn)]
#![allow(ungated_async_fn_track_caller, improper_ctypes_definitions)]

use tokio::task::yield_now;

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain {
            $($items)*
        }
        #[turbowish::instrument]
        mod rewritten {
            $($items)*
        }
    };
}

twice! {
    use super::*;

    pub async unsafe fn read<'a>(pointer: *const u32, _other: &'a str) -> &'a u32 {
        yield_now().await;
        unsafe { &*pointer }
    }

    #[allow(unsafe_op_in_unsafe_fn)]
    pub async unsafe fn in_the_old_way(pointer: *mut u32) -> u32 {
        yield_now().await;
        *pointer += 1;
        *pointer
    }

    pub unsafe trait Reads {
        #[allow(async_fn_in_trait)]
        async unsafe fn first(&self) -> u32;
        fn sent(&self) -> impl Future<Output = u32> + Send;
    }

    pub struct Pointer(pub *const u32);

    unsafe impl Send for Pointer {}
    unsafe impl Sync for Pointer {}
    unsafe impl Reads for Pointer {
        async unsafe fn first(&self) -> u32 {
            unsafe { *read(self.0, "").await }
        }
        async fn sent(&self) -> u32 {
            yield_now().await;
            unsafe { *self.0 }
        }
    }

    impl Pointer {
        pub async unsafe extern "C" fn foreign(&self, more: u32) -> u32 {
            yield_now().await;
            unsafe { *self.0 + more }
        }
    }

    pub async fn blocks() -> u32 {
        unsafe extern "C" {
            safe fn abs(n: i32) -> i32;
            fn labs(n: i64) -> i64;
        }
        union Bits {
            whole: u32,
            _float: f32,
        }
        static mut COUNT: u32 = 0;
        let bits = Bits { whole: 5 };
        let n = unsafe { bits.whole + *read(&bits.whole, "").await };
        unsafe {
            COUNT += n;
            COUNT = in_the_old_way(&mut 6).await + COUNT;
        }
        let mut local = 1;
        let sum = unsafe { in_the_old_way(&mut local) }.await + unsafe { in_the_old_way(&mut local).await };
        let closed = async || unsafe { *read(&sum, "").await };
        let block = async { unsafe { labs(-2) + closed().await as i64 } };
        block.await as u32 + abs(-1) as u32 + unsafe { COUNT }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "sse2")]
    pub async fn featured(n: u32) -> u32 {
        #[target_feature(enable = "sse2")]
        fn needs(n: u32) -> u32 {
            n
        }
        yield_now().await;
        async { needs(n) }.await + needs(n)
    }

    #[track_caller]
    pub async fn tracked() -> u32 {
        yield_now().await;
        3
    }

    #[cold]
    #[inline(never)]
    pub async fn cold(n: &u32) -> &u32 {
        yield_now().await;
        n
    }
}

macro_rules! check {
    ($module:ident) => {{
        let n = 7;
        assert_eq!(unsafe { $module::Reads::first(&$module::Pointer(&n)).await }, 7);
        assert_eq!(*unsafe { $module::read(&n, "other").await }, 7);
        let pointer: &'static $module::Pointer = Box::leak(Box::new($module::Pointer(Box::leak(Box::new(4)))));
        assert_eq!(tokio::spawn($module::Reads::sent(pointer)).await.unwrap(), 4);
        assert_eq!(unsafe { pointer.foreign(1) }.await, 5);
        assert_eq!($module::blocks().await, 2 + 5 + 1 + 17);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(unsafe { $module::featured(2) }.await, 4);
        assert_eq!($module::tracked().await + *$module::cold(&1).await, 4);
    }};
}

#[tokio::main]
async fn main() {
    check!(plain);
    check!(rewritten);
}
