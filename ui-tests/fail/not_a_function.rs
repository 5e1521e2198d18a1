#[turbowish::instrument]
#[derive(Debug)]
struct Type {
    field: u32,
}

#[turbowish::instrument]
const N: u32 = 1;

fn main() {
    println!("{:?}", Type { field: N }.field);
}
