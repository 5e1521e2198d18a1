//! What the functions of the crate come to.

use turbowish_ui_no_std as no_std;

#[tokio::test]
async fn values() {
    assert_eq!(no_std::borrowed("ab", 1).await, Some(&b"ab"[..]));
    assert_eq!(no_std::parsed("7").await.ok(), Some(7));
    assert!(no_std::parsed("x").await.is_err());
    assert_eq!(
        tokio::spawn(no_std::countdown(2)).await.ok(),
        Some(vec![0, 1, 2])
    );
    assert_eq!(no_std::plain(1), 2);
    assert_eq!(no_std::Type("a").shown().await, "\"a\"");
    assert_eq!(no_std::Type(3).taken(()).await, 3);
    tokio::select! {
        biased;
        never = no_std::endless() => never,
        () = tokio::task::yield_now() => {}
    }
}
