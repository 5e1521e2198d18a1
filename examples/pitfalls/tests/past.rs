//! A stall that nobody looked at while it lasted: the process tells afterwards what it was, to a
//! console and in the report at its exit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use turbowish_model::query::Query;
use turbowish_model::snapshot::alert::{Alert, PartyKind};
use turbowish_wire::client::{Connection, Target};

/// Longer than it takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

const STALL_NS: u64 = 1_500_000_000;

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.expect("after 1970").as_nanos()).expect("before 2554")
}

/// The alerts, as a console sees them that attaches now. `None` if it cannot yet.
async fn looked_for(socket: &Path) -> Option<Vec<Alert>> {
    let target = Target::Socket(socket.to_owned());
    let connection = Connection::connect(&target).await.ok()?;
    let snapshot = connection.snapshot(&Query::default()).await.ok()?;
    Some(snapshot.alerts.rows)
}

async fn when_it_is_over(child: &mut Child, socket: &Path) -> Alert {
    let begun = Instant::now();
    loop {
        let alerts = looked_for(socket).await.unwrap_or_default();
        if let [alert] = &alerts[..]
            && alert.is_over()
        {
            return alert.clone();
        }
        assert!(begun.elapsed() < PATIENCE, "{alerts:#?}");
        assert!(child.try_wait().expect("a child").is_none(), "it ended");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the recording has a mark that begins so.
async fn until_marked(socket: &Path, begin: &str) {
    let target = Target::Socket(socket.to_owned());
    let connection = Connection::connect(&target).await.expect("a connection");
    let begun = Instant::now();
    loop {
        let mut recording = connection.past(0, 0).await.expect("the recording");
        while let Some(chunks) = recording.next().await {
            let chunks = chunks.expect("chunks");
            // The text of a mark is the whole body of its chunk.
            if chunks
                .windows(begin.len())
                .any(|text| text == begin.as_bytes())
            {
                return;
            }
        }
        assert!(begun.elapsed() < PATIENCE, "there is no mark {begin}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn check(alert: &Alert, started: u64) {
    assert_eq!(alert.pitfall.id(), "blocked_worker", "{alert:#?}");
    assert_eq!(alert.named(PartyKind::Task), ["compact"]);
    assert_eq!(alert.named(PartyKind::Worker).len(), 1);
    let at = alert.at.as_ref().expect("where it was");
    assert_eq!(at.proc, "stall::compact");
    let passed = at.place.as_ref().expect("an await point");
    assert_eq!(passed.expr, "asked");
    let behind = alert.behind.tasks.iter().map(|task| task.name.as_str());
    assert_eq!(behind.collect::<Vec<_>>(), ["reader"]);
    // Its end is known: the title has no lower bound.
    assert!(!alert.title.contains('+'), "{}", alert.title);
    assert!(alert.held_ns >= STALL_NS, "{}", alert.held_ns);
    assert!(alert.began_unix_ns > started);
    let ended = alert.ended_unix_ns.expect("an end");
    assert_eq!(ended - alert.began_unix_ns, alert.held_ns);
    assert!(ended < unix_ns());
    assert_eq!((alert.times, alert.last_unix_ns), (1, Some(ended)));
}

#[tokio::test]
async fn a_stall_is_told_afterwards() {
    let own = fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(own).tempdir();
    let folder = folder.expect("a folder");
    let report = folder.path().join("report.json");
    let started = unix_ns();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stall"))
        .env("TURBOWISH_RUNTIME_DIR", folder.path())
        .env("TURBOWISH_REPORT", &report)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let socket = turbowish_wire::discovery::socket(folder.path(), child.id());
    let alert = when_it_is_over(&mut child, &socket).await;
    check(&alert, started);
    for begin in ["alert: ", "over: "] {
        let mark = format!("{begin}blocked worker ");
        until_marked(&socket, &mark).await;
    }
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = format!("ended:  {}   lasted ", alert.title);
    assert!(text.contains(&line), "{text}");
    let report = fs::read_to_string(report).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let told = &report["alerts"][0];
    assert_eq!(told["kind"], "blocked_worker");
    assert_eq!(told["over"], true);
    assert_eq!(told["began_unix_ns"], alert.began_unix_ns);
    assert_eq!(told["since_ns"], alert.held_ns);
    assert_eq!(told["behind"][0]["name"], "reader");
}
