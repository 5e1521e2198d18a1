//! Load on a running server: operations per second, measured over the given number of seconds.
//!
//! `cargo run --release -p turbowish-kv --example load -- 127.0.0.1:7379 10`

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kv::load::{self, Load};

fn arguments() -> Option<(SocketAddr, Duration)> {
    let mut words = std::env::args().skip(1);
    let server = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?;
    Some((server, Duration::from_secs(seconds)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((server, length)) = arguments() else {
        eprintln!("load: load ADDRESS SECONDS, as in: load 127.0.0.1:7379 10");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    match load::run(server, Load::default(), tokio::time::sleep(length)).await {
        Ok(counts) if counts.errors == 0 => {
            let rate = counts.operations as f64 / begin.elapsed().as_secs_f64();
            println!("{rate:.0}");
            ExitCode::SUCCESS
        }
        Ok(counts) => {
            eprintln!(
                "load: {} of {} commands failed",
                counts.errors, counts.operations
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("load: {server}: {error}");
            ExitCode::FAILURE
        }
    }
}
