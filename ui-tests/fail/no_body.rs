trait Trait {
    #[turbowish::instrument]
    async fn declared(&self);
}

impl Trait for u8 {
    async fn declared(&self) {}
}

fn main() {
    drop(1u8.declared());
}
