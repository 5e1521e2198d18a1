//! The long chains, for tools whose futures do not grow threefold with every level.

use crate::harness::{BATCH, Chain, REPOLLS, YIELDS};
use crate::workloads::c8;

macro_rules! chain {
    ($name:ident $below:ident $($rest:ident)*) => {
        instrumented! {
            pub async fn $name(n: u32) {
                $below(n).await
            }
        }
        chain! { $below $($rest)* }
    };
    (c8) => {};
}

chain! {
    c64 c63 c62 c61 c60 c59 c58 c57 c56 c55 c54 c53 c52 c51 c50 c49 c48 c47 c46 c45 c44 c43 c42 c41 c40 c39 c38 c37
    c36 c35 c34 c33 c32 c31 c30 c29 c28 c27 c26 c25 c24 c23 c22 c21 c20 c19 c18 c17 c16 c15 c14 c13 c12 c11 c10 c9 c8
}

async fn sixteen() {
    for _ in 0..BATCH {
        c16(YIELDS).await;
    }
}

async fn sixty_four() {
    for _ in 0..BATCH {
        c64(YIELDS).await;
    }
}

/// Measures the chains of 16 and of 64.
pub fn measure() {
    Chain(16).measure(sixteen);
    Chain(64).measure(sixty_four);
    Chain(16).measure_repolls(|| c16(REPOLLS));
    Chain(64).measure_repolls(|| c64(REPOLLS));
}
