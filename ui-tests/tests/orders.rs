//! Attributes of other crates above and below ours, on blocks and on functions: all of them still do their work.
//!
//! | attribute | above ours | below ours |
//! |---|---|---|
//! | `#[async_trait]`, `(?Send)` | `Below`, `Methods` | `Above`, `module` |
//! | `#[async_recursion]`, `(?Send)` | `recursion_above` | `recursion_below`, `module` |
//! | `#[tracing::instrument]` | `traced_above` | `traced_below`, on boxed tails, under `#[async_trait]`, `module` |
//! | `#[tokio::main]` | `main_above` | `main_below` |
//! | `#[tokio::test]`, `#[test]`, `#[should_panic]`, `#[ignore]` | `listed` | `listed` |

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_imports,
    reason = "modules of cases"
)]

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use async_recursion::async_recursion;
use async_trait::async_trait;
use tokio::task::yield_now;

/// The name of the span that the code stands in: what `#[tracing::instrument]` is for.
mod spans {
    use std::cell::RefCell;
    use std::sync::{Mutex, Once};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    static INSTALLED: Once = Once::new();
    static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    thread_local!(static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) });

    struct Names;

    impl Subscriber for Names {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut names = NAMES.lock().unwrap();
            names.push(span.metadata().name());
            Id::from_u64(names.len() as u64)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
        fn enter(&self, span: &Id) {
            ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
        }
        fn exit(&self, span: &Id) {
            ENTERED.with_borrow_mut(|entered| {
                let at = entered.iter().rposition(|each| each == span);
                entered.remove(at.unwrap());
            });
        }
    }

    /// From now on spans have names.
    pub(super) fn install() {
        INSTALLED.call_once(|| tracing::subscriber::set_global_default(Names).unwrap());
    }

    /// The innermost one on this thread.
    pub(super) fn innermost() -> &'static str {
        let id = ENTERED.with_borrow(|entered| entered.last().map(Id::into_u64));
        match id {
            Some(id) => NAMES.lock().unwrap()[usize::try_from(id).unwrap() - 1],
            None => "",
        }
    }
}

use spans::innermost;

#[async_trait]
trait Store: Send + Sync {
    async fn get(&self, text: &str, n: u32) -> Result<String, String>;
    async fn default(&self, (first, _): (u32, u32), _: u32) -> u32 {
        yield_now().await;
        first
    }
    async fn generic<T: Send + std::fmt::Debug>(&self, value: T) -> String
    where
        Self: Sized,
    {
        format!("{value:?}")
    }
    async fn consumed(self: Box<Self>) -> u32;
    async fn borrowed<'a>(&self, text: &'a str) -> &'a str;
    async fn changed(&mut self, mut by: u32, _: u32) -> &mut u32;
    async fn traced(&self) -> &'static str;
}

/// The same methods for every order of attributes.
macro_rules! store {
    ($($attributes:meta),*; $($method:meta),*; $name:ident) => {
        struct $name(u32);
        $(#[$attributes])*
        impl Store for $name {
            $(#[$method])*
            async fn get(&self, text: &str, n: u32) -> Result<String, String> {
                yield_now().await;
                if n == 0 {
                    return Err(text.into());
                }
                Ok(format!("{text}{n}{}", self.0))
            }
            $(#[$method])*
            async fn consumed(self: Box<Self>) -> u32 {
                yield_now().await;
                self.0
            }
            $(#[$method])*
            async fn borrowed<'a>(&self, text: &'a str) -> &'a str {
                yield_now().await;
                text
            }
            $(#[$method])*
            async fn changed(&mut self, mut by: u32, _: u32) -> &mut u32 {
                by += 1;
                yield_now().await;
                self.0 += by;
                &mut self.0
            }
            $(#[$method])*
            #[tracing::instrument(skip(self))]
            async fn traced(&self) -> &'static str {
                yield_now().await;
                innermost()
            }
        }
    };
}

store!(turbowish::instrument, async_trait; ; Above);
store!(async_trait, turbowish::instrument; ; Below);
store!(async_trait; turbowish::instrument; Methods);

async fn check_store<T: Store>(store: T) {
    assert_eq!(store.get("a", 0).await, Err("a".to_owned()));
    assert_eq!(store.get("a", 2).await, Ok("a21".to_owned()));
    assert_eq!(store.default((4, 1), 3).await, 4);
    assert_eq!(store.generic('x').await, "'x'");
    assert_eq!(store.borrowed("z").await, "z");
    assert_eq!(store.traced().await, "traced");
    let mut store = Box::new(store);
    assert_eq!(*store.changed(2, 7).await, 4);
    let object: Box<dyn Store> = Box::new(Above(9));
    assert_eq!(object.consumed().await, 9);
    assert_eq!(
        tokio::spawn(async move { object_get(Box::new(Below(1))).await })
            .await
            .unwrap(),
        2
    );
    assert_eq!(store.consumed().await, 4);
}

async fn object_get(object: Box<dyn Store>) -> usize {
    object.get("", 1).await.map_or(0, |text| text.len())
}

#[async_trait(?Send)]
trait Local {
    async fn local(&self) -> u32;
}

#[turbowish::instrument]
mod module {
    use super::*;

    #[async_trait(?Send)]
    impl Local for Direct {
        async fn local(&self) -> u32 {
            let local = Rc::new(self.0);
            yield_now().await;
            *local
        }
    }

    pub(super) struct Direct(pub(super) u32);

    #[async_trait]
    impl Store for Direct {
        async fn get(&self, text: &str, n: u32) -> Result<String, String> {
            yield_now().await;
            if n == 0 {
                Err(text.into())
            } else {
                Ok(format!("{text}{n}{}", self.0))
            }
        }
        async fn consumed(self: Box<Self>) -> u32 {
            self.0
        }
        async fn borrowed<'a>(&self, text: &'a str) -> &'a str {
            yield_now().await;
            text
        }
        async fn changed(&mut self, by: u32, _: u32) -> &mut u32 {
            self.0 += by + 1;
            &mut self.0
        }
        #[tracing::instrument(skip_all, fields(n = self.0))]
        async fn traced(&self) -> &'static str {
            yield_now().await;
            innermost()
        }
    }

    #[async_recursion]
    pub(super) async fn recursion(n: u32) -> u32 {
        if n == 0 {
            0
        } else {
            recursion(n - 1).await + 1
        }
    }

    #[async_recursion(?Send)]
    pub(super) async fn local_recursion<T: Fn() -> u32>(end: &T, n: u32) -> u32 {
        if n == 0 {
            end()
        } else {
            local_recursion(end, n - 1).await + 1
        }
    }

    #[tracing::instrument(ret, err)]
    pub(super) async fn traced(
        n: u32,
        #[allow(unused, reason = "a case")] text: &str,
    ) -> Result<&'static str, String> {
        yield_now().await;
        if n == 0 {
            Err(innermost().to_owned())
        } else {
            Ok(innermost())
        }
    }

    #[tracing::instrument(skip_all, fields(sum = first + n))]
    pub(super) async fn traced_patterns(
        n: u32,
        (first, _): (u32, u32),
        _: Rc<u32>,
    ) -> impl std::fmt::Display {
        yield_now().await;
        format!("{} {}", innermost(), first + n)
    }
}

#[async_recursion]
#[turbowish::instrument]
async fn recursion_above(n: &u32) -> u32 {
    if *n == 0 {
        0
    } else {
        recursion_above(&(n - 1)).await + 1
    }
}

#[turbowish::instrument]
#[async_recursion]
async fn recursion_below(n: u32) -> u32 {
    if n == 0 {
        0
    } else {
        recursion_below(n - 1).await + 1
    }
}

#[tracing::instrument(err(Debug))]
#[turbowish::instrument]
async fn traced_above(n: u32) -> Result<&'static str, String> {
    yield_now().await;
    if n == 0 {
        return Err("zero".into());
    }
    Ok(innermost())
}

#[turbowish::instrument]
#[tracing::instrument]
async fn traced_below(n: u32) -> Result<&'static str, Box<dyn std::error::Error>> {
    yield_now().await;
    if n == 0 {
        return Err("zero".into());
    }
    Ok(innermost())
}

#[turbowish::instrument]
#[tracing::instrument(skip(_unused), level = "debug")]
#[must_use]
async fn traced_and_checked(n: u32, _unused: &dyn Fn()) -> &'static str {
    yield_now().await;
    innermost()
}

#[tracing::instrument]
#[turbowish::instrument(skip)]
async fn traced_and_skipped(n: u32) -> &'static str {
    yield_now().await;
    innermost()
}

#[turbowish::instrument]
#[tracing::instrument]
fn boxed_below(n: u32) -> Pin<Box<dyn Future<Output = &'static str> + Send>> {
    Box::pin(async move {
        yield_now().await;
        innermost()
    })
}

#[tracing::instrument]
#[turbowish::instrument]
fn boxed_above(n: u32) -> Pin<Box<dyn Future<Output = &'static str> + Send>> {
    Box::pin(async move {
        yield_now().await;
        innermost()
    })
}

#[turbowish::instrument]
#[tracing::instrument]
fn tail_below(n: u32) -> impl Future<Output = &'static str> {
    async move {
        yield_now().await;
        innermost()
    }
}

#[turbowish::instrument]
#[tracing::instrument]
fn plain(n: u32) -> &'static str {
    innermost()
}

#[tokio::main(flavor = "current_thread")]
#[turbowish::instrument]
async fn main_above() -> Result<u32, String> {
    yield_now().await;
    Ok(1)
}

#[turbowish::instrument(name = "entry")]
#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main_below() -> Result<u32, String> {
    yield_now().await;
    Err("below".to_owned())?;
    Ok(1)
}

#[test]
fn entry_points() {
    assert_eq!(main_above(), Ok(1));
    assert_eq!(main_below(), Err("below".to_owned()));
}

#[tokio::test]
async fn methods() {
    spans::install();
    check_store(Above(1)).await;
    check_store(Below(1)).await;
    check_store(Methods(1)).await;
    check_store(module::Direct(1)).await;
    let local = tokio::task::LocalSet::new();
    let not_send = local.spawn_local(async { module::Direct(3).local().await });
    local.await;
    assert_eq!(not_send.await.unwrap(), 3);
}

#[tokio::test]
async fn functions() {
    spans::install();
    assert_eq!(recursion_above(&3).await + recursion_below(3).await, 6);
    assert_eq!(module::recursion(3).await, 3);
    assert_eq!(module::local_recursion(&|| 1, 2).await, 3);
    assert_eq!(traced_above(1).await, Ok("traced_above"));
    assert_eq!(traced_above(0).await, Err("zero".to_owned()));
    assert_eq!(traced_below(1).await.ok(), Some("traced_below"));
    assert_eq!(traced_below(0).await.unwrap_err().to_string(), "zero");
    assert_eq!(traced_and_checked(1, &|| {}).await, "traced_and_checked");
    assert_eq!(traced_and_skipped(1).await, "traced_and_skipped");
    assert_eq!(boxed_below(1).await, "boxed_below");
    assert_eq!(boxed_above(1).await, "boxed_above");
    assert_eq!(tail_below(1).await, "tail_below");
    assert_eq!(plain(1), "plain");
    assert_eq!(module::traced(1, "").await, Ok("traced"));
    assert_eq!(module::traced(0, "").await, Err("traced".to_owned()));
    assert_eq!(
        module::traced_patterns(1, (2, 3), Rc::new(4))
            .await
            .to_string(),
        "traced_patterns 3"
    );
}

/// Every test in here is in the list at the end of the file.
#[turbowish::instrument]
mod listed {
    use super::*;

    #[tokio::test]
    async fn bare() {
        yield_now().await;
    }
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn threads() -> Result<(), String> {
        assert_eq!(
            tokio::spawn(async { traced_above(0).await })
                .await
                .map_err(|e| e.to_string())?,
            Err("zero".into())
        );
        Ok(())
    }
    #[tokio::test]
    #[should_panic(expected = "boom")]
    async fn panics() {
        yield_now().await;
        panic!("boom")
    }
    #[should_panic]
    #[tokio::test]
    async fn panics_above() {
        yield_now().await;
        panic!("boom")
    }
    #[cfg(test)]
    #[tokio::test]
    async fn configured() {
        yield_now().await;
    }
    #[cfg_attr(test, tokio::test)]
    async fn conditional() {
        yield_now().await;
    }
    #[tokio::test(start_paused = true)]
    async fn paused() {
        tokio::time::sleep(std::time::Duration::from_secs(1000)).await;
    }
    #[test]
    fn plain() {
        assert_eq!(super::main_above(), Ok(1));
    }
}

#[turbowish::instrument]
#[tokio::test]
async fn ours_above() {
    yield_now().await;
}

#[tokio::test]
#[turbowish::instrument]
async fn ours_below() {
    yield_now().await;
}

#[turbowish::instrument]
#[should_panic(expected = "boom")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ours_on_top() {
    yield_now().await;
    panic!("boom")
}

#[should_panic(expected = "boom")]
#[turbowish::instrument]
#[tokio::test]
async fn ours_between() {
    yield_now().await;
    panic!("boom")
}

#[tokio::test]
#[should_panic(expected = "boom")]
#[turbowish::instrument]
async fn ours_at_the_bottom() {
    yield_now().await;
    panic!("boom")
}

#[turbowish::instrument]
#[test]
fn plain_above() -> Result<(), String> {
    main_above().map(drop)
}

#[test]
#[turbowish::instrument(name = "other")]
fn plain_below() {
    assert!(main_below().is_err());
}

/// A test that vanishes fails here.
#[test]
fn every_test_is_listed() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .arg("--list")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut tests: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    tests.sort_unstable();
    let expected = [
        "entry_points",
        "every_test_is_listed",
        "functions",
        "listed::bare",
        "listed::conditional",
        "listed::configured",
        "listed::panics",
        "listed::panics_above",
        "listed::paused",
        "listed::plain",
        "listed::threads",
        "methods",
        "ours_above",
        "ours_at_the_bottom",
        "ours_below",
        "ours_between",
        "ours_on_top",
        "plain_above",
        "plain_below",
    ];
    assert_eq!(tests, expected);
}
