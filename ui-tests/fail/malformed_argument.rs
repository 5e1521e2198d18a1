#[turbowish::instrument(name)]
async fn without_value() {}

#[turbowish::instrument(name = 3)]
async fn no_text() {}

#[turbowish::instrument(name = )]
async fn nothing() {}

#[turbowish::instrument(name("x"))]
async fn in_brackets() {}

#[turbowish::instrument("x")]
async fn only_text() {}

#[turbowish::instrument(name "x")]
async fn without_sign() {}

#[turbowish::instrument(name = "x" skip)]
async fn without_comma() {}

#[turbowish::instrument(name = "x"; skip)]
async fn wrong_comma() {}

#[turbowish::instrument(skip = true)]
async fn skip_with_value() {}

#[turbowish::instrument(skip(true))]
async fn skip_in_brackets() {}

#[turbowish::instrument(crate)]
async fn crate_without_value() {}

#[turbowish::instrument(crate = "turbowish")]
async fn crate_as_text() {}

#[turbowish::instrument(turbowish::name = "x")]
async fn path() {}

struct Type;

#[turbowish::instrument]
impl Type {
    #[turbowish::instrument(name)]
    async fn without_value(&self) {}
    #[turbowish::instrument = "x"]
    async fn value(&self) {}
    #[turbowish::instrument(skip, crate)]
    async fn crate_without_value(&self) {}
}

#[turbowish::instrument]
mod module {
    #[turbowish::instrument(nam = "x")]
    pub struct Type;

    #[turbowish::instrument(skip(self))]
    impl Type {
        pub async fn method(&self) {}
    }
}

fn main() {
    // The items are there all the same: no second error.
    drop((without_value(), no_text(), nothing(), in_brackets(), only_text(), without_sign(), without_comma(), wrong_comma()));
    drop((skip_with_value(), skip_in_brackets(), crate_without_value(), crate_as_text(), path()));
    drop((Type.without_value(), Type.value(), Type.crate_without_value(), module::Type.method()));
}
