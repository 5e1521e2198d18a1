use std::fmt::Debug;

#[turbowish::instrument]
#[derive(Debug, Default)]
pub struct Struct<T: Debug> {
    field: T,
}

/// Documented.
#[turbowish::instrument]
pub enum Enum {
    Variant,
}

#[turbowish::instrument]
union Union {
    field: u32,
}

#[turbowish::instrument]
type Alias = Struct<u32>;

#[turbowish::instrument]
const N: u32 = 1;

#[turbowish::instrument]
static S: u32 = 1;

#[turbowish::instrument]
use std::fmt::Display;

#[turbowish::instrument]
extern crate std as other;

#[turbowish::instrument]
macro_rules! made {
    () => {
        async fn made() {}
    };
}

made!();

#[turbowish::instrument]
unsafe extern "C" {
    safe fn abs(n: i32) -> i32;
}

impl<T: Debug> Struct<T> {
    fn shown(&self) -> impl Display {
        format!("{:?}", self.field)
    }
}

fn main() {
    // The items are there all the same: no second error.
    let value: Alias = Struct { field: N + S };
    println!("{}", value.shown());
    let _ = (Enum::Variant, Union { field: 1 });
    drop(made());
    other::process::exit(abs(1));
}
