//! Type and const parameters, defaults, `?Sized`, `where`, higher ranks, associated types.

use crate::twice::later;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;

/// Every one of its parameters is used by a method.
#[derive(Debug)]
pub struct Table<'t, T: ?Sized, const N: usize = 2>(pub &'t T);

impl<'t, T: ?Sized, const N: usize> Table<'t, T, N> {
    pub const SIZE: usize = N;
}

pub trait Shape: Debug {
    type Part: Debug + Clone;
    const PARTS: usize;
    fn part(&self) -> Self::Part;
}

impl Shape for str {
    type Part = String;
    const PARTS: usize = 3;
    fn part(&self) -> String {
        self.to_owned()
    }
}

twice! {
    pub async fn konst<T: Default + Copy, const N: usize, const KEEP: bool>(values: [T; N]) -> [T; N] {
        later(()).await;
        if KEEP { values } else { [T::default(); N] }
    }
    pub async fn unsized_value<T: Debug + ?Sized>(value: &T) -> String {
        later(()).await;
        format!("{:?}", value)
    }
    pub async fn boxed_unsized<T: ?Sized>(_: PhantomData<T>, value: Box<T>) -> Box<T> {
        later(value).await
    }
    pub async fn higher_ranked<F>(f: F) -> u32
    where
        F: for<'a> Fn(&'a u32) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>>,
    {
        f(&1).await + later(1).await
    }
    pub async fn callback<F, Fut>(f: F) -> Fut::Output
    where
        F: FnOnce(u32) -> Fut,
        Fut: Future,
    {
        f(later(1).await).await
    }
    async fn unsent(n: u32) -> u32 {
        let local = Rc::new(n);
        later(*local).await
    }
    pub fn callback_unsent() -> impl Future<Output = u32> {
        callback(unsent)
    }
    pub async fn usual_names<F, Fut, T, R, S, E, Output, Probe>(f: F, t: T, r: R, s: S, e: E, o: Output, p: Probe) -> (T, R, S, E, Output, Probe)
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = ()>,
    {
        f().await;
        (t, r, s, e, o, p)
    }
    pub async fn private_names<__T, __F: Fn(__T) -> __T>(__self: __T, __f: __F) -> __T {
        later(__f(__self)).await
    }
    pub async fn associated<I: Iterator>(mut items: I) -> Option<(I::Item, <I as Iterator>::Item)>
    where
        I::Item: Clone,
    {
        let first = items.next()?;
        Some((first.clone(), later(first).await))
    }
    pub async fn defaulted<T: Default>(_: &T) -> T {
        later(()).await;
        Default::default()
    }
    pub async fn table<'t, T: ?Sized + Shape, const N: usize>(table: Table<'t, T, N>) -> (T::Part, usize, usize) {
        (later(table.0.part()).await, T::PARTS, Table::<'t, T, N>::SIZE)
    }
    pub fn kept(values: [u8; 2]) -> impl Future<Output = [u8; 2]> {
        konst::<_, 2, true>(values)
    }
    pub fn reset(values: [u8; 2]) -> impl Future<Output = [u8; 2]> {
        konst::<_, 2, false>(values)
    }
    pub async fn turbofish() -> usize {
        konst::<u8, 3, true>([1; 3]).await.len() + defaulted::<Vec<u8>>(&vec![1]).await.len()
    }
    pub async fn passed() -> Vec<u32> {
        let mut all = Vec::new();
        for future in vec![1, 2].into_iter().map(later) {
            all.push(future.await);
        }
        all.push(callback(later).await);
        all
    }
}

#[test]
fn same() {
    same! {
        kept([1, 2]);
        reset([1, 2]);
        unsized_value("text");
        unsized_value(&[1u8][..]);
        boxed_unsized(PhantomData::<str>, "text".into());
        higher_ranked(|n| { let n = *n; Box::pin(async move { n }) });
        callback(later);
        callback_unsent();
        usual_names(|| later(()), 1, 2, 3, Rc::new(4), 5, 6);
        private_names(1, |n| n + 1);
        associated([1, 2].iter());
        associated(Vec::<Rc<u8>>::new().into_iter());
        defaulted(&1u8);
        defaulted(&Cell::new(1u8));
        defaulted(&Rc::new(RefCell::new(1u8)));
        table(Table::<str, 5>("text"));
        turbofish();
        passed();
    }
}
