use std::rc::Rc;

#[turbowish::instrument]
async fn function() -> u32 {
    let local = Rc::new(1);
    tokio::task::yield_now().await;
    *local
}

fn main() {
    tokio::spawn(function());
}
