//! Loads the server of a variant over connections that stay open; prints its processor time per
//! request.
//!
//! `peer-load PORT REQUESTS`: a quarter more first, to warm it up. `peer-load PORT REQUESTS alone`
//! sends so many requests and measures nothing.

use std::error::Error;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CONNECTIONS: u64 = 16;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One request and its whole answer; the body.
async fn request(stream: &mut TcpStream, path: &str, buffer: &mut Vec<u8>) -> Outcome<String> {
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: peer\r\n\r\n").as_bytes())
        .await?;
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err("the server has hung up".into());
        }
        let text = std::str::from_utf8(buffer)?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        if !head.starts_with("HTTP/1.1 200") {
            return Err(head.into());
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.ok_or("no content-length")?.parse()? {
            return Ok(body.to_owned());
        }
    }
}

async fn connect(port: u16) -> Outcome<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn load(port: u16, requests: u64) -> Outcome<()> {
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        connections.spawn(async move {
            let mut stream = connect(port).await?;
            let mut buffer = Vec::with_capacity(1024);
            for _ in 0..requests / CONNECTIONS {
                request(&mut stream, "/some/path/to/a/thing", &mut buffer).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(end) = connections.join_next().await {
        end??;
    }
    Ok(())
}

async fn server_cpu(port: u16) -> Outcome<u64> {
    let mut stream = connect(port).await?;
    Ok(request(&mut stream, "/cpu", &mut Vec::new())
        .await?
        .parse()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let (Some(port), Some(requests)) = (words.next(), words.next()) else {
        return Err("peer-load PORT REQUESTS [alone]".into());
    };
    let (port, requests): (u16, u64) = (port.parse()?, requests.parse()?);
    if words.next().is_some_and(|word| word == "alone") {
        return load(port, requests).await;
    }
    // It never sleeps. To wake it would be part of the server's time, and a slower server would
    // have to do it more often.
    tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    let requests = requests / CONNECTIONS * CONNECTIONS;
    load(port, requests / 4).await?;
    let before = server_cpu(port).await?;
    load(port, requests).await?;
    let used = server_cpu(port).await? - before;
    println!("peer http {}", used / requests.max(1));
    Ok(())
}
