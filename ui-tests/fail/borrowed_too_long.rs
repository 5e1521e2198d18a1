#[turbowish::instrument]
async fn function<'a>(a: &'a str, b: &str) -> &'a str {
    tokio::task::yield_now().await;
    b
}

#[turbowish::instrument]
async fn moved_twice(text: String) -> String {
    drop(text);
    tokio::task::yield_now().await;
    text
}

fn main() {
    drop(function("", ""));
    drop(moved_twice(String::new()));
}
