//! Every way to write a lifetime, a receiver or an argument stays what it was to callers.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

pub struct Db<'t> {
    text: &'t str,
    reads: u32,
}

#[turbowish::instrument]
impl<'t> Db<'t> {
    async fn elided(&self) -> &str {
        self.text
    }
    async fn outer(&self) -> &'t str {
        self.text
    }
    async fn exclusive(&mut self, by: u32) -> &mut u32 {
        self.reads += by;
        &mut self.reads
    }
    async fn two<'a>(&self, key: &'a str, _other: &str) -> (&'t str, &'a str) {
        tokio::task::yield_now().await;
        (self.text, key)
    }
    async fn by_value(mut self) -> u32 {
        self.reads += 1;
        self.reads
    }
    async fn in_arc(self: Arc<Self>) -> u32 {
        self.reads
    }
    async fn in_box(self: Box<Self>) -> Self {
        *self
    }
    async fn pinned(self: Pin<&mut Self>) -> u32 {
        self.reads
    }
    async fn hidden(&self) -> Db<'_> {
        Db { text: self.text, reads: 0 }
    }
    async fn callback(&self, with: impl AsyncFn(&str) -> usize) -> usize {
        with(self.text).await
    }
    async fn dynamic(&self, with: &(dyn Fn(&str) -> usize + Sync)) -> usize {
        with(self.text)
    }
}

#[turbowish::instrument]
async fn shorter<'a, 'b: 'a>(a: &'a str, b: &'b str) -> &'a str {
    if a.len() < b.len() { a } else { b }
}

#[turbowish::instrument]
async fn higher_ranked<F>(f: F) -> usize
where
    F: for<'a> Fn(&'a str) -> &'a str,
{
    f("abc").len()
}

#[turbowish::instrument]
async fn mutated(mut n: u32, mut text: String, r#type: &mut Vec<u32>) -> String {
    while n > 0 {
        n -= 1;
        text.push('x');
        r#type.push(n);
        tokio::task::yield_now().await;
    }
    text
}

/// `Send` and not `Sync`: an argument that is captured, and never borrowed across an await.
#[turbowish::instrument]
async fn not_sync(cell: Cell<u32>) -> u32 {
    tokio::task::yield_now().await;
    cell.into_inner()
}

#[turbowish::instrument]
async fn not_send(count: Rc<u32>) -> u32 {
    tokio::task::yield_now().await;
    *count
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let text = String::from("text");
    let mut db = Db { text: &text, reads: 0 };
    assert_eq!(db.elided().await, "text");
    let outer = Db { text: &text, reads: 0 }.outer().await;
    assert_eq!(outer, "text");
    *db.exclusive(2).await += 1;
    assert_eq!(db.two("key", "other").await, ("text", "key"));
    assert_eq!(db.hidden().await.text, "text");
    assert_eq!(db.callback(async |text| text.len()).await, 4);
    assert_eq!(db.dynamic(&|text| text.len()).await, 4);
    assert_eq!(Pin::new(&mut db).pinned().await, 3);
    assert_eq!(Arc::new(db.hidden().await).in_arc().await, 0);
    assert_eq!(Box::new(db.hidden().await).in_box().await.reads, 0);
    assert_eq!(db.by_value().await, 4);
    assert_eq!(shorter("a", "bb").await, "a");
    assert_eq!(higher_ranked(|text| &text[1..]).await, 2);
    let mut seen = Vec::new();
    assert_eq!(mutated(2, String::new(), &mut seen).await, "xx");
    assert_eq!(seen, [1, 0]);
    assert_eq!(tokio::spawn(not_sync(Cell::new(1))).await.unwrap(), 1);
    assert_eq!(not_send(Rc::new(1)).await, 1);
}
