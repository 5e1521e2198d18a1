//! Sixty-four levels, built without optimisation, run on the 2 MiB that a worker of tokio has.
#![recursion_limit = "512"]

macro_rules! chain {
    ($($level:ident: $below:ident,)*) => {
        #[turbowish::instrument]
        mod levels {
            pub async fn level_1(n: u64, text: &str) -> u64 {
                tokio::task::yield_now().await;
                n + text.len() as u64
            }
            $(pub async fn $level(n: u64, text: &str) -> u64 {
                $below(n, text).await + 1
            })*
        }
    };
}

chain!(
    level_2: level_1, level_3: level_2, level_4: level_3, level_5: level_4, level_6: level_5, level_7: level_6,
    level_8: level_7, level_9: level_8, level_10: level_9, level_11: level_10, level_12: level_11,
    level_13: level_12, level_14: level_13, level_15: level_14, level_16: level_15, level_17: level_16,
    level_18: level_17, level_19: level_18, level_20: level_19, level_21: level_20, level_22: level_21,
    level_23: level_22, level_24: level_23, level_25: level_24, level_26: level_25, level_27: level_26,
    level_28: level_27, level_29: level_28, level_30: level_29, level_31: level_30, level_32: level_31,
    level_33: level_32, level_34: level_33, level_35: level_34, level_36: level_35, level_37: level_36,
    level_38: level_37, level_39: level_38, level_40: level_39, level_41: level_40, level_42: level_41,
    level_43: level_42, level_44: level_43, level_45: level_44, level_46: level_45, level_47: level_46,
    level_48: level_47, level_49: level_48, level_50: level_49, level_51: level_50, level_52: level_51,
    level_53: level_52, level_54: level_53, level_55: level_54, level_56: level_55, level_57: level_56,
    level_58: level_57, level_59: level_58, level_60: level_59, level_61: level_60, level_62: level_61,
    level_63: level_62, level_64: level_63,
);

fn main() {
    let _turbowish = turbowish::init();
    let workers = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(2 * 1024 * 1024)
        .build()
        .unwrap();
    let done = workers.block_on(workers.spawn(levels::level_64(1, "four")));
    assert_eq!(done.unwrap(), 68);
}
