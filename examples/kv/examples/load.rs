//! Load on a running server: operations per second, measured over the given number of seconds.
//!
//! `cargo run --release -p turbowish-kv --example load -- 127.0.0.1:7379 10 [RATE]`
//!
//! RATE: commands per second; without it, as many as the server answers.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kv::load::{self, Load};

fn arguments() -> Option<(SocketAddr, Duration, Load)> {
    let mut words = std::env::args().skip(1);
    let server = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?;
    let rate = match words.next() {
        Some(rate) => Some(rate.parse().ok()?),
        None => None,
    };
    let load = Load {
        rate,
        ..Load::default()
    };
    Some((server, Duration::from_secs(seconds), load))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((server, length, load)) = arguments() else {
        eprintln!("load: load ADDRESS SECONDS [RATE], as in: load 127.0.0.1:7379 10");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    match load::run(server, load, tokio::time::sleep(length)).await {
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
