//! What the functions of the crate come to.

use strict::Promises;
use turbowish_ui_strict as strict;

#[tokio::test]
async fn values() {
    let arguments = |count| strict::arguments("", (1, 0), count, vec![], "odd".to_owned());
    assert_eq!(arguments(1).await, Ok(2));
    assert_eq!(arguments(2).await, Err("odd".to_owned()));
    assert_eq!(strict::items("ab").await, 3);
    assert!(strict::opaque(true).await.is_err());
    assert!(strict::opaque(false).await.is_ok());
    assert_eq!(strict::yields().await.await, 1);
    let complex = strict::complex("1", (2, 3), 4).await.unwrap();
    assert_eq!(complex.keys().collect::<Vec<_>>(), [&3]);
    assert_eq!(strict::borrows(" a ", "").await, "a");
    let mut list = Vec::new();
    strict::changes(&mut list).await;
    assert_eq!(list, [strict::ordinary()]);
    assert_eq!(strict::checked(1, (2, 3)).await, 2);
    assert_eq!(strict::silent(1, (2, String::new())).await, 1);
    let value = strict::Type::new("text").await;
    assert_eq!(value.promised().await + value.boxed().await, 2);
    assert_eq!(value.text("").await, Some("text"));
    assert_eq!(value.consumed(()).await, 4);
    strict::module::function(1).await;
    let mut rounds = 0;
    tokio::select! {
        biased;
        never = strict::module::endless(&mut rounds) => never,
        () = tokio::task::yield_now() => {}
    }
    assert!(rounds > 0);
}
