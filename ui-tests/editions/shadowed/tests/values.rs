//! What the functions of the crate come to. tokio's own macros do not compile beside a crate named `core`.

use std::future::Future;

use turbowish_ui_shadowed as shadowed;
use turbowish_ui_shadowed::Option;

#[test]
fn values() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(all());
}

async fn all() {
    assert_eq!(shadowed::named_alike(1, 2, 3).await, 48);
    assert_eq!(shadowed::result(1, (2, 3)).await.0, 2);
    assert_eq!(shadowed::option(0).await, Option::Err(0));
    assert_eq!(shadowed::option(2).await, Option::Ok(3));
    assert_eq!(shadowed::real_result("7").await, Ok(7));
    assert!(shadowed::real_result("x").await.is_err());
    assert_eq!(shadowed::kept(1).await, Option::Some(1));
    assert_eq!(shadowed::plain(1), Option::Some(1));
    assert_eq!(shadowed::boxed(1).await, Option::Some(1));
    assert_eq!(shadowed::Type.method(1, 2, "3").await, (1, "3"));
    assert_eq!(shadowed::module::inside("text").await, (Option::Some(1), 4));
    let endless = std::pin::pin!(shadowed::endless());
    let waker = std::task::Waker::noop();
    assert!(
        endless
            .poll(&mut std::task::Context::from_waker(waker))
            .is_pending()
    );
}
