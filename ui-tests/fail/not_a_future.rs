#[turbowish::instrument]
async fn function() -> u32 {
    1u32.await
}

fn main() {
    drop(function());
}
