//! Common code of the programs: start TurboWish, run into the problem, stay there until stdin ends.

use std::io::Read;

/// Starts accounting with alert limits that make an alert come soon, and ends the process when whoever started it goes away.
pub fn begin(limits: &[(&str, &str)]) -> turbowish::Guard {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let with =
        |builder: turbowish::Builder, &(key, value): &(&str, &str)| builder.limit(key, value);
    let builder = turbowish::Builder::new().heartbeat(true);
    limits.iter().fold(builder, with).init()
}
