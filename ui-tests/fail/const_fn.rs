#[turbowish::instrument]
const fn constant() -> u32 {
    1
}

const N: u32 = constant();

fn main() {
    assert_eq!(N, 1);
}
