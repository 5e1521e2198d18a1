//! Corners of the language that compilers themselves have stumbled over: late initialisation, alignment, raw pointers, opaque types with
//! several lifetimes, implied bounds, recursion in traits.

use std::collections::HashMap;
use std::fmt::Debug;
use std::future::Future;
use std::iter::FromIterator;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::twice::{Loud, Once, later, say};

pub trait Marked<'a> {
    fn name(&self) -> &'static str {
        "marked"
    }
}
impl<T> Marked<'_> for T {}

#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub struct Aligned(pub u8);

#[derive(Debug, Default, Clone)]
pub struct Settings {
    pub a: u32,
    pub b: Option<Rc<u32>>,
    pub c: String,
}

pub trait Family {
    type Member: Debug + Clone;
    fn member(&self) -> Self::Member;
}
impl Family for u32 {
    type Member = (u32, u32);
    fn member(&self) -> (u32, u32) {
        (*self, *self)
    }
}

pub type Alias<'a, T> = HashMap<&'a str, Vec<T>>;

twice! {
    pub async fn initialised_late(flag: bool) -> u32 {
        let (x, y);
        let z: Vec<u32>;
        if later(flag).await {
            x = 1;
            z = vec![later(2).await];
        } else {
            x = later(3).await;
            z = vec![];
        }
        y = later(x).await;
        let never;
        loop {
            never = later(y).await;
            break;
        }
        x + y + never + z.len() as u32
    }
    pub async fn moved_in_parts(settings: Settings, mut more: (Loud, Option<Loud>)) -> (String, usize) {
        let Settings { b, .. } = settings.clone();
        drop(settings.b);
        later(()).await;
        let taken = more.1.take();
        drop(more.0);
        more.0 = Loud("again");
        later(taken).await;
        (settings.c, b.map_or(0, |b| Rc::strong_count(&b)))
    }
    pub async fn updated() -> Settings {
        let base = later(Settings { a: 1, ..Default::default() }).await;
        Settings { b: later(Some(Rc::new(2))).await, c: "c".into(), ..later(base).await }
    }
    pub async fn nothing_in_size(_: (), _: [u8; 0], unit: PhantomData<Rc<u8>>, empty: [Loud; 0]) -> usize {
        later((unit, empty)).await.1.len()
    }
    pub async fn aligned(a: u8, b: Aligned, c: u16, d: Aligned) -> (bool, u8) {
        let local = Aligned(later(b.0).await);
        let at = &local as *const Aligned as usize % 64 + &d as *const Aligned as usize % 64;
        later(()).await;
        (at == 0, a + local.0 + c as u8 + d.0)
    }
    pub async fn pointers(n: &u32) -> *const u32 {
        if *n == 0 {
            return std::ptr::null();
        }
        Once(true).await;
        n
    }
    pub async fn reads_pointers() -> (bool, bool) {
        (pointers(&0).await.is_null(), pointers(&1).await.is_null())
    }
    pub async fn statics() -> (&'static [&'static str], &'static dyn Fn(u32) -> u32, &'static Mutex<u32>) {
        static NAMES: [&str; 2] = ["a", "b"];
        static SHARED: Mutex<u32> = Mutex::new(0);
        *SHARED.lock().unwrap() = later(NAMES.len() as u32).await;
        (&NAMES, &|n| n + 1, &SHARED)
    }
    pub async fn uses_statics() -> u32 {
        let (names, f, shared) = statics().await;
        f(names.len() as u32) + *shared.lock().unwrap()
    }
    pub async fn two_lifetimes<'a, 'b: 'a>(a: &'a [&'b str], b: &'b str) -> impl Marked<'a> + Debug + 'a {
        (later(a).await[0].len(), b)
    }
    pub async fn lent<'a, 'b>(mut a: &'a [&'b str], b: &mut Vec<&'b str>) -> &'b str {
        let local = [later("local").await];
        b.extend(a);
        let kept = a[0];
        a = &local;
        later(a).await;
        kept
    }
    pub async fn uses_lifetimes() -> (String, &'static str) {
        let (a, b) = ("a".to_owned(), "b".to_owned());
        let opaque = format!("{:?}", two_lifetimes(&[&a], &b).await);
        let mut list = Vec::new();
        let list_of_one = [a.as_str()];
        let name = { let marked = two_lifetimes(&list_of_one, &b).await; marked.name() };
        (opaque + name, lent(&["x"], &mut list).await)
    }
    pub struct Borrowing<'a, T: ?Sized>(pub &'a T);
    impl Borrowing<'_, str> {
        async fn made() -> Borrowing<'static, str> {
            Borrowing(later("made").await)
        }
        async fn length(&self) -> usize {
            later(self.0.len()).await
        }
    }
    impl<'a, T: ?Sized + Debug> Borrowing<'a, T> {
        async fn inner(&self) -> &'a T {
            later(self.0).await
        }
        async fn compared<'b, U>(&self, other: &'b Borrowing<'a, U>) -> (&'a T, &'b U)
        where
            U: ?Sized + PartialEq<T>,
        {
            later(()).await;
            (self.0, other.0)
        }
        async fn early<'x>(&'x self) -> &'x &'a T
        where
            'a: 'x,
            T: 'x,
        {
            later(&self.0).await
        }
    }
    pub async fn borrowings() -> String {
        let made = Borrowing::made().await;
        let text = made.inner().await.to_owned();
        let other = Borrowing(text.as_str());
        let (a, b) = made.compared(&other).await;
        format!("{} {} {} {}", made.length().await, a, b, other.early().await)
    }
    pub async fn projected<F: Family>(family: F, member: F::Member) -> Vec<<F as Family>::Member>
    where
        F::Member: PartialEq,
    {
        let own = later(family.member()).await;
        if own == member { vec![own] } else { vec![own, member] }
    }
    pub async fn collected<'a, T, C>(pairs: Vec<(&'a str, T)>) -> (Alias<'a, T>, C)
    where
        T: Clone,
        C: FromIterator<T> + Extend<T>,
    {
        let mut all = Alias::new();
        let mut flat: C = std::iter::empty().collect();
        for (name, value) in pairs {
            flat.extend(Some(later(value.clone()).await));
            all.entry(name).or_default().push(value);
        }
        (all, flat)
    }
    pub async fn uses_collected() -> (usize, String) {
        let (all, flat) = collected::<_, String>(vec![("a", 'x'), ("a", 'y')]).await;
        (all["a"].len(), flat)
    }
    pub trait Walks: Sized {
        fn children(&self) -> Vec<Self>;
        fn walked(&self, depth: u32) -> impl Future<Output = u32>;
        fn all<'a>(&'a self, depth: u32) -> Pin<Box<dyn Future<Output = u32> + 'a>> {
            Box::pin(async move {
                let mut sum = self.walked(depth).await;
                for child in self.children() {
                    sum += child.all(depth + 1).await;
                }
                sum
            })
        }
        #[allow(async_fn_in_trait)]
        async fn nested(&self) -> impl Iterator<Item = impl Debug> {
            later(self.children()).await.into_iter().map(|_| 1).enumerate()
        }
    }
    #[derive(Debug)]
    pub struct Tree(pub Vec<Tree>);
    impl Walks for Tree {
        fn children(&self) -> Vec<Self> {
            self.0.iter().map(|child| Tree(child.0.iter().map(|_| Tree(vec![])).collect())).collect()
        }
        async fn walked(&self, depth: u32) -> u32 {
            later(depth).await + 1
        }
    }
    pub async fn walks() -> String {
        let tree = Tree(vec![Tree(vec![Tree(vec![])]), Tree(vec![])]);
        let nested: Vec<String> = tree.nested().await.map(|item| format!("{:?}", item)).collect();
        format!("{} {:?}", tree.all(0).await, nested)
    }
    pub async fn guarded(lock: &Mutex<Vec<Loud>>) -> Option<usize> {
        let n = {
            let mut list = lock.lock().ok()?;
            list.push(Loud("pushed"));
            list.len()
        };
        later(()).await;
        if lock.lock().unwrap().len() > n {
            return None;
        }
        let last = lock.lock().unwrap().pop();
        say("popped");
        drop(later(last).await);
        Some(n)
    }
    pub async fn behind<P>(mut pointer: Pin<P>) -> P::Target
    where
        P: std::ops::DerefMut,
        P::Target: Unpin + Copy + std::ops::AddAssign<u32>,
    {
        *pointer.as_mut().get_mut() += later(1).await;
        *pointer
    }
    pub async fn shadowed_generic<T: Deref>(t: T) -> usize
    where
        T::Target: AsRef<str>,
    {
        struct T2<T>(T);
        fn inner<T: AsRef<str> + ?Sized>(t: &T) -> usize {
            t.as_ref().len()
        }
        async fn again<T>(t: T2<T>) -> T {
            later(t.0).await
        }
        inner(&*again(T2(t)).await)
    }
    pub async fn shared(n: Arc<u32>) -> Result<u32, Arc<u32>> {
        let other = Arc::clone(&n);
        let both = async move { later(*other).await };
        let sum = both.await;
        Arc::try_unwrap(later(n).await).map(|n| n + sum)
    }
}

#[test]
fn same() {
    let settings = || Settings {
        a: 1,
        b: Some(Rc::new(1)),
        c: "c".into(),
    };
    let lock = Mutex::new(vec![]);
    same! {
        initialised_late(true);
        initialised_late(false);
        moved_in_parts(settings(), (Loud("first"), Some(Loud("second"))));
        updated();
        nothing_in_size((), [], PhantomData, []);
        aligned(1, Aligned(2), 3, Aligned(4));
        reads_pointers();
        uses_statics();
        uses_lifetimes();
        borrowings();
        projected(1, (1, 2));
        projected(1, (1, 1));
        uses_collected();
        walks();
        guarded(&lock);
        behind(Pin::new(&mut 1));
        behind(Box::pin(1));
        shadowed_generic(Rc::new("text"));
        shared(Arc::new(1));
    }
}
