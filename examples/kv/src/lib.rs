//! A key-value server that speaks RESP2, and a load for it: a program as any other, and what TurboWish is shown on.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! let server = kv::Server::bind(kv::Config::new("/tmp/kv")).await?;
//! println!("redis-cli -p {}", server.local_addr().port());
//! server.run(std::future::pending()).await
//! # }
//! ```

mod clock;
mod command;
mod conn;
mod db;
mod error;
mod expiry;
pub mod load;
mod resp;
mod server;
mod snapshot;
pub mod trouble;

pub use clock::Clock;
pub use server::{Config, Server};
