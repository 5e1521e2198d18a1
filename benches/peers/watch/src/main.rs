//! A console without a screen: asks for what `turbowish top` does, once a second, until the process
//! ends.

use std::error::Error;
use std::time::{Duration, Instant};

use turbowish_model::query::{Query, Rows};
use turbowish_wire::client::{ClientError, Connection, Target};

/// The process may have begun just now, and binds its socket in its own time.
async fn connect(target: &Target) -> Result<Connection, ClientError> {
    let limit = Duration::from_secs(5);
    let begun = Instant::now();
    loop {
        match Connection::connect_within(target, limit).await {
            Err(_) if begun.elapsed() < limit => tokio::time::sleep(limit / 500).await,
            connected => return connected,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let pid = std::env::args().nth(1).ok_or("peer-watch PID")?.parse()?;
    let connection = connect(&Target::Pid(pid)).await?;
    let query = Query {
        procs: Some(Rows::default()),
        ..Query::default()
    };
    let mut watch = connection.watch(query, Duration::from_secs(1)).await?;
    let mut attached = false;
    while let Some(Ok(_)) = watch.next().await {
        if !std::mem::replace(&mut attached, true) {
            println!("attached");
        }
    }
    Ok(())
}
