//! The key-value server of the examples under load. Healthy.

use kv::load::{self, Load};
use kv::{Config, Server};

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let folder = std::env::var_os("KV_DIR").expect("KV_DIR names a folder of its own");
    let mut config = Config::new(std::path::Path::new(&folder));
    config.snapshot_every = std::time::Duration::from_secs(5);
    let server = Server::bind(config).await.expect("a port");
    let address = server.local_addr();
    let served = tokio::spawn(server.run(std::future::pending()));
    let load = Load {
        rate: Some(5_000),
        ..Load::default()
    };
    let loaded = tokio::spawn(load::run(address, load, std::future::pending()));
    let _ = tokio::join!(served, loaded);
}
