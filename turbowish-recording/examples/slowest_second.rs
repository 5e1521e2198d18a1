//! The 99th percentile of the polls of a function over time:
//! `cargo run -p turbowish-recording --example slowest_second -- x.tw kv::db::get`

use std::error::Error;
use std::fs::File;

use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_recording::Reader;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(path), Some(proc)) = (words.next(), words.next()) else {
        return Err("usage: slowest_second FILE.tw PROC".into());
    };
    let mut reader = Reader::open(File::open(path)?)?;
    let end = reader.states().last().map_or(0, |state| state.at_unix_ns);
    for nth in 0..reader.states().len() {
        // Only this state is in memory.
        let state = reader.snapshot(nth)?;
        let row = state.procs.rows.iter().find(|row| row.proc == proc);
        let p99 = row.and_then(|row| row.poll_hold.percentile(Percentile::whole(99)));
        let ago = units::duration(end.saturating_sub(state.at_unix_ns), Micro::Unicode);
        let p99 = p99.map_or("-".to_owned(), |ns| units::duration(ns, Micro::Unicode));
        println!("-{ago:<10} {p99}");
    }
    Ok(())
}
