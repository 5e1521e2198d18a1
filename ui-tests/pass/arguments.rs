//! Every argument, on every item, alone and inherited; all of them are accepted with the feature off as well.

use turbowish::instrument;

mod renamed {
    pub use turbowish::*;
}

#[turbowish::instrument(name = "named")]
async fn named() -> u32 {
    1
}

#[instrument(crate = crate::renamed, name = "both",)]
async fn elsewhere() -> u32 {
    async { named().await }.await
}

#[turbowish::instrument(skip)]
async fn skipped() -> u32 {
    1
}

#[turbowish::instrument(fields(shard = "7", tier = 2, type = 'x', hot = true, share = -0.5, empty = ""), name = "told")]
async fn told() -> u32 {
    async { 1 }.await
}

struct Type;

#[turbowish::instrument(crate = crate::renamed, fields(layer = "store"))]
impl Type {
    #[instrument(fields(layer = "disk"))]
    async fn told(&self) -> u32 {
        1
    }
    #[turbowish::instrument(name = "merged")]
    async fn merged(&self) -> u32 {
        1
    }
    #[crate::renamed::instrument(name = "by its other name")]
    async fn by_other_name(&self) -> u32 {
        1
    }
    #[instrument(skip)]
    async fn skipped(&self) -> u32 {
        1
    }
    #[instrument]
    async fn twice(&self) -> u32 {
        1
    }
    #[instrument(name = "twice")]
    async fn twice_named(&self, (a, _): (u32, u32)) -> u32 {
        tokio::task::yield_now().await;
        a
    }
    #[turbowish::instrument]
    fn asked_for(&self) -> u32 {
        1
    }
}

#[turbowish::instrument]
mod module {
    pub mod inner {
        #[turbowish::instrument(crate = crate::renamed)]
        pub mod innermost {
            pub async fn function() -> u32 {
                1
            }
        }
        pub async fn function() -> u32 {
            super::super::named().await
        }
        #[turbowish::instrument(skip)]
        pub mod left_out {
            pub async fn function() -> u32 {
                1
            }
        }
    }
    pub struct Type;
    impl Type {
        pub async fn method(&self) -> u32 {
            1
        }
    }
    #[turbowish::instrument(skip)]
    impl Type {
        pub async fn left_out(&self) -> u32 {
            1
        }
    }
    pub trait Trait {
        async fn default(&self) -> u32 {
            1
        }
    }
    impl Trait for Type {}
    #[turbowish::instrument(name = "free")]
    pub async fn free() -> u32 {
        1
    }
    #[turbowish::instrument(skip)]
    pub async fn left_out() -> u32 {
        1
    }
    macro_rules! left_alone {
        () => {
            pub async fn made() -> u32 {
                1
            }
        };
    }
    left_alone!();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    use module::Trait;
    use module::inner;
    let mut sum = named().await + elsewhere().await + skipped().await;
    sum += Type.merged().await + Type.by_other_name().await + Type.skipped().await + Type.twice().await;
    sum += Type.twice_named((1, 2)).await + Type.asked_for() + told().await + Type.told().await;
    sum += inner::innermost::function().await + inner::function().await + inner::left_out::function().await;
    sum += module::Type.method().await + module::Type.left_out().await + module::Type.default().await;
    sum += module::free().await + module::left_out().await + module::made().await;
    assert_eq!(sum, 20);
}
