#[turbowish::instrument(name = "a", name = "b")]
async fn named() {}

#[turbowish::instrument(skip, skip)]
async fn skipped() {}

fn main() {
    drop((named(), skipped()));
}
