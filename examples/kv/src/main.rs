//! `kv`: the server program. On exit it writes its last snapshot, or reports why it could not.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

/// A key-value server that speaks RESP2, the protocol of redis-cli and redis-benchmark.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Options {
    /// TCP port to listen on; 0 takes a free one, and the first line on stdout says which.
    #[arg(long, default_value_t = 7379, value_name = "N")]
    port: u16,

    /// Folder of the snapshot, made if it does not exist.
    #[arg(long, default_value = "kv-data", value_name = "D")]
    dir: PathBuf,

    /// Address to listen on. There are no passwords: whoever reaches it can read and change everything.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDR")]
    bind: IpAddr,

    /// Seconds between two snapshots, if something has changed.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    save: u64,

    /// Clients at one time; one more is sent away.
    #[arg(long, default_value_t = 1_024, value_name = "N")]
    max_clients: usize,

    /// Bytes of all arguments of one request together.
    #[arg(long, default_value_t = 8 * 1024 * 1024, value_name = "BYTES")]
    max_request: usize,

    /// Percent by which sending a reply takes longer, to try turbowish diff.
    #[arg(long, default_value_t = 0, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(..=1_000))]
    slower_replies: u32,
}

const EXAMPLES: &str = "\
Examples:
  kv                                    serve 127.0.0.1:7379, snapshot in ./kv-data
  kv --port 0 --dir /tmp/kv             any free port
  redis-cli -p 7379 set colour blue EX 60
  redis-benchmark -p 7379 -t set,get -n 100000 -c 50

Ctrl-C and SIGTERM write the last snapshot and exit with 0.";

impl From<Options> for kv::Config {
    fn from(options: Options) -> kv::Config {
        kv::Config {
            address: options.bind,
            port: options.port,
            snapshot_every: Duration::from_secs(options.save),
            max_clients: options.max_clients,
            max_request_bytes: options.max_request,
            slower_replies: options.slower_replies,
            ..kv::Config::new(options.dir)
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let _turbowish = turbowish::init();
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kv: {error}");
            ExitCode::FAILURE
        }
    }
}

#[turbowish::instrument]
async fn run(options: Options) -> io::Result<()> {
    let place = format!("{}:{}", options.bind, options.port);
    let server = kv::Server::bind(options.into()).await;
    let server = server.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot start on {place}: {error}"))
    })?;
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    // A closed stdout is no reason not to serve.
    let _ = writeln!(io::stdout(), "kv: listening on {}", server.local_addr());
    server
        .run(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
        .await
}
