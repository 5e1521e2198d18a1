#[turbowish::instrument(nam = "x")]
async fn function() {}

struct Type;

#[turbowish::instrument]
impl Type {
    #[turbowish::instrument(level = "info")]
    async fn method(&self) {}
}

// As of another attribute of this name.
#[turbowish::instrument(skip(_unused))]
async fn other(_unused: u32) {}

#[turbowish::instrument(skip_all, fields(n = 1), err)]
async fn fields() {}

fn main() {
    // The items are there all the same: no second error.
    drop(function());
    drop((Type.method(), other(1), fields()));
}
