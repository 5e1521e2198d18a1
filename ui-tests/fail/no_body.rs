trait Trait {
    #[turbowish::instrument]
    async fn declared(&self);

    #[turbowish::instrument]
    const N: u32;

    #[turbowish::instrument]
    type Type: Default;
}

impl Trait for u8 {
    async fn declared(&self) {}

    #[turbowish::instrument]
    const N: u32 = 1;

    #[turbowish::instrument]
    type Type = [u8; 2];
}

unsafe extern "C" {
    #[turbowish::instrument]
    fn abs(n: i32) -> i32;
    #[turbowish::instrument]
    pub fn labs(n: i64) -> i64;
}

fn main() {
    // The items are there all the same: no second error.
    drop(1u8.declared());
    assert_eq!(<u8 as Trait>::N, 1);
    assert!(abs as unsafe extern "C" fn(_) -> _ as usize != labs as unsafe extern "C" fn(_) -> _ as usize);
    assert_eq!(<u8 as Trait>::Type::default().len(), 2);
}
