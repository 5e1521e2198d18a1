//! Load generator on real sockets: a connection sends one command, awaits the reply, counts both.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use turbowish::JoinSet;

use crate::resp::parse_reply;

/// How much load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Connections, each with at most one command on its way.
    pub connections: u32,
    /// Commands per second of all connections together; `None`: as many as the server answers.
    pub rate: Option<u32>,
    /// Different keys for each kind of command.
    pub keys: u32,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// The same seed gives every connection the same commands in the same order.
    pub seed: u64,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            connections: 50,
            rate: None,
            keys: 10_000,
            value_bytes: 64,
            seed: 1,
        }
    }
}

/// What a load has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Replies received, errors included.
    pub operations: u64,
    /// Replies that were errors.
    pub errors: u64,
}

/// Puts a load on a server until `stop` is ready, and returns what was done.
///
/// # Errors
/// If a connection cannot be made or breaks.
pub async fn run(
    server: SocketAddr,
    load: Load,
    stop: impl Future<Output = ()>,
) -> io::Result<Counts> {
    let counters = Arc::new(Counters::default());
    let mut connections = JoinSet::new();
    for number in 0..load.connections {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        let client = Client {
            stream,
            load,
            random: Random(load.seed ^ u64::from(number) << 32),
            received: Vec::new(),
        };
        connections.spawn(client.run(pace(load, number), Arc::clone(&counters)));
    }
    let mut stop = pin!(stop);
    tokio::select! {
        () = &mut stop => Ok(counters.counts()),
        Some(ended) = connections.join_next() => match ended {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) => Err(error),
            Err(panic) => Err(panic.into()),
        },
        else => {
            // No connections: nothing to do but to wait.
            stop.await;
            Ok(counters.counts())
        }
    }
}

/// When a connection sends: the connections take turns, so that the load has no beat.
fn pace(load: Load, number: u32) -> Option<Interval> {
    let rate = load.rate?.max(1);
    let period = Duration::from_secs(1) * load.connections / rate;
    let first = Instant::now() + period * number / load.connections;
    let mut pace = tokio::time::interval_at(first, period.max(Duration::from_nanos(1)));
    pace.set_missed_tick_behavior(MissedTickBehavior::Skip);
    Some(pace)
}

#[derive(Default)]
struct Counters {
    operations: AtomicU64,
    errors: AtomicU64,
}

impl Counters {
    fn add(&self, is_error: bool) {
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(is_error.into(), Ordering::Relaxed);
    }

    fn counts(&self) -> Counts {
        Counts {
            operations: self.operations.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
        }
    }
}

/// What is never there: a connection only ends with an error.
enum Never {}

struct Client {
    stream: TcpStream,
    load: Load,
    random: Random,
    /// Bytes received that belong to no reply yet.
    received: Vec<u8>,
}

impl Client {
    async fn run(
        mut self,
        mut pace: Option<Interval>,
        counters: Arc<Counters>,
    ) -> io::Result<Never> {
        let mut request = Vec::new();
        loop {
            if let Some(pace) = &mut pace {
                pace.tick().await;
            }
            request.clear();
            compose(&mut self.random, self.load, &mut request);
            self.stream.write_all(&request).await?;
            counters.add(self.receive().await?);
        }
    }

    /// Waits for one reply; true: it is an error.
    async fn receive(&mut self) -> io::Result<bool> {
        loop {
            let reply = parse_reply(&self.received);
            let reply = reply.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            if let Some(reply) = reply {
                self.received.drain(..reply.bytes);
                return Ok(reply.is_error);
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// One command in the making.
type Composer = fn(&mut Random, Load, &mut Vec<u8>);

/// How often each command is sent, out of a hundred.
const MIX: [(u64, Composer); 8] = [
    (50, |random, load, out| {
        let key = random.key("key", load);
        encode(&["GET", &key], out);
    }),
    (20, |random, load, out| {
        let (key, value) = (random.key("key", load), random.value(load));
        encode(&["SET", &key, &value], out);
    }),
    (5, |random, load, out| {
        let (key, value) = (random.key("session", load), random.value(load));
        let ms = (500 + random.below(1_500)).to_string();
        encode(&["SET", &key, &value, "PX", &ms], out);
    }),
    (10, |random, load, out| {
        encode(&["INCR", &random.key("counter", load)], out);
    }),
    (5, |random, load, out| {
        let (key, value) = (random.list(), random.value(load));
        encode(&["LPUSH", &key, &value], out);
    }),
    // As often as pushed, so that lists stay short.
    (5, |random, _, out| encode(&["LPOP", &random.list()], out)),
    (3, |random, _, out| {
        encode(&["LRANGE", &random.list(), "0", "99"], out);
    }),
    (2, |random, load, out| {
        let mut words = vec!["MSET".to_owned()];
        for _ in 0..10 {
            words.push(random.key("key", load));
            words.push(random.value(load));
        }
        encode(&words, out);
    }),
];

fn compose(random: &mut Random, load: Load, out: &mut Vec<u8>) {
    let mut drawn = random.below(MIX.iter().map(|(weight, _)| weight).sum());
    for (weight, composer) in &MIX {
        if drawn < *weight {
            return composer(random, load, out);
        }
        drawn -= weight;
    }
}

fn encode(words: &[impl AsRef<str>], out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "*{}\r\n", words.len());
    for word in words {
        let word = word.as_ref();
        let _ = write!(out, "${}\r\n{word}\r\n", word.len());
    }
}

/// `SplitMix64`: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is small: the bias does not show.
    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn key(&mut self, kind: &str, load: Load) -> String {
        format!("{kind}:{}", self.below(load.keys.into()))
    }

    fn list(&mut self) -> String {
        format!("list:{}", self.below(10))
    }

    fn value(&mut self, load: Load) -> String {
        let letter = char::from(b'a' + (self.below(26) as u8));
        letter.to_string().repeat(load.value_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, MIX, Random, compose};

    #[test]
    fn weights_are_percentages() {
        assert_eq!(MIX.iter().map(|(weight, _)| weight).sum::<u64>(), 100);
    }

    #[test]
    fn the_same_seed_composes_the_same_commands_and_another_does_not() {
        let composed = |seed| {
            let (mut random, mut out) = (Random(seed), Vec::new());
            for _ in 0..1_000 {
                compose(&mut random, Load::default(), &mut out);
            }
            out
        };
        assert_eq!(composed(7), composed(7));
        assert_ne!(composed(7), composed(8));
    }
}
