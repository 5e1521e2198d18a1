//! A recording rewound: what a file shows of an instant is what was live then.
//!
//! `benches/rewind.sh` runs this on a minute of a server under load.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use turbowish_model::query::Query;
use turbowish_model::snapshot::Snapshot;
use turbowish_recording::{Compression, Reader, Writer};
use turbowish_wire::client::{Connection, Target};

use super::{PATIENCE, Recorded};
use crate::monitor::Host;

/// The socket of another process, the seconds to record, the time between two states in
/// milliseconds, and the instants to go to: `/run/4242.sock 60 1000 1000`.
const ASKED: &str = "TURBOWISH_TEST_REWIND";

/// Records states as they come, and keeps them.
async fn record(
    connection: &Connection,
    path: &Path,
    every: Duration,
    count: u64,
) -> Vec<Snapshot> {
    let mut watch = connection.watch(Query::recorded(), every).await.unwrap();
    let mut writer = Writer::begin(File::create(path).unwrap(), Compression::Deflate).unwrap();
    let mut live = Vec::new();
    let begun = Instant::now();
    for _ in 0..count {
        let state = watch.next().await.unwrap().unwrap();
        writer.state(&state, 0).unwrap();
        live.push(state);
        assert!(begun.elapsed() < PATIENCE + every * count as u32);
    }
    writer.end().unwrap();
    live
}

/// Goes to random instants of a file, each time as somebody does who has just opened it. Returns
/// the durations.
fn rewind(path: &Path, live: &[Snapshot], instants: u64) -> Vec<Duration> {
    let (first, last) = (live[0].at_unix_ns, live[live.len() - 1].at_unix_ns);
    let mut random = first;
    let mut took = Vec::new();
    for _ in 0..instants {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = first + (random >> 16) % (last - first + 1);
        let expected = live.iter().rfind(|state| state.at_unix_ns <= at).unwrap();
        let begun = Instant::now();
        let mut reader = Reader::open(File::open(path).unwrap()).unwrap();
        let nth = reader.at(at).expect("a state");
        let shown = reader.snapshot(nth).unwrap();
        took.push(begun.elapsed());
        assert!(shown == *expected, "{at}: {shown:#?}\nwas {expected:#?}");
    }
    took
}

#[tokio::test]
async fn each_instant_of_a_recording_is_as_it_was_live() {
    let asked = std::env::var(ASKED).unwrap_or_default();
    let words: Vec<&str> = asked.split(' ').collect();
    let host = Host::empty();
    let path = host.path().join("x.tw");
    let (live, instants) = if let [socket, seconds, every, instants] = words[..] {
        let number = |text: &str| text.parse::<u64>().unwrap();
        let target = Target::Socket(socket.into());
        let connection = Connection::connect(&target).await.unwrap();
        let every = Duration::from_millis(number(every));
        let count = number(seconds) * 1_000 / every.as_millis() as u64;
        let live = record(&connection, &path, every, count).await;
        (live, number(instants))
    } else {
        let process = Recorded::start(host.path(), &[]);
        let connection = process.connect().await;
        let live = record(&connection, &path, Duration::from_millis(100), 20).await;
        process.end();
        (live, 200)
    };
    let mut took = rewind(&path, &live, instants);
    took.sort();
    println!(
        "{} states, {} bytes; {instants} instants as they were: median {:?}, longest {:?}",
        live.len(),
        path.metadata().unwrap().len(),
        took[took.len() / 2],
        took[took.len() - 1],
    );
}
