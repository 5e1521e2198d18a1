//! Type parameters, constants, bounds, `unsafe`, `cfg` and visibility stay.

use std::fmt::Debug;
use std::marker::PhantomData;

#[turbowish::instrument]
pub async fn sum<T, const N: usize>(values: [T; N]) -> T
where
    T: Copy + std::iter::Sum<T>,
{
    tokio::task::yield_now().await;
    values.iter().copied().sum()
}

#[turbowish::instrument]
pub(crate) async fn show<T: Debug + ?Sized>(value: &T) -> String {
    format!("{value:?}")
}

#[turbowish::instrument]
pub async fn both(left: impl Into<String>, right: impl AsRef<str> + Send) -> String {
    let left: String = left.into();
    left + right.as_ref()
}

pub struct Table<K, V: ?Sized, const N: usize = 1>(PhantomData<(K, Box<V>)>);

#[turbowish::instrument]
impl<K: Default, V: ?Sized, const N: usize> Table<K, V, N> {
    const SIZE: usize = N;
    async fn key(&self) -> (K, usize)
    where
        K: Send,
    {
        (K::default(), Self::SIZE)
    }
    async fn associated() -> Option<Self> {
        None
    }
    async fn mapped<U, F: FnOnce(K) -> U>(&self, f: F) -> U {
        f(self.key_now())
    }
    fn key_now(&self) -> K {
        K::default()
    }
}

#[turbowish::instrument]
/// # Safety
/// None is needed.
pub async unsafe fn dangerous(n: u32) -> u32 {
    n + 1
}

#[turbowish::instrument]
#[allow(clippy::needless_lifetimes)]
#[inline]
#[cfg_attr(all(), doc = "documented")]
pub async fn configured(
    #[cfg(all())] kept: u32,
    #[cfg(any())] _gone: NoSuchType,
    #[allow(unused_variables)] unused: u32,
    #[cfg(all())] (a, _b): (u32, u32),
) -> u32 {
    #[cfg(any())]
    no_such_function().await;
    #[cfg(all())]
    tokio::task::yield_now().await;
    kept + a
}

#[turbowish::instrument]
#[cfg(any())]
async fn gone() -> NoSuchType {}

macro_rules! made {
    ($name:ident, $argument:ident: $ty:ty => $body:expr) => {
        #[turbowish::instrument]
        async fn $name($argument: $ty, other: $ty) -> $ty {
            tokio::task::yield_now().await;
            other + $body
        }
    };
}
made!(doubled, n: u32 => n * 2);

#[turbowish::instrument]
async fn inner_attribute(_unused: u32) {
    #![allow(unused_variables)]
    let unused = 1;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(sum([1, 2, 3]).await, 6);
    assert_eq!(show("text").await, "\"text\"");
    assert_eq!(both("a", String::from("b")).await, "ab");
    let table = Table::<u8, str, 3>(PhantomData);
    assert_eq!(table.key().await, (0, 3));
    assert!(Table::<u8, [u8]>::associated().await.is_none());
    assert_eq!(table.mapped(|key| key + 1).await, 1);
    // SAFETY: nothing is asked for.
    assert_eq!(unsafe { dangerous(1) }.await, 2);
    assert_eq!(configured(1, 2, (3, 4)).await, 4);
    assert_eq!(doubled(1, 1).await, 3);
    inner_attribute(1).await;
}
