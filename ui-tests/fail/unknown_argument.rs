#[turbowish::instrument(nam = "x")]
async fn function() {}

struct Type;

#[turbowish::instrument]
impl Type {
    #[turbowish::instrument(level = "info")]
    async fn method(&self) {}
}

fn main() {
    // The items are there all the same: no second error.
    drop(function());
    drop(Type.method());
}
