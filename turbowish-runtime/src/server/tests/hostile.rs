//! Attacks on the port, the consoles and the process by other programs, which run as another user
//! if these tests are allowed to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use turbowish_wire::client::{ClientError, Connection, Target, Watch};
use turbowish_wire::handshake::{ANSWER_BYTES, Caller, HELLO_BYTES, PROOF_BYTES};

use super::{BIG_WINDOW, PATIENCE, Running, TOKEN, ask_and_stop, connect, procs};
use turbowish_model::query::Query;

const ROLE: &str = "TURBOWISH_TEST_ROLE";

/// User ID of nobody.
const NOBODY: u32 = 65_534;

/// A program that plays a role until it is dropped.
struct Other {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    _until: ChildStdin,
}

impl Other {
    /// Starts another process of this user.
    fn ours(role: &str) -> Self {
        Self::spawn(Self::command(role))
    }

    /// Starts a process of another user, if the tests run as root.
    fn foreign(role: &str) -> Self {
        let mut command = Self::command(role);
        if turbowish_wire::discovery::uid() == 0 {
            command.uid(NOBODY);
            // The other user may have no access to the test's folders.
            let mut tried = Self::command("none");
            if tried.uid(NOBODY).status().is_err() {
                command.uid(0);
            }
        }
        Self::spawn(command)
    }

    fn command(role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let test = "server::tests::hostile::a_role_is_played";
        command
            .args(["--exact", test, "--nocapture", "--quiet"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let _until = child.stdin.take().unwrap();
        Self {
            child,
            lines,
            _until,
        }
    }

    /// The next line that it prints.
    fn told(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it has ended");
            if let Some((_, told)) = line.trim_end().split_once("told: ") {
                return told.to_owned();
            }
        }
    }

    /// Its present memory.
    fn resident_bytes(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: usize = line.unwrap().trim_end_matches("kB").trim().parse().unwrap();
        kib << 10
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The attacking programs.
#[test]
fn a_role_is_played() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let words: Vec<&str> = role.split(' ').collect();
    match words[..] {
        ["squat"] => squat(),
        ["hog", address, number] => hog(address, number.parse().unwrap()),
        ["guess", address, number] => guess(address, number.parse().unwrap()),
        ["process"] => process(),
        _ => {}
    }
}

fn tell(text: &str) {
    println!("told: {text}");
}

fn until_the_end() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Takes a port, answers as well as it can, and prints everything it receives.
fn squat() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    tell(&listener.local_addr().unwrap().to_string());
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut hello = [0; HELLO_BYTES];
        stream.read_exact(&mut hello).unwrap();
        // Answers with the console's own bytes: a nonce, and what may pass for a proof.
        let mut answer = [0; ANSWER_BYTES];
        answer[..HELLO_BYTES].copy_from_slice(&hello);
        answer[HELLO_BYTES..].copy_from_slice(&hello[HELLO_BYTES - PROOF_BYTES..]);
        stream.write_all(&answer).unwrap();
        let mut heard = hello.to_vec();
        let _ = stream.read_to_end(&mut heard);
        let hex: String = heard.iter().map(|byte| format!("{byte:02x}")).collect();
        tell(&hex);
    }
}

/// Holds many connections, sends nothing, and reconnects when it is disconnected.
fn hog(address: &str, number: usize) {
    let address = address.to_owned();
    let connect = move || TcpStream::connect(&*address).unwrap();
    let mut held: Vec<_> = (0..number).map(|_| connect()).collect();
    tell("ready");
    thread::spawn(move || {
        for at in (0..number).cycle() {
            let _ = held[at].read(&mut [0]);
            held[at] = connect();
        }
    });
    until_the_end();
}

/// Makes that many guesses on eight connections at a time, and prints the milliseconds it took.
fn guess(address: &str, number: u32) {
    let begun = Instant::now();
    tell("ready");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..number / 8 {
                    let mut stream = TcpStream::connect(address).unwrap();
                    let _ = stream.write_all(&Caller::begin().unwrap().hello());
                    let _ = stream.read_exact(&mut [0; ANSWER_BYTES]);
                    let _ = stream.write_all(&[0x5a; PROOF_BYTES]);
                    let _ = stream.read_to_end(&mut Vec::new());
                }
            });
        }
    });
    tell(&begun.elapsed().as_millis().to_string());
}

/// A process to which consoles attach.
fn process() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Running::start(|config| {
        config.listen = Some("127.0.0.1:0".into());
        config.token = Some(TOKEN.into());
    }));
    tell(&server.address());
    tell(&server.socket().display().to_string());
    until_the_end();
}

fn tcp(addr: &str) -> Target {
    Target::Tcp {
        addr: addr.to_owned(),
        token: Some(TOKEN.to_owned()),
    }
}

async fn over_tcp() -> Running {
    Running::start(|config| {
        config.listen = Some("127.0.0.1:0".into());
        config.token = Some(TOKEN.into());
        // Long, so that no connection is dropped for being slow: silent ones are dropped only to
        // make room.
        config.hello_time = Duration::from_secs(3600);
    })
    .await
}

#[tokio::test]
async fn a_squatter_learns_one_random_number() {
    let mut squatter = Other::foreign("squat");
    let target = tcp(&squatter.told());
    let mut heard = Vec::new();
    for _ in 0..2 {
        let error = connect(&target).await.unwrap_err();
        assert!(matches!(error, ClientError::Token { .. }), "{error:?}");
        let line = error.to_string();
        assert!(line.contains("does not know this token"), "{line}");
        heard.push(squatter.told());
    }
    for hex in &heard {
        assert_eq!(hex.len(), 2 * HELLO_BYTES, "a hello, and nothing else");
        assert!(hex.starts_with("747572626f7769736801"), "{hex}");
    }
    assert_ne!(heard[0], heard[1], "a new number each time");
}

#[tokio::test]
async fn silent_connections_keep_no_console_out() {
    for number in [40, 400] {
        let server = over_tcp().await;
        let mut hog = Other::foreign(&format!("hog {} {number}", server.address()));
        assert_eq!(hog.told(), "ready");
        for _ in 0..3 {
            let console = connect(&tcp(&server.address())).await.unwrap();
            console.snapshot(&procs()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn guesses_are_slow_and_keep_no_console_out() {
    const GUESSES: u64 = 400;
    let server = Running::start(|config| {
        config.listen = Some("127.0.0.1:0".into());
        config.token = Some(TOKEN.into());
    })
    .await;
    let lines = server.lines.lock().unwrap().clone();
    let address = lines[0].strip_prefix("listening on ").unwrap().to_owned();
    let mut guesser = Other::foreign(&format!("guess {address} {GUESSES}"));
    assert_eq!(guesser.told(), "ready");
    for _ in 0..3 {
        connect(&tcp(&address)).await.unwrap();
    }
    let took: u64 = guesser.told().parse().unwrap();
    // A hundred a second, and a few that were in transit.
    assert!(took >= (GUESSES - 20) * 10, "{took} ms");
    let said = server.lines.lock().unwrap().clone();
    assert!(said.len() < 12, "{said:?}");
    assert!(said[1].contains("with a wrong token (1 times"), "{said:?}");
}

/// Requests much and reads none of it. The runtime must not be driven again.
async fn ask_and_leave(target: &Target) -> (Connection, Vec<Watch>) {
    let query = Query {
        window_ns: Some(BIG_WINDOW),
        ..procs()
    };
    let connection = connect(target).await.unwrap();
    let mut watches = Vec::new();
    for _ in 0..4 {
        let watch = connection.watch(query.clone(), Duration::ZERO);
        match tokio::time::timeout(Duration::from_millis(200), watch).await {
            Ok(Ok(watch)) => watches.push(watch),
            // There is no room for it, or it has been disconnected.
            _ => break,
        }
    }
    for _ in 0..12 {
        let (connection, query) = (connection.clone(), query.clone());
        tokio::spawn(async move { connection.snapshot(&query).await });
    }
    // Lets the requests leave.
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    (connection, watches)
}

#[tokio::test]
async fn clients_that_never_read_cost_a_bounded_amount() {
    let mut process = Other::ours("process");
    let (port, socket) = (tcp(&process.told()), Target::Socket(process.told().into()));
    let before = process.resident_bytes();
    let targets = [port, socket.clone()];
    let held = ask_and_stop(async move || {
        let mut held = Vec::new();
        for at in 0..30 {
            held.push(ask_and_leave(&targets[at % 2]).await);
        }
        held
    });
    // An honest console is answered all the same.
    let console = connect(&socket).await.unwrap();
    for _ in 0..5 {
        console.snapshot(&procs()).await.unwrap();
    }
    let grown = process.resident_bytes().saturating_sub(before);
    assert!(grown < 150 << 20, "{} MiB", grown >> 20);
    held.end();
}

#[tokio::test]
async fn who_takes_nothing_is_hung_up_on() {
    let server = Running::start(|config| config.stall_time = Duration::from_millis(200)).await;
    let target = Target::Socket(server.socket());
    let held = ask_and_stop(async move || ask_and_leave(&target).await);
    let begun = Instant::now();
    while server.lines.lock().unwrap().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "it is never hung up on");
        tokio::task::yield_now().await;
    }
    assert_eq!(
        server.line(),
        "disconnected a console that read nothing for 200ms (1 so far)"
    );
    held.end();
}

#[tokio::test]
async fn a_connection_has_a_few_watches() {
    let server = Running::start(|_| {}).await;
    let console = server.connect().await.unwrap();
    let watch = || console.watch(procs(), Duration::from_secs(1));
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(watch().await.unwrap());
    }
    let error = watch().await.unwrap_err();
    assert!(error.to_string().contains("4 watches open"), "{error}");
    open.pop();
    // The process receives it before the next one.
    open.push(watch().await.unwrap());
    console.snapshot(&procs()).await.unwrap();
}
