//! An instrumented future is no bigger than the plain one, but for the call's own few words.

/// What a call adds to its future, at most: its state of 48 bytes, and the rest of a word.
const CALL: usize = 56;
const STATE: usize = 48;

macro_rules! twice {
    ($($items:tt)*) => {
        pub mod plain { $($items)* }
        #[turbowish::instrument]
        pub mod instrumented { $($items)* }
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
    pub async fn signal(on: &tokio::sync::Notify) {
        on.notified().await
    }
    pub async fn signal_below(on: &tokio::sync::Notify) {
        signal(on).await
    }
    pub async fn pattern((bytes, n): ([u8; 512], u8)) -> u8 {
        tokio::task::yield_now().await;
        bytes[0] + n
    }
}

/// Sixteen levels with an argument that each passes on, or keeps.
macro_rules! chain {
    ($($level:ident: $below:ident,)*) => {
        twice! {
            pub mod passed {
                pub async fn level_1(bytes: [u8; 256]) -> u8 {
                    tokio::task::yield_now().await;
                    bytes[0]
                }
                $(pub async fn $level(bytes: [u8; 256]) -> u8 {
                    $below(bytes).await
                })*
            }
            pub mod kept {
                pub async fn level_1(bytes: [u8; 256]) -> u8 {
                    tokio::task::yield_now().await;
                    bytes[0]
                }
                $(pub async fn $level(bytes: [u8; 256]) -> u8 {
                    $below(bytes).await + bytes[1]
                })*
            }
            pub mod borrowed {
                pub async fn level_1(bytes: &[u8; 256]) -> u8 {
                    tokio::task::yield_now().await;
                    bytes[0]
                }
                $(pub async fn $level(bytes: &[u8; 256]) -> u8 {
                    $below(bytes).await
                })*
            }
        }
    };
}

mod chains {
    chain!(
        level_2: level_1, level_3: level_2, level_4: level_3, level_5: level_4, level_6: level_5, level_7: level_6,
        level_8: level_7, level_9: level_8, level_10: level_9, level_11: level_10, level_12: level_11,
        level_13: level_12, level_14: level_13, level_15: level_14, level_16: level_15,
    );
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
    let bytes = [0; 256];
    check("passed on", 16, chains::plain::passed::level_16(bytes), chains::instrumented::passed::level_16(bytes));
    check("borrowed", 16, chains::plain::borrowed::level_16(&bytes), chains::instrumented::borrowed::level_16(&bytes));
    // A plain future keeps the argument twice.
    check("kept", 0, chains::plain::kept::level_16(bytes), chains::instrumented::kept::level_16(bytes));
    // Without room for intents, which have no effect on tokio's own primitives.
    let on = tokio::sync::Notify::new();
    let below = size_of_val(&plain::signal_below(&on)) + 2 * STATE;
    assert!(size_of_val(&instrumented::signal_below(&on)) <= below);
    check("pattern", 1, plain::pattern(([0; 512], 0)), instrumented::pattern(([0; 512], 0)));
}
