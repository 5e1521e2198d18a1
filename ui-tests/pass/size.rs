//! An instrumented future is no bigger than the plain one, but for the call's own few words.

/// What a call adds to its future, at most.
const CALL: usize = 96;

macro_rules! twice {
    ($($items:tt)*) => {
        mod plain { $($items)* }
        #[turbowish::instrument]
        mod instrumented { $($items)* }
    };
}

twice! {
    pub async fn unit() {}
    pub async fn large(bytes: [u8; 512]) -> u8 {
        tokio::task::yield_now().await;
        bytes[0]
    }
    pub async fn mutated(mut bytes: [u8; 512]) -> u8 {
        bytes[0] = 1;
        tokio::task::yield_now().await;
        bytes[0]
    }
    pub async fn two_levels(bytes: [u8; 512]) -> u8 {
        large(bytes).await
    }
    pub async fn pattern((bytes, n): ([u8; 512], u8)) -> u8 {
        tokio::task::yield_now().await;
        bytes[0] + n
    }
}

fn check<P, I>(name: &str, levels: usize, plain: P, instrumented: I) {
    let (plain, instrumented) = (size_of_val(&plain), size_of_val(&instrumented));
    println!("{name}: {plain} bytes plain, {instrumented} instrumented");
    assert!(instrumented <= plain + levels * CALL, "{name}: {instrumented} > {plain} + {levels} * {CALL}");
}

fn main() {
    check("unit", 1, plain::unit(), instrumented::unit());
    check("large", 1, plain::large([0; 512]), instrumented::large([0; 512]));
    check("mutated", 1, plain::mutated([0; 512]), instrumented::mutated([0; 512]));
    check("two_levels", 2, plain::two_levels([0; 512]), instrumented::two_levels([0; 512]));
    check("pattern", 1, plain::pattern(([0; 512], 0)), instrumented::pattern(([0; 512], 0)));
}
