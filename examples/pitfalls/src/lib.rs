//! Common code of the programs: start TurboWish, run into the problem, stay there until stdin ends.

use std::io::Read;

use turbowish::{AlertLimit, Builder};

/// Starts accounting with limits that raise an alert soon. The process ends when stdin is closed.
pub fn begin(limits: &[AlertLimit]) -> turbowish::Guard {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let with = |builder: Builder, limit: &AlertLimit| builder.alert_limit(*limit);
    let builder = Builder::new().heartbeat(true);
    limits.iter().fold(builder, with).init()
}
