//! Server tests over a real socket and a real port, with a scripted source.

mod classes;
mod hostile;
mod past;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;
use turbowish_model::event::EventClasses;
use turbowish_model::query::{Budget, Overrun, Query, QueryError, Rows, Selection};
use turbowish_model::snapshot::{Accounting, Page, ProcRow, Process, Snapshot};
use turbowish_wire::client::{ClientError, Connection, Target, list_in};
use turbowish_wire::{Action, PROTOCOL, PauseTask, discovery};

use super::{Config, NewPolls, News, Refused, Source, serve};

const TOKEN: &str = "5f2c9a7be01d4386";

/// Long enough for a loaded machine; no test waits until it ends.
const PATIENCE: Duration = Duration::from_secs(20);

/// Window of a query whose reply has [`BIG`] bytes.
const BIG_WINDOW: u64 = 7;
const BIG: usize = 4 << 20;

/// Window of a query that runs until [`Told::released`], or until its budget is used up.
const SLOW_WINDOW: u64 = 8;

#[derive(Default)]
struct Told {
    accounting: Mutex<Accounting>,
    asked: Mutex<Vec<Query>>,
    paused: Mutex<Vec<PauseTask>>,
    big: AtomicUsize,
    /// Number of slow queries that have begun, and why some were stopped.
    slow: AtomicUsize,
    /// Time of the next snapshot.
    clock: AtomicU64,
    /// Bytes of a text in a recorded state.
    state_bytes: AtomicUsize,
    stopped: Mutex<Vec<Overrun>>,
    news: Mutex<Vec<News>>,
    released: AtomicBool,
    classes: Mutex<EventClasses>,
    /// How often the classes have changed.
    changes: AtomicUsize,
}

impl Told {
    /// Runs until it is released, or until the budget is used up.
    fn be_slow(&self, budget: &Budget<'_>) -> Result<(), QueryError> {
        self.slow.fetch_add(1, Ordering::SeqCst);
        while budget.spend(1) {
            if self.released.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
        let overrun = budget.overrun().expect("it is spent");
        self.stopped.lock().unwrap().push(overrun);
        Err(QueryError::TooMuch {
            table: "tasks",
            looked: 1,
            rows: 2,
            overrun,
        })
    }
}

impl Source for Told {
    fn snapshot(&self, query: &Query, budget: &Budget<'_>) -> Result<Snapshot, QueryError> {
        Selection::parse(query)?;
        if query.window_ns == Some(SLOW_WINDOW) {
            self.be_slow(budget)?;
        }
        let is_recorded = *query == Query::recorded();
        if !is_recorded {
            self.asked.lock().unwrap().push(query.clone());
        }
        let mut row = ProcRow {
            proc: "kv::serve".into(),
            ..ProcRow::default()
        };
        if query.window_ns == Some(BIG_WINDOW) {
            self.big.fetch_add(1, Ordering::SeqCst);
            row.file = "x".repeat(BIG);
        }
        if is_recorded {
            row.file = "x".repeat(self.state_bytes.load(Ordering::SeqCst));
        }
        Ok(Snapshot {
            process: self.process(),
            at_unix_ns: self.clock.fetch_add(1, Ordering::SeqCst),
            window_ns: query.window_ns.unwrap_or(0),
            procs: Page {
                rows: vec![row],
                total: 1,
                matched: 1,
            },
            ..Snapshot::default()
        })
    }

    fn process(&self) -> Process {
        Process {
            name: "kv".into(),
            pid: std::process::id(),
            accounting: *self.accounting.lock().unwrap(),
            ..Process::default()
        }
    }

    fn used(&self) -> Duration {
        Duration::ZERO
    }

    fn answered(&self, _took: Duration) {}

    fn news(&self) -> Option<Vec<News>> {
        let is_armed = *self.accounting.lock().unwrap() == Accounting::Armed;
        is_armed.then(|| std::mem::take(&mut *self.news.lock().unwrap()))
    }

    fn names(&self) -> Vec<u8> {
        Vec::new()
    }

    fn polls(&self) -> NewPolls {
        NewPolls::default()
    }

    fn set_accounting(&self, accounting: Accounting) {
        *self.accounting.lock().unwrap() = accounting;
    }

    fn recorded(&self) -> EventClasses {
        *self.classes.lock().unwrap()
    }

    fn record_events(&self, classes: EventClasses) {
        *self.classes.lock().unwrap() = classes;
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    fn pause_task(&self, order: &PauseTask) -> Result<(), Refused> {
        let mut paused = self.paused.lock().unwrap();
        if order.task == 0 {
            return Err(Refused::NoTask);
        }
        paused.push(order.clone());
        Ok(())
    }

    fn resume_task(&self, task: u64) -> Result<(), Refused> {
        let mut paused = self.paused.lock().unwrap();
        let at = paused.iter().position(|order| order.task == task);
        paused.remove(at.ok_or(Refused::NotPaused)?);
        Ok(())
    }
}

/// A server on its own thread and runtime, as in a real process.
struct Running {
    source: Arc<Told>,
    folder: PathBuf,
    lines: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _root: tempfile::TempDir,
}

impl Running {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("turbowish");
        Self::start_in(root, folder, change).await
    }

    async fn start_in(
        root: tempfile::TempDir,
        folder: PathBuf,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let source = Arc::new(Told::default());
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&lines);
        let say: super::Say = Arc::new(move |line| heard.lock().unwrap().push(line.to_owned()));
        let mut config = Config {
            folder: folder.clone(),
            say,
            ..Config::default()
        };
        change(&mut config);
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = oneshot::channel();
        let served = Arc::clone(&source);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let stop = async {
                // Polled for the first time when all listeners are ready.
                ready.send(()).unwrap();
                let _ = stopped.await;
            };
            runtime.block_on(serve(served, config, stop));
        });
        is_ready.await.unwrap();
        Self {
            source,
            folder,
            lines,
            stop: Some(stop),
            thread: Some(thread),
            _root: root,
        }
    }

    fn socket(&self) -> PathBuf {
        discovery::socket(&self.folder, std::process::id())
    }

    async fn connect(&self) -> Result<Connection, ClientError> {
        connect(&Target::Socket(self.socket())).await
    }

    fn line(&self) -> String {
        let lines = self.lines.lock().unwrap();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    }

    /// The TCP address, from the line that reports the chosen port.
    fn address(&self) -> String {
        self.line()
            .strip_prefix("listening on ")
            .unwrap()
            .to_owned()
    }

    fn stop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn connect(target: &Target) -> Result<Connection, ClientError> {
    Connection::connect_within(target, PATIENCE).await
}

fn procs() -> Query {
    Query {
        procs: Some(Rows::default()),
        ..Query::default()
    }
}

#[tokio::test]
async fn hello_tells_who_is_there() {
    let server = Running::start(|_| {}).await;
    let connection = server.connect().await.unwrap();
    assert_eq!(connection.process(), &server.source.process());
    assert!(!connection.read_only());
}

#[tokio::test]
async fn the_socket_is_for_its_user_alone() {
    let mut server = Running::start(|_| {}).await;
    let mode = |path: &PathBuf| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&server.folder), 0o700);
    assert_eq!(mode(&server.socket()), 0o600);
    assert!(
        fs::symlink_metadata(server.socket())
            .unwrap()
            .file_type()
            .is_socket()
    );
    assert_eq!(
        fs::read_dir(&server.folder).unwrap().count(),
        1,
        "nothing else is left in the folder"
    );
    assert_eq!(*server.lines.lock().unwrap(), Vec::<String>::new());
    server.stop();
    assert_eq!(
        fs::read_dir(&server.folder).unwrap().count(),
        0,
        "the socket goes with the server"
    );
}

#[tokio::test]
async fn the_process_is_listed() {
    let server = Running::start(|_| {}).await;
    let listing = list_in(std::slice::from_ref(&server.folder), PATIENCE).await;
    assert_eq!(listing.found.len(), 1);
    assert_eq!(
        listing.found[0].answer.as_ref().unwrap(),
        &server.source.process()
    );
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("turbowish");
    discovery::prepare(&folder).unwrap();
    drop(UnixListener::bind(discovery::socket(&folder, std::process::id())).unwrap());
    let server = Running::start_in(root, folder, |_| {}).await;
    server.connect().await.unwrap();
}

#[tokio::test]
async fn a_socket_in_use_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("turbowish");
    discovery::prepare(&folder).unwrap();
    let path = discovery::socket(&folder, std::process::id());
    let _other = UnixListener::bind(&path).unwrap();
    let mut server = Running::start_in(root, folder, |_| {}).await;
    assert!(
        server.line().contains("another process"),
        "{}",
        server.line()
    );
    server.stop();
    assert!(path.exists());
}

#[tokio::test]
async fn an_open_folder_costs_one_line_and_tcp_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("open");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let server = Running::start_in(root, folder, |config| {
        config.listen = Some("127.0.0.1:0".into());
        config.token = Some(TOKEN.into());
    })
    .await;
    let lines = server.lines.lock().unwrap().clone();
    assert!(
        lines[0].starts_with("no console can attach by process id: "),
        "{lines:?}"
    );
    assert!(lines[0].contains("is open to others"), "{lines:?}");
    let addr = lines[1].strip_prefix("listening on ").unwrap().to_owned();
    connect(&Target::Tcp {
        addr,
        token: Some(TOKEN.into()),
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_path_that_is_too_long_costs_one_line() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("x".repeat(120));
    let server = Running::start_in(root, folder, |_| {}).await;
    assert!(
        server.line().contains("TURBOWISH_RUNTIME_DIR"),
        "{}",
        server.line()
    );
}

#[tokio::test]
async fn snapshots_are_what_was_asked_for() {
    let server = Running::start(|config| config.max_rows = 50).await;
    let connection = server.connect().await.unwrap();
    let rows = |limit| {
        Some(Rows {
            limit,
            filter: "kv".into(),
            ..Rows::default()
        })
    };
    let query = Query {
        window_ns: Some(5),
        procs: rows(0),
        tasks: rows(51),
        awaits: rows(49),
        ..Query::default()
    };
    let snapshot = connection.snapshot(&query).await.unwrap();
    assert_eq!(
        (snapshot.window_ns, snapshot.procs.rows[0].proc.as_str()),
        (5, "kv::serve")
    );
    let limited = Query {
        procs: rows(50),
        tasks: rows(50),
        ..query
    };
    assert_eq!(*server.source.asked.lock().unwrap(), [limited]);
}

#[tokio::test]
async fn bad_queries_are_answered_with_their_fault() {
    let server = Running::start(|_| {}).await;
    let connection = server.connect().await.unwrap();
    let bad = Rows {
        sort: "no_such_column".into(),
        ..Rows::default()
    };
    let query = Query {
        procs: Some(bad),
        ..Query::default()
    };
    let expected = Selection::parse(&query).unwrap_err().to_string();
    for error in [
        connection.snapshot(&query).await.unwrap_err(),
        connection
            .watch(query, Duration::from_secs(1))
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, ClientError::BadQuery { .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
    connection.snapshot(&procs()).await.unwrap();
}

fn slow() -> Query {
    Query {
        window_ns: Some(SLOW_WINDOW),
        procs: Some(Rows {
            filter: "a".repeat(1_000),
            ..Rows::default()
        }),
        ..Query::default()
    }
}

/// Waits until a condition holds, by polling it.
async fn until(mut is_so: impl FnMut() -> bool) {
    let waits = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waits).await;
    waited.expect("it is so before long");
}

/// Other requests to the process are answered meanwhile, and so is a query with a short filter.
#[tokio::test]
async fn a_slow_query_holds_up_no_other_request() {
    let server = Running::start(|_| {}).await;
    let (one, other) = (
        server.connect().await.unwrap(),
        server.connect().await.unwrap(),
    );
    let query = slow();
    let slow = one.snapshot(&query);
    let beside = async {
        until(|| server.source.slow.load(Ordering::SeqCst) == 1).await;
        server.connect().await.unwrap();
        other.control(Action::ResumeTask(1)).await.unwrap_err();
        other.snapshot(&procs()).await.unwrap();
        server.source.released.store(true, Ordering::SeqCst);
    };
    let both = async { tokio::join!(slow, beside) };
    let (slow, ()) = tokio::time::timeout(PATIENCE, both)
        .await
        .expect("no standstill");
    assert_eq!(slow.unwrap().procs.total, 1);
}

/// The client leaves, and its queries are dropped: the one being answered, and one still queued.
#[tokio::test]
async fn a_query_stops_when_its_client_has_gone() {
    let server = Running::start(|_| {}).await;
    let ask = |connection: Connection| {
        tokio::spawn(async move { connection.snapshot(&slow()).await.map(|_| ()) })
    };
    let first = ask(server.connect().await.unwrap());
    let second = ask(server.connect().await.unwrap());
    until(|| server.source.slow.load(Ordering::SeqCst) == 1).await;
    second.abort();
    first.abort();
    until(|| !server.source.stopped.lock().unwrap().is_empty()).await;
    let watching = {
        let connection = server.connect().await.unwrap();
        tokio::spawn(async move { connection.watch(slow(), Duration::ZERO).await.map(|_| ()) })
    };
    until(|| server.source.slow.load(Ordering::SeqCst) >= 2).await;
    watching.abort();
    until(|| server.source.stopped.lock().unwrap().len() >= 2).await;
    let stopped = server.source.stopped.lock().unwrap();
    assert!(
        stopped.iter().all(|why| *why == Overrun::Abandoned),
        "{stopped:?}"
    );
}

#[tokio::test]
async fn watches_go_on_until_the_process_ends() {
    let mut server = Running::start(|_| {}).await;
    let connection = server.connect().await.unwrap();
    let mut watch = connection.watch(procs(), Duration::ZERO).await.unwrap();
    for _ in 0..3 {
        assert_eq!(watch.next().await.unwrap().unwrap().procs.total, 1);
        let bounds = Duration::from_millis(100)..=Duration::from_secs(10);
        assert!(bounds.contains(&watch.pace()), "{:?}", watch.pace());
    }
    server.stop();
    let mut last = watch.next().await;
    while let Some(Ok(_)) = last {
        last = watch.next().await;
    }
    assert!(
        matches!(last, None | Some(Err(ClientError::Gone { .. }))),
        "{last:?}"
    );
    assert!(
        watch.next().await.is_none(),
        "after the end there is nothing"
    );
    let error = connection.snapshot(&procs()).await.unwrap_err();
    assert!(matches!(error, ClientError::Gone { .. }), "{error:?}");
}

/// What a client has asked for. Its runtime is never driven again, so it reads nothing.
struct Stopped<T> {
    held: T,
    runtime: tokio::runtime::Runtime,
}

/// Runs a client until it has asked.
fn ask_and_stop<T: Send + 'static>(ask: impl AsyncFnOnce() -> T + Send + 'static) -> Stopped<T> {
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let held = runtime.block_on(ask());
        Stopped { held, runtime }
    });
    asked.join().unwrap()
}

impl<T: Send + 'static> Stopped<T> {
    /// Drops it. A runtime cannot be dropped in the task of another one.
    fn end(self) {
        let Self { held, runtime } = self;
        let ended = std::thread::spawn(move || drop((held, runtime)));
        ended.join().unwrap();
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_back_nobody_and_little() {
    let server = Running::start(|_| {}).await;
    let target = Target::Socket(server.socket());
    let held = ask_and_stop(async move || {
        let connection = connect(&target).await.unwrap();
        let query = Query {
            window_ns: Some(BIG_WINDOW),
            ..procs()
        };
        connection.watch(query, Duration::ZERO).await.unwrap()
    });
    let connection = server.connect().await.unwrap();
    let mut watch = connection.watch(procs(), Duration::ZERO).await.unwrap();
    for _ in 0..10 {
        watch.next().await.unwrap().unwrap();
    }
    let made = server.source.big.load(Ordering::SeqCst);
    assert!(
        (1..=3).contains(&made),
        "{made} snapshots for a client that reads none"
    );
    held.end();
}

#[tokio::test]
async fn garbage_is_hung_up_on() {
    let server = Running::start(|_| {}).await;
    let path = server.socket();
    let junk = tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(path).unwrap();
        let _ = stream.write_all(&[0x5a; 4096]);
        let mut answer = Vec::new();
        // Either the end of the stream or a reset: the connection is closed.
        let _ = stream.read_to_end(&mut answer);
    });
    junk.await.unwrap();
    server
        .connect()
        .await
        .unwrap()
        .snapshot(&procs())
        .await
        .unwrap();
}

#[tokio::test]
async fn only_so_many_clients_are_served() {
    let server = Running::start(|config| config.max_clients = 1).await;
    let first = server.connect().await.unwrap();
    let error = server.connect().await.unwrap_err();
    assert!(matches!(error, ClientError::Crowded { .. }), "{error:?}");
    let expected = format!("kv {} has 1 consoles attached", std::process::id());
    assert!(error.to_string().starts_with(&expected), "{error}");
    first.snapshot(&procs()).await.unwrap();
}

#[tokio::test]
async fn accounting_is_switched_unless_read_only() {
    for read_only in [false, true] {
        let server = Running::start(|config| config.read_only = read_only).await;
        let connection = server.connect().await.unwrap();
        assert_eq!(connection.read_only(), read_only);
        let outcome = connection
            .control(Action::SetAccounting(Accounting::Armed))
            .await;
        if read_only {
            let error = outcome.unwrap_err();
            assert!(matches!(error, ClientError::ReadOnly { .. }), "{error:?}");
            assert_eq!(server.source.process().accounting, Accounting::Disarmed);
            let pause = connection.control(Action::PauseTask(PauseTask::default()));
            assert!(matches!(pause.await, Err(ClientError::ReadOnly { .. })));
        } else {
            assert_eq!(outcome.unwrap().accounting, Accounting::Armed);
            assert_eq!(server.source.process().accounting, Accounting::Armed);
        }
    }
}

#[tokio::test]
async fn tasks_are_paused_and_resumed() {
    let server = Running::start(|_| {}).await;
    let connection = server.connect().await.unwrap();
    let order = |task| PauseTask {
        task,
        by: "console pid 7".into(),
        lease_ns: Some(60_000_000_000),
        renew: false,
    };
    let pause = |order| connection.control(Action::PauseTask(order));
    pause(order(7)).await.unwrap();
    assert_eq!(*server.source.paused.lock().unwrap(), [order(7)]);
    connection.control(Action::ResumeTask(7)).await.unwrap();
    assert!(server.source.paused.lock().unwrap().is_empty());
    let error = connection.control(Action::ResumeTask(7)).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { .. }), "{error:?}");
    let error = pause(order(0)).await.unwrap_err();
    assert!(matches!(error, ClientError::NoTask { .. }), "{error:?}");
    let nameless = PauseTask {
        by: String::new(),
        ..order(7)
    };
    let error = pause(nameless).await.unwrap_err();
    assert!(matches!(error, ClientError::BadQuery { .. }), "{error:?}");
}

#[tokio::test]
async fn tcp_wants_the_token() {
    let server = Running::start(|config| {
        config.listen = Some("127.0.0.1:0".into());
        config.token = Some(TOKEN.into());
    })
    .await;
    let with = |token: Option<&str>| Target::Tcp {
        addr: server.address(),
        token: token.map(Into::into),
    };
    let connection = connect(&with(Some(TOKEN))).await.unwrap();
    assert_eq!(connection.snapshot(&procs()).await.unwrap().procs.total, 1);
    for (token, expected) in [
        (Some("5F2C9A7BE01D4386"), "does not know this token"),
        (Some("5f2c9a7be01d438"), "does not know this token"),
        (None, "requires a token"),
    ] {
        let error = connect(&with(token)).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    server
        .connect()
        .await
        .unwrap()
        .snapshot(&procs())
        .await
        .unwrap();
}

#[tokio::test]
async fn tcp_that_is_not_allowed_costs_one_line() {
    for (listen, token, expected) in [
        (
            "0.0.0.0:6680",
            Some(TOKEN),
            "not listening on 0.0.0.0:6680: other machines",
        ),
        (
            "127.0.0.1:6680",
            None,
            "not listening on 127.0.0.1:6680: every user of this host",
        ),
        (
            "127.0.0.1:6680",
            Some("x"),
            "not listening on 127.0.0.1:6680: TURBOWISH_TOKEN has 1 of the 16 characters that it needs, \
             and can be guessed; set TURBOWISH_TOKEN to a random one, such as `openssl rand -hex 16` prints",
        ),
        (
            "nonsense",
            Some(TOKEN),
            "not listening on nonsense: not an address",
        ),
    ] {
        let server = Running::start(|config| {
            config.listen = Some(listen.into());
            config.token = token.map(Into::into);
        })
        .await;
        assert!(server.line().starts_with(expected), "{}", server.line());
        server
            .connect()
            .await
            .unwrap()
            .snapshot(&procs())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_taken_port_costs_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let server = Running::start(|config| {
        config.listen = Some(listen.clone());
        config.token = Some(TOKEN.into());
    })
    .await;
    let expected = format!("not listening on {listen}: the port is in use");
    assert!(server.line().starts_with(&expected), "{}", server.line());
    server.connect().await.unwrap();
}

#[tokio::test]
async fn another_protocol_is_one_clear_line() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("later.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        tokio::select! {
            served = later::serve(listener) => served,
            _ = stopped => {}
        }
    });
    let error = connect(&Target::Socket(path)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "kv 4242 speaks protocol {}, this console {PROTOCOL}: update turbowish-cli",
            PROTOCOL + 1
        )
    );
    drop(stop);
    serving.await.unwrap();
}

#[tokio::test]
async fn another_server_is_a_stranger() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"-ERR unknown command\r\n");
    });
    let token = Some(TOKEN.into());
    let error = connect(&Target::Tcp { addr, token }).await.unwrap_err();
    assert!(matches!(error, ClientError::Stranger { .. }), "{error:?}");
    thread.join().unwrap();
}

/// A process of a later version, whose process message this version cannot read.
mod later {
    use tokio::net::UnixListener;
    use tokio_stream::wrappers::UnixListenerStream;
    use tonic::{Request, Response, Status};
    use turbowish_wire::PROTOCOL;
    use turbowish_wire::proto::turbowish_server::{Turbowish, TurbowishServer};
    use turbowish_wire::proto::{
        ControlReply, ControlRequest, HelloReply, HelloRequest, PastReply, PastRequest, Process,
        Query, Snapshot, WatchRequest,
    };

    struct Later;

    fn absent<T>() -> Result<Response<T>, Status> {
        Err(Status::unimplemented("not in this protocol"))
    }

    #[tonic::async_trait]
    impl Turbowish for Later {
        type WatchStream = tokio_stream::Empty<Result<Snapshot, Status>>;

        async fn hello(&self, _: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
            let process = Process {
                name: "kv".into(),
                pid: 4242,
                accounting: 99,
                ..Process::default()
            };
            let version = "9.0.0".to_owned();
            let process = Some(process);
            Ok(Response::new(HelloReply {
                protocol: PROTOCOL + 1,
                version,
                process,
                read_only: false,
            }))
        }

        async fn read(&self, _: Request<Query>) -> Result<Response<Snapshot>, Status> {
            absent()
        }

        async fn watch(
            &self,
            _: Request<WatchRequest>,
        ) -> Result<Response<Self::WatchStream>, Status> {
            absent()
        }

        type PastStream = tokio_stream::Empty<Result<PastReply, Status>>;

        async fn past(
            &self,
            _: Request<PastRequest>,
        ) -> Result<Response<Self::PastStream>, Status> {
            absent()
        }

        async fn control(
            &self,
            _: Request<ControlRequest>,
        ) -> Result<Response<ControlReply>, Status> {
            absent()
        }
    }

    pub(super) async fn serve(listener: UnixListener) {
        let incoming = UnixListenerStream::new(listener);
        let service = TurbowishServer::new(Later);
        tonic::transport::Server::builder()
            .serve_with_incoming(service, incoming)
            .await
            .unwrap();
    }
}
