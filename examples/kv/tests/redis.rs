//! The server from outside: an independent client library, and bytes on a socket.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kv::{Clock, Config, Server, load};
use redis::aio::MultiplexedConnection;
use redis::{Value, cmd};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// A server on a free port, on a clock that stands still.
struct Running {
    addr: SocketAddr,
    time: Arc<AtomicU64>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<io::Result<()>>,
}

impl Running {
    async fn start(dir: &Path, adjust: impl FnOnce(&mut Config)) -> Running {
        let time = Arc::new(AtomicU64::new(1_800_000_000_000));
        let mut config = Config::new(dir);
        config.clock = Clock::Manual(Arc::clone(&time));
        adjust(&mut config);
        let server = Server::bind(config).await.expect("a free port");
        let addr = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async move {
            stopped.await.ok();
        }));
        Running {
            addr,
            time,
            stop,
            ended,
        }
    }

    async fn client(&self) -> MultiplexedConnection {
        let client = redis::Client::open(format!("redis://{}", self.addr)).expect("an address");
        let connection = client.get_multiplexed_async_connection().await;
        connection.expect("connected")
    }

    async fn raw(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.expect("connected")
    }

    async fn stop(self) {
        self.stop.send(()).expect("still running");
        self.ended.await.expect("no panic").expect("no error");
    }
}

async fn start() -> (TempDir, Running) {
    start_with(|_| {}).await
}

async fn start_with(adjust: impl FnOnce(&mut Config)) -> (TempDir, Running) {
    let dir = tempfile::tempdir().expect("a folder");
    let running = Running::start(dir.path(), adjust).await;
    (dir, running)
}

/// A reply as redis-cli would show it, more or less.
fn show(reply: Result<Value, redis::RedisError>) -> String {
    let value = match reply {
        Ok(value) => value,
        Err(error) => {
            let detail = error.detail().unwrap_or_default();
            return format!("!{} {detail}", error.code().unwrap_or_default());
        }
    };
    match value {
        Value::Nil => "nil".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Okay => "OK".to_owned(),
        Value::SimpleString(text) => text,
        Value::BulkString(bytes) => format!("{:?}", String::from_utf8_lossy(&bytes)),
        Value::Array(values) => {
            let shown: Vec<String> = values.into_iter().map(|value| show(Ok(value))).collect();
            format!("[{}]", shown.join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// Sends commands one after the other, each with the reply that it must get.
async fn check(connection: &mut MultiplexedConnection, script: &[(&str, &str)]) {
    for (line, expected) in script {
        let mut words = line.split(' ');
        let mut command = cmd(words.next().expect("a command"));
        command.arg(words.collect::<Vec<_>>());
        let reply = command.query_async(connection).await;
        assert_eq!(show(reply), *expected, "{line}");
    }
}

#[tokio::test]
async fn strings_and_counters() {
    let (_dir, server) = start().await;
    let script = [
        ("GET a", "nil"),
        ("SET a 1", "OK"),
        ("GET a", "\"1\""),
        ("SET a 2 NX", "nil"),
        ("SET b 2 XX", "nil"),
        ("SET a 3 XX", "OK"),
        ("SET b x NX", "OK"),
        ("MGET a b c", "[\"3\" \"x\" nil]"),
        ("INCR a", "4"),
        ("INCRBY a 38", "42"),
        ("DECR a", "41"),
        ("DECRBY a 1", "40"),
        ("INCR new", "1"),
        ("INCR b", "!ERR value is not an integer or out of range"),
        ("SET big 9223372036854775807", "OK"),
        ("INCR big", "!ERR increment or decrement would overflow"),
        ("SET a 1 LATER", "!ERR syntax error"),
        ("MSET x 1 y 2 x 3", "OK"),
        ("MGET x y", "[\"3\" \"2\"]"),
        ("EXISTS x y x nobody", "3"),
        ("DEL x y nobody", "2"),
        ("EXISTS x", "0"),
        ("DBSIZE", "4"),
        ("FLUSHALL", "OK"),
        ("DBSIZE", "0"),
    ];
    check(&mut server.client().await, &script).await;
    server.stop().await;
}

#[tokio::test]
async fn lists() {
    let (_dir, server) = start().await;
    let wrong = "!WRONGTYPE Operation against a key holding the wrong kind of value";
    let script = [
        ("LPUSH l c b a", "3"),
        ("RPUSH l d e", "5"),
        ("LLEN l", "5"),
        ("LRANGE l 0 -1", "[\"a\" \"b\" \"c\" \"d\" \"e\"]"),
        ("LRANGE l -2 -1", "[\"d\" \"e\"]"),
        ("LRANGE nobody 0 -1", "[]"),
        ("LPOP l", "\"a\""),
        ("RPOP l", "\"e\""),
        ("LPOP l 2", "[\"b\" \"c\"]"),
        ("LPOP l 9", "[\"d\"]"),
        ("LPOP l", "nil"),
        ("LPOP l 9", "nil"),
        ("LLEN l", "0"),
        ("EXISTS l", "0"),
        ("LPUSH l x", "1"),
        ("GET l", wrong),
        ("INCR l", wrong),
        ("MGET l", "[nil]"),
        ("SET t text", "OK"),
        ("LPUSH t x", wrong),
        ("LRANGE t 0 -1", wrong),
        ("SET l text", "OK"),
        ("GET l", "\"text\""),
    ];
    check(&mut server.client().await, &script).await;
    server.stop().await;
}

#[tokio::test]
async fn keys_end_when_their_time_has_come() {
    let (_dir, server) = start().await;
    let mut client = server.client().await;
    let before = [
        ("SET k v PX 1500", "OK"),
        ("PTTL k", "1500"),
        ("TTL k", "2"),
        ("TTL nobody", "-2"),
        ("PTTL nobody", "-2"),
        ("SET forever v", "OK"),
        ("TTL forever", "-1"),
        ("PTTL forever", "-1"),
        ("SET s v EX 100", "OK"),
        ("TTL s", "100"),
        ("EXPIRE nobody 5", "0"),
        ("SET moved v PX 1500", "OK"),
        ("EXPIRE moved 100", "1"),
        ("SET kept v PX 1500", "OK"),
        ("SET kept w KEEPTTL", "OK"),
        ("SET freed v PX 1500", "OK"),
        ("SET freed w", "OK"),
        ("RPUSH list a", "1"),
        ("PEXPIRE list 1500", "1"),
        ("SET now v", "OK"),
        ("EXPIRE now 0", "1"),
        ("EXISTS now", "0"),
    ];
    check(&mut client, &before).await;
    server.time.fetch_add(1_499, Ordering::Relaxed);
    let almost = [("GET k", "\"v\""), ("PTTL k", "1"), ("LLEN list", "1")];
    check(&mut client, &almost).await;
    server.time.fetch_add(1, Ordering::Relaxed);
    let after = [
        ("GET k", "nil"),
        ("PTTL k", "-2"),
        ("EXISTS k kept list", "0"),
        (
            "MGET k kept freed forever moved",
            "[nil nil \"w\" \"v\" \"v\"]",
        ),
        ("PTTL moved", "98500"),
        ("INCR kept", "1"),
        ("PTTL kept", "-1"),
    ];
    check(&mut client, &after).await;
    server.stop().await;
}

#[tokio::test]
async fn what_clients_ask_before_they_work() {
    let (_dir, server) = start_with(|config| config.max_clients = 77).await;
    let port = server.addr.port();
    let port = format!("[\"port\" \"{port}\"]");
    let script = [
        ("PING", "PONG"),
        ("PING hi", "\"hi\""),
        ("ECHO hi", "\"hi\""),
        ("SELECT 0", "OK"),
        ("SELECT 1", "!ERR DB index is out of range"),
        ("CLIENT SETNAME me", "OK"),
        ("CLIENT SETINFO LIB-NAME lib", "OK"),
        ("CONFIG GET maxclients", "[\"maxclients\" \"77\"]"),
        ("CONFIG GET PORT", port.as_str()),
        ("CONFIG GET save", "[\"save\" \"10 1\"]"),
        ("CONFIG GET nothing", "[]"),
        ("COMMAND COUNT", "31"),
        ("COMMAND DOCS get", "[]"),
        (
            "COMMAND INFO get nobody",
            "[[\"get\" 2 [readonly] 1 1 1] nil]",
        ),
        ("HELLO 3", "!NOPROTO unsupported protocol version"),
        ("NOPE", "!ERR unknown command 'NOPE'"),
        ("GET", "!ERR wrong number of arguments for 'get' command"),
    ];
    let mut client = server.client().await;
    check(&mut client, &script).await;
    let every: Vec<Value> = cmd("COMMAND")
        .query_async(&mut client)
        .await
        .expect("a table");
    assert_eq!(every.len(), 31);
    let info: String = cmd("INFO").query_async(&mut client).await.expect("a text");
    for line in ["redis_mode:standalone", "connected_clients:1", "db0:keys=0"] {
        assert!(info.contains(line), "{line} in {info}");
    }
    let hello: Vec<Value> = cmd("HELLO")
        .arg(2)
        .query_async(&mut client)
        .await
        .expect("a map");
    assert_eq!(hello.len(), 12);
    server.stop().await;
}

#[tokio::test]
async fn any_bytes_are_a_key_and_a_value() {
    let (_dir, server) = start().await;
    let mut client = server.client().await;
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let large = all.repeat(4_096);
    for value in [&[][..], b"\r\n", &all, &large] {
        let set: Value = cmd("SET")
            .arg(&all)
            .arg(value)
            .query_async(&mut client)
            .await
            .expect("OK");
        assert_eq!(set, Value::Okay);
        let got: Vec<u8> = cmd("GET")
            .arg(&all)
            .query_async(&mut client)
            .await
            .expect("a value");
        assert!(got == value, "{} bytes changed on their way", value.len());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_pipeline_is_answered_in_its_order() {
    let (_dir, server) = start().await;
    let mut client = server.client().await;
    let mut pipeline = redis::pipe();
    for n in 0..1_000 {
        pipeline.cmd("SET").arg(format!("k:{n}")).arg(n).ignore();
        pipeline.cmd("GET").arg(format!("k:{n}"));
        pipeline.cmd("INCR").arg("count");
    }
    let replies: Vec<i64> = pipeline
        .query_async(&mut client)
        .await
        .expect("all replies");
    let expected: Vec<i64> = (0..1_000).flat_map(|n| [n, n + 1]).collect();
    assert_eq!(replies, expected);
    server.stop().await;
}

/// Replies of many megabytes while the client is still sending: neither side waits for the other.
#[tokio::test]
async fn a_pipeline_of_large_replies() {
    let (_dir, server) = start().await;
    let (mut reader, mut writer) = server.raw().await.into_split();
    let value = "x".repeat(100_000);
    let set = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n{value}\r\n");
    let sending = tokio::spawn(async move {
        writer.write_all(set.as_bytes()).await.expect("sent");
        for _ in 0..200 {
            writer.write_all(b"GET k\r\n").await.expect("sent");
        }
        writer.write_all(b"QUIT\r\n").await.expect("sent");
    });
    let mut replies = String::new();
    reader
        .read_to_string(&mut replies)
        .await
        .expect("all replies");
    sending.await.expect("sent");
    let expected = format!(
        "+OK\r\n{}+OK\r\n",
        format!("$100000\r\n{value}\r\n").repeat(200)
    );
    assert!(
        replies == expected,
        "{} bytes of {}",
        replies.len(),
        expected.len()
    );
    server.stop().await;
}

#[tokio::test]
async fn bytes_on_the_wire() {
    let (_dir, server) = start_with(|config| {
        config.max_request_bytes = 100;
        config.max_arguments = 4;
    })
    .await;
    let exchange = async |sent: &str, expected: &str| {
        let mut stream = server.raw().await;
        stream.write_all(sent.as_bytes()).await.expect("sent");
        let mut replies = String::new();
        stream
            .read_to_string(&mut replies)
            .await
            .expect("replies, then the end");
        assert_eq!(replies, expected, "{sent:?}");
    };
    exchange("QUIT\r\n", "+OK\r\n").await;
    exchange("PING\r\nQUIT\r\nPING\r\n", "+PONG\r\n+OK\r\n").await;
    exchange("\r\n*0\r\n*1\r\n$4\r\nQUIT\r\n", "+OK\r\n").await;
    exchange("NOPE\r\nGET\r\nQUIT\r\n", "-ERR unknown command 'NOPE'\r\n-ERR wrong number of arguments for 'get' command\r\n+OK\r\n").await;
    let prefix = "-ERR Protocol error:";
    exchange(
        "PING\r\n*x\r\n",
        &format!("+PONG\r\n{prefix} invalid multibulk length\r\n"),
    )
    .await;
    exchange("*5\r\n", &format!("{prefix} invalid multibulk length\r\n")).await;
    exchange(
        "*1\r\n+PING\r\n",
        &format!("{prefix} expected '$', got '+'\r\n"),
    )
    .await;
    exchange(
        "*1\r\n$-5\r\n",
        &format!("{prefix} invalid bulk length\r\n"),
    )
    .await;
    exchange(
        "*1\r\n$101\r\n",
        &format!("{prefix} request exceeds 100 bytes\r\n"),
    )
    .await;
    exchange(
        "*1\r\n$4\r\nPINGPONG\r\n",
        &format!("{prefix} bulk string without line end\r\n"),
    )
    .await;
    exchange(
        "SET a \"b\r\n",
        &format!("{prefix} unbalanced quotes in request\r\n"),
    )
    .await;
    exchange(&"x".repeat(100_000), &format!("{prefix} line too long\r\n")).await;
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_a_request_hurts_nobody() {
    let (_dir, server) = start().await;
    for part in [
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhal",
        "*3\r\n$3",
        "SET k",
    ] {
        let mut stream = server.raw().await;
        stream.write_all(part.as_bytes()).await.expect("sent");
        stream.shutdown().await.expect("half closed");
        let mut replies = Vec::new();
        stream.read_to_end(&mut replies).await.expect("the end");
        assert_eq!(replies, b"", "{part}");
    }
    check(&mut server.client().await, &[("GET k", "nil")]).await;
    server.stop().await;
}

#[tokio::test]
async fn one_client_too_many_is_told_so_and_sent_away() {
    let (_dir, server) = start_with(|config| config.max_clients = 2).await;
    let mut first = server.client().await;
    let mut second = server.client().await;
    let mut third = server.raw().await;
    let mut reply = String::new();
    third
        .read_to_string(&mut reply)
        .await
        .expect("a reply, then the end");
    assert_eq!(reply, "-ERR max number of clients reached\r\n");
    check(&mut first, &[("PING", "PONG")]).await;
    check(&mut second, &[("QUIT", "OK")]).await;
    // The server sees the second one leave before or after the next attempt, but sees it.
    let mut is_admitted = false;
    for _ in 0..10_000 {
        let mut stream = server.raw().await;
        let mut reply = [0];
        let sent = stream.write_all(b"PING\r\n").await;
        let received = stream.read(&mut reply).await;
        is_admitted = sent.is_ok() && received.is_ok() && reply == *b"+";
        if is_admitted {
            break;
        }
    }
    assert!(is_admitted, "its place is never given to another");
    server.stop().await;
}

#[tokio::test]
async fn a_server_finds_again_what_the_last_one_knew() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = Running::start(&dir.path().join("made"), |_| {}).await;
    let script = [
        ("SET text 1", "OK"),
        ("RPUSH list a b c", "3"),
        ("SET soon v PX 10", "OK"),
        ("SET later v EX 100", "OK"),
    ];
    check(&mut server.client().await, &script).await;
    server.stop().await;

    let server = Running::start(&dir.path().join("made"), |_| {}).await;
    server.time.fetch_add(10, Ordering::Relaxed);
    let script = [
        ("INCR text", "2"),
        ("LRANGE list 0 -1", "[\"a\" \"b\" \"c\"]"),
        ("GET soon", "nil"),
        ("PTTL later", "99990"),
    ];
    check(&mut server.client().await, &script).await;
    server.stop().await;

    std::fs::write(dir.path().join("made/kv.snapshot"), b"something else").expect("a file");
    let refused = Server::bind(Config::new(dir.path().join("made"))).await;
    let error = refused.err().expect("not a snapshot");
    assert!(
        error
            .to_string()
            .ends_with("not a snapshot of this program; move it away to start empty")
    );
}

#[tokio::test]
async fn stopping_closes_connections_that_are_idle_or_in_the_middle() {
    let (_dir, server) = start().await;
    let mut idle = server.raw().await;
    let mut halfway = server.raw().await;
    halfway
        .write_all(b"PING\r\n*2\r\n$4\r\nECHO")
        .await
        .expect("sent");
    let mut pong = [0; 7];
    halfway.read_exact(&mut pong).await.expect("a reply");
    idle.write_all(b"PING\r\n").await.expect("sent");
    idle.read_exact(&mut pong).await.expect("a reply");
    let addr = server.addr;
    server.stop().await;
    let mut rest = Vec::new();
    assert_eq!(idle.read_to_end(&mut rest).await.expect("the end"), 0);
    assert_eq!(halfway.read_to_end(&mut rest).await.expect("the end"), 0);
    assert!(
        TcpStream::connect(addr).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_count_together() {
    let (_dir, server) = start().await;
    let mut clients = JoinSet::new();
    for _ in 0..50 {
        let mut client = server.client().await;
        clients.spawn(async move {
            for _ in 0..100 {
                let _: i64 = cmd("INCR")
                    .arg("n")
                    .query_async(&mut client)
                    .await
                    .expect("a number");
                let _: i64 = cmd("RPUSH")
                    .arg("l")
                    .arg("v")
                    .query_async(&mut client)
                    .await
                    .expect("a number");
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.expect("no client fails");
    }
    check(
        &mut server.client().await,
        &[("GET n", "\"5000\""), ("LLEN l", "5000")],
    )
    .await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_load_gets_no_errors_and_stops_when_told() {
    let (_dir, server) = start().await;
    let mut client = server.client().await;
    let enough = async {
        let mut counted = 0;
        while counted < 100 {
            let reply: Option<i64> = cmd("GET")
                .arg("counter:0")
                .query_async(&mut client)
                .await
                .expect("a reply");
            counted = reply.unwrap_or(0);
        }
    };
    let few = load::Load {
        connections: 8,
        keys: 10,
        ..load::Load::default()
    };
    let counts = load::run(server.addr, few, enough)
        .await
        .expect("no broken connection");
    assert_eq!(counts.errors, 0);
    assert!(counts.operations >= 1_000, "{counts:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_load_on_a_server_that_goes_away_is_an_error() {
    let (_dir, server) = start().await;
    let addr = server.addr;
    let load = load::Load {
        connections: 3,
        rate: Some(100),
        ..load::Load::default()
    };
    let running = tokio::spawn(load::run(addr, load, std::future::pending()));
    let mut client = server.client().await;
    while cmd("DBSIZE")
        .query_async::<i64>(&mut client)
        .await
        .expect("a number")
        == 0
    {}
    server.stop().await;
    running
        .await
        .expect("no panic")
        .expect_err("the server is gone");
}
