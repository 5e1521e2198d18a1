//! A console without a screen: asks for what `turbowish top` does, once a second, until the process ends.

use std::error::Error;
use std::time::Duration;

use turbowish_model::query::{Query, Rows};
use turbowish_wire::client::{Connection, Target};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let pid = std::env::args().nth(1).ok_or("peer-watch PID")?.parse()?;
    let connection = Connection::connect_within(&Target::Pid(pid), Duration::from_secs(5)).await?;
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
