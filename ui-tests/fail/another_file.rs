// The first error is the compiler's own, which any attribute gets here.
#[turbowish::instrument]
#[path = "../src/lib.rs"]
mod file;

#[turbowish::instrument]
mod inline {
    pub async fn function() {}
}

fn main() {
    drop(inline::function());
}
