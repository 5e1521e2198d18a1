//! Patterns, `_`, unused, `mut`, `ref`, raw names, `cfg`, names that begin with underscores; auto traits that arguments take away.

use crate::twice::later;
use std::cell::Cell;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

pub struct Wrapper(pub u32);
pub struct Named {
    pub x: u32,
    pub y: String,
    pub z: u32,
}
#[derive(Debug)]
pub struct Unit;

twice! {
    pub async fn patterns((a, b): (u32, String), [c, .., d]: [u32; 4], Wrapper(e): Wrapper, Named { x, y: ref f, .. }: Named) -> u32 {
        later(()).await;
        a + b.len() as u32 + c + d + e + x + f.len() as u32
    }
    pub async fn references(&(a, ref b): &(u32, String), ref c: u32, ref mut d: String, &mut ref mut e: &mut u32) -> u32 {
        d.push('x');
        *e += 1;
        later(()).await;
        a + *c + b.len() as u32 + d.len() as u32 + *e
    }
    pub async fn at(a @ 0..=255: u8, _b @ _: u32, c @ (_, _): (u32, u32)) -> (u8, (u32, u32)) {
        later((a, c)).await
    }
    pub async fn units((): (), ((), _): ((), u32), _: (), Unit: Unit) {
        later(()).await
    }
    pub async fn unused(_: u32, _: String, _x: String, mut _y: Rc<u32>) {
        later(()).await
    }
    pub async fn mutated(mut a: u32, mut b: Vec<u32>, mut c: impl Iterator<Item = u32>) -> Vec<u32> {
        a += 1;
        b.push(a);
        while let Some(x) = c.next() {
            b.push(later(x).await);
        }
        b
    }
    pub async fn counted_down(mut n: u32, mut text: String) -> usize {
        while n > 0 {
            n -= 1;
            text = format!("{}{}", text, later(n).await);
        }
        text.len()
    }
    pub async fn shadowed(x: u32) -> u32 {
        let x = x + 1;
        {
            let x = x + 1;
            later(x).await
        }
    }
    pub async fn our_names(future: u32, output: u32, call: u32, at: u32, unreached: u32) -> u32 {
        let _entered = later(1).await;
        future + output + call + at + unreached + _entered
    }
    pub async fn private_names(__arg0: u32, __self: u32, _: u32, __turbowish_argument_2: u32) -> u32 {
        later(__arg0 + __self + __turbowish_argument_2).await
    }
    pub async fn raw(r#type: u32, r#match: &str, r#mut: u32) -> u32 {
        later(r#type).await + r#match.len() as u32 + r#mut
    }
    pub async fn r#loop(r#in: u32) -> u32 {
        later(r#in).await
    }
    pub async fn calls_raw() -> u32 {
        r#loop(1).await
    }
    pub async fn configured(#[cfg(all())] a: u32, #[cfg(any())] b: NoSuchType, #[allow(unused_mut)] mut c: u32, #[cfg(all())] #[allow(unused)] d: u32) -> u32 {
        #[cfg(any())]
        {
            return no_such_function().await;
        }
        #[cfg(all())]
        let x = 1;
        #[cfg(any())]
        let x = no_such_function().await;
        #[allow(clippy::all)]
        let y = later(x).await;
        #[cfg(any())]
        return b.await;
        #[cfg(all())]
        {
            a + c + y
        }
    }
    /// `Send` and not `Sync`, and the other way round.
    pub async fn not_sync(cell: Cell<u32>, sender: std::sync::mpsc::Receiver<u32>) -> u32 {
        later(()).await;
        cell.get() + sender.try_recv().unwrap_or(7)
    }
    pub async fn not_unwind_safe(n: &mut u32, cell: &Cell<u32>) -> u32 {
        *n += later(cell.get()).await;
        *n
    }
    pub async fn not_send(count: Rc<u32>) -> u32 {
        *count
    }
    pub async fn not_send_across(count: u32) -> u32 {
        let local = Rc::new(count);
        later(()).await;
        *local
    }
    pub async fn not_send_before(count: u32) -> u32 {
        let sum = {
            let local = Rc::new(count);
            *local + 1
        };
        later(sum).await
    }
    pub async fn pointer(p: *const u32) -> bool {
        later(()).await;
        p.is_null()
    }
    pub async fn owned_future(future: Pin<Box<dyn Future<Output = u32>>>, mut other: Pin<&mut (dyn Future<Output = u32> + Send)>) -> u32 {
        future.await + other.as_mut().await
    }
}

#[test]
fn same() {
    let (_sender, receiver) = std::sync::mpsc::channel::<u32>();
    drop(receiver);
    same! {
        patterns((1, "a".to_owned()), [1, 2, 3, 4], Wrapper(1), Named { x: 1, y: "b".to_owned(), z: 0 });
        references(&(1, "a".to_owned()), 2, "b".to_owned(), &mut 1);
        at(1, 2, (3, 4));
        units((), ((), 1), (), Unit);
        unused(1, String::new(), String::new(), Rc::new(1));
        mutated(1, vec![], vec![5].into_iter());
        counted_down(3, "a".to_owned());
        shadowed(1);
        our_names(1, 2, 3, 4, 5);
        private_names(1, 2, 3, 4);
        raw(1, "a", 2);
        r#loop(1);
        calls_raw();
        configured(1, 2, 3);
        not_sync(Cell::new(1), std::sync::mpsc::channel().1);
        not_unwind_safe(&mut 1, &Cell::new(2));
        not_send(Rc::new(1));
        not_send_across(1);
        not_send_before(1);
        pointer(std::ptr::null());
        owned_future(Box::pin(later(1)), Box::pin(later(2)).as_mut());
    }
}

/// The traits are really told apart.
#[test]
fn auto_traits() {
    assert_eq!(
        auto_traits!(instrumented::shadowed(1)),
        [true, true, false, true, true]
    );
    assert_eq!(
        auto_traits!(instrumented::not_send(Rc::new(1)))[..2],
        [false, false]
    );
    assert_eq!(
        auto_traits!(instrumented::not_send_across(1))[..2],
        [false, false]
    );
    assert_eq!(
        auto_traits!(instrumented::not_send_before(1))[..2],
        [true, true]
    );
    let receiver = std::sync::mpsc::channel().1;
    assert_eq!(
        auto_traits!(instrumented::not_sync(Cell::new(1), receiver))[..2],
        [true, false]
    );
    let unwind = auto_traits!(instrumented::not_unwind_safe(&mut 1, &Cell::new(2)));
    assert_eq!(unwind[3..], [false, false]);
}
