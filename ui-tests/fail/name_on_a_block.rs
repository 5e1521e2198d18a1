struct Type;

#[turbowish::instrument(name = "type")]
impl Type {
    async fn method(&self) {}
}

#[turbowish::instrument]
mod outer {
    #[turbowish::instrument(name = "inner")]
    pub mod inner {
        pub async fn function() {}
    }
    pub trait Trait {
        #[turbowish::instrument(name = "declared")]
        async fn declared(&self);
    }
}

fn main() {
    drop(Type.method());
    drop(outer::inner::function());
}
