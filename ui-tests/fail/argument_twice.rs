#[turbowish::instrument(name = "a", name = "b")]
async fn name() {}

#[turbowish::instrument(skip, skip)]
async fn skip() {}

#[turbowish::instrument(crate = turbowish, name = "x", crate = ::turbowish)]
async fn path() {}

struct Type;

#[turbowish::instrument]
impl Type {
    #[turbowish::instrument(skip, skip)]
    async fn method(&self) {}
}

fn main() {
    // The items are there all the same: no second error.
    drop((name(), skip(), path(), Type.method()));
}
