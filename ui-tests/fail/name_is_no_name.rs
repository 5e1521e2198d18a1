#[turbowish::instrument(name = "")]
async fn empty() {}

#[turbowish::instrument(name = 3)]
async fn number() {}

#[turbowish::instrument(name)]
async fn missing() {}

fn main() {
    drop((empty(), number(), missing()));
}
