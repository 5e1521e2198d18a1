//! Above `#[async_recursion]`, whose block captures what the body uses and nothing else: its future stays `Send`, and an argument that
//! the body does not use is dropped when the call is made.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use async_recursion::async_recursion;

struct Type;

impl Type {
    #[turbowish::instrument]
    #[async_recursion]
    async fn unused<T>(&self, _something: &T) -> u32 {
        1
    }

    #[turbowish::instrument]
    #[async_recursion]
    async fn unused_mut<T>(&self, mut _something: &T) -> u32 {
        1
    }
}

/// As async-recursion's own tests have it: none of the types is `Send` or `Sync`.
#[turbowish::instrument]
impl Type {
    #[async_recursion]
    async fn all<'a, 'b, S, T>(&self, _x: &S, _y: &'b T, _w: S, _z: T, _p: &usize, _q: &'a u64) -> u32 {
        std::future::ready(1).await
    }
}

#[turbowish::instrument]
#[::async_recursion::async_recursion]
async fn by_its_path<T>((_a, _b): (&T, u32), n: u32) -> u32 {
    if n == 0 { 0 } else { by_its_path((&Cell::new(1), 2), n - 1).await + 1 }
}

/// Notes its drop.
struct Noted(Rc<RefCell<Vec<&'static str>>>, &'static str);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

#[async_recursion(?Send)]
async fn plain(used: Noted, _unused: Noted) {
    drop(used);
}

#[turbowish::instrument]
#[async_recursion(?Send)]
async fn annotated(used: Noted, _unused: Noted) {
    drop(used);
}

#[tokio::main]
async fn main() {
    let not_sync = Cell::new(1);
    assert_eq!(Type.unused(&not_sync).await + Type.unused_mut(&not_sync).await, 2);
    assert_eq!(Type.all(&not_sync, &Rc::new(1), Cell::new(1), Rc::new(1), &1, &2).await, 1);
    assert_eq!(by_its_path((&not_sync, 1), 3).await, 3);
    let dropped = [(); 2].map(|()| Rc::new(RefCell::new(Vec::new())));
    let noted = |at: usize, name| Noted(Rc::clone(&dropped[at]), name);
    let call = plain(noted(0, "used"), noted(0, "unused"));
    dropped[0].borrow_mut().push("made");
    call.await;
    let call = annotated(noted(1, "used"), noted(1, "unused"));
    dropped[1].borrow_mut().push("made");
    call.await;
    assert_eq!(dropped[0], dropped[1]);
}
