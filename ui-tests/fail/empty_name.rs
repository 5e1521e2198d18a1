#[turbowish::instrument(name = "")]
async fn function() {}

fn main() {
    drop(function());
}
