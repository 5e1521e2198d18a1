#[turbowish::instrument]
const fn constant() -> u32 {
    1
}

struct Type;

impl Type {
    #[turbowish::instrument(name = "x")]
    pub(crate) const fn constant(&self) -> u32 {
        1
    }
}

#[turbowish::instrument]
mod module {
    // Left alone, as nobody asked for it.
    pub const fn constant() -> u32 {
        1
    }
    #[turbowish::instrument]
    pub const fn asked_for() -> u32 {
        1
    }
}

const N: u32 = constant() + Type.constant() + module::constant() + module::asked_for();

fn main() {
    assert_eq!(N, 4);
}
