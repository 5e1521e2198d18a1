//! A closure that is returned as `impl Fn` has the types that it takes and gives from there.

struct Reply<'a>(&'a mut String);

#[turbowish::instrument]
async fn once<'a>(text: &'a mut String) -> impl FnOnce(&str) -> Reply<'a> {
    tokio::task::yield_now().await;
    |more| {
        text.push_str(more.trim());
        Reply(text)
    }
}

#[turbowish::instrument]
async fn perhaps(give: bool) -> Option<impl Fn(Vec<u8>, &[u8]) -> usize> {
    if !give {
        return None;
    }
    tokio::task::yield_now().await;
    Some(move |first: Vec<u8>, second: &[u8]| first.len() + second.len() + usize::from(give))
}

#[turbowish::instrument]
async fn chosen(early: bool) -> Result<impl for<'x> Fn(&'x str, u8) -> bool, ()> {
    if early {
        return Err(());
    }
    match early {
        true => Err(()),
        false => Ok(|text: &str, length: u8| usize::from(length) == str::len(text)),
    }
}

// Left alone: a closure cannot be written so that it gives back what it borrows.
#[turbowish::instrument]
async fn lends() -> impl Fn(&str) -> &str {
    |text| text.trim()
}

type BoxFuture<T> = std::pin::Pin<Box<dyn Future<Output = T> + Send>>;

#[turbowish::instrument]
async fn coerces(n: u32) -> impl Fn(u32) -> Result<BoxFuture<u32>, Box<dyn std::error::Error>> {
    move |m| if m == 0 { Err("zero".into()) } else { Ok(Box::pin(async move { n + m })) }
}

#[turbowish::instrument]
async fn several(text: &str) -> (impl Fn(&str) -> Box<dyn std::fmt::Debug>, u32, impl FnOnce(&str, u8)) {
    let length = text.len();
    (move |text| Box::new(text.trim().len() + length), 1, |text, _| assert_eq!(text.trim(), "a"))
}

#[turbowish::instrument]
async fn with_async(n: u32) -> impl AsyncFn(u32) -> Option<Box<dyn std::fmt::Display>> {
    async move |m| { std::future::ready(()).await; Some(Box::new(m.pow(2) + n) as _) }
}

struct Counter<T>(T);

impl<T: Clone + PartialEq> Counter<T> {
    #[turbowish::instrument]
    async fn same(&self) -> impl Fn(&Self) -> bool + '_ {
        |other| other.0.clone() == self.0
    }

    #[turbowish::instrument]
    async fn typed(&self) -> impl Fn(&Self, T) -> bool + '_ {
        |_: &Self, value| value == self.0.clone()
    }
}

#[tokio::main]
async fn main() {
    let mut text = String::from("a");
    let reply = once(&mut text).await;
    assert_eq!(reply(" b ").0, "ab");
    assert_eq!(perhaps(true).await.map(|f| f(vec![1], &[2, 3])), Some(4));
    assert!(perhaps(false).await.is_none());
    assert!(chosen(false).await.is_ok_and(|f| f("abc", 3)));
    assert!(chosen(true).await.is_err());
    assert!(coerces(1).await(0).is_err());
    assert_eq!(coerces(1).await(2).unwrap().await, 3);
    let (length, one, ends) = several("text").await;
    ends("a", 1);
    assert_eq!(format!("{:?} {one}", length(" a ")), "5 1");
    assert_eq!(with_async(1).await(3).await.unwrap().to_string(), "10");
    assert_eq!(lends().await(" c "), "c");
    assert!(Counter(1).same().await(&Counter(1)));
    assert!(Counter(1).typed().await(&Counter(2), 1));
}
