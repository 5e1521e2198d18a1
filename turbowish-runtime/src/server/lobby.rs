//! Lobby for TCP connections: a connection waits here until it has proved that it knows the token.
//! Others do not stay for long.
//!
//! The lobby has a few slots of its own, so that unauthenticated connections take none of the
//! clients' slots. When it is full, the oldest connection that has sent nothing is dropped. A proof
//! is checked at once, and a correct one is never delayed. Wrong proofs, and connections that end
//! without one, delay the next accept.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use turbowish_wire::handshake::{self, Callee, HELLO_BYTES, HandshakeFault, PROOF_BYTES};

use super::Say;
use super::accept::Listen;

/// Maximum number of connections that have not proved anything yet.
const SEATS: usize = 64;

/// Delay per wrong proof: a hundred guesses a second in the long run.
const MISS: Duration = Duration::from_millis(10);

/// Delay per connection that ends, or is dropped, without a proof.
const LEFT: Duration = Duration::from_micros(500);

/// Shorter delays are not waited for.
const SLACK: Duration = Duration::from_millis(10);

/// Number of accepts after which the connections in the lobby are polled again.
const BURST: u32 = 8;

/// A listener whose connections have proved that they know the token.
pub(super) struct Lobby<L: Listen> {
    listener: L,
    token: Arc<str>,
    hello_time: Duration,
    /// Connections in the lobby, the oldest first.
    guests: VecDeque<Guest<L::Stream>>,
    /// Time of the next accept.
    open_at: Instant,
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    burst: u32,
    misses: u64,
    say: Say,
}

struct Guest<S> {
    greeting: Pin<Box<dyn Future<Output = Outcome<S>> + Send>>,
    /// Whether the connection has sent its hello.
    heard: Arc<AtomicBool>,
}

/// Result of a handshake.
enum Outcome<S> {
    Proved(S),
    Missed,
    Left,
}

impl<L: Listen> Lobby<L> {
    pub(super) fn new(listener: L, token: &str, hello_time: Duration, say: Say) -> Self {
        Self {
            listener,
            token: token.into(),
            hello_time,
            guests: VecDeque::new(),
            open_at: Instant::now(),
            wait: None,
            burst: 0,
            misses: 0,
            say,
        }
    }

    /// Polls all handshakes, up to the first that succeeds.
    fn poll_guests(&mut self, context: &mut Context<'_>) -> Option<L::Stream> {
        let mut at = 0;
        while let Some(guest) = self.guests.get_mut(at) {
            let Poll::Ready(outcome) = guest.greeting.as_mut().poll(context) else {
                at += 1;
                continue;
            };
            self.guests.remove(at);
            match outcome {
                Outcome::Proved(stream) => return Some(stream),
                Outcome::Missed => self.missed(),
                Outcome::Left => self.put_off(LEFT),
            }
        }
        None
    }

    fn missed(&mut self) {
        self.put_off(MISS);
        self.misses += 1;
        // Logged at powers of two: guessing must not fill a log.
        if self.misses.is_power_of_two() {
            (self.say)(&format!(
                "a client tried to attach to {} with a wrong token ({} times so far)",
                self.listener.name(),
                self.misses
            ));
        }
    }

    fn put_off(&mut self, by: Duration) {
        self.open_at = self.open_at.max(Instant::now()) + by;
    }

    fn admit(&mut self, stream: L::Stream) {
        if self.guests.len() == SEATS {
            let silent = |guest: &Guest<_>| !guest.heard.load(Ordering::Relaxed);
            let oldest = self.guests.iter().position(silent).unwrap_or(0);
            self.guests.remove(oldest);
            self.put_off(LEFT);
        }
        let heard = Arc::default();
        let greeting = greet(stream, Arc::clone(&self.token), Arc::clone(&heard));
        let greeting = tokio::time::timeout(self.hello_time, greeting);
        let greeting = Box::pin(async { greeting.await.unwrap_or(Outcome::Left) });
        self.guests.push_back(Guest { greeting, heard });
    }

    /// Sets what to wait for before the next accept.
    fn set_wait(&mut self) {
        self.burst += 1;
        if self.open_at > Instant::now() + SLACK {
            self.wait = Some(Box::pin(tokio::time::sleep_until(self.open_at)));
        } else if self.burst.is_multiple_of(BURST) {
            // Lets the runtime poll the sockets for data received meanwhile.
            self.wait = Some(Box::pin(tokio::task::yield_now()));
        }
    }
}

impl<L: Listen> Listen for Lobby<L> {
    type Stream = L::Stream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<L::Stream>> {
        loop {
            if let Some(stream) = self.poll_guests(context) {
                return Poll::Ready(Ok(stream));
            }
            if self.wait.is_none() && self.open_at > Instant::now() + SLACK {
                self.wait = Some(Box::pin(tokio::time::sleep_until(self.open_at)));
            }
            if let Some(wait) = &mut self.wait {
                ready!(wait.as_mut().poll(context));
                self.wait = None;
            }
            let stream = ready!(self.listener.poll_accept(context))?;
            if L::may_enter(&stream) {
                self.admit(stream);
            }
            self.set_wait();
        }
    }

    fn may_enter(_: &L::Stream) -> bool {
        true
    }

    fn name(&self) -> String {
        self.listener.name()
    }
}

/// The process's side of the handshake.
async fn greet<S>(mut stream: S, token: Arc<str>, heard: Arc<AtomicBool>) -> Outcome<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut hello = [0; HELLO_BYTES];
    if stream.read_exact(&mut hello).await.is_err() {
        return Outcome::Left;
    }
    heard.store(true, Ordering::Relaxed);
    let callee = match Callee::read(&hello) {
        Ok(callee) => callee,
        Err(fault) => {
            if matches!(fault, HandshakeFault::Version(_)) {
                // The refusal contains this version.
                let _ = stream.write_all(&handshake::refusal()).await;
            }
            return Outcome::Left;
        }
    };
    let mut proof = [0; PROOF_BYTES];
    let answered = stream.write_all(&callee.answer(&token)).await.is_ok();
    if !answered || stream.read_exact(&mut proof).await.is_err() {
        return Outcome::Left;
    }
    if callee.is_proof(&token, &proof) {
        Outcome::Proved(stream)
    } else {
        Outcome::Missed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::sync::watch;
    use tokio::time::Instant;
    use turbowish_wire::handshake::{ANSWER_BYTES, Caller, PROOF_BYTES};

    use super::{Listen, Lobby, MISS, SEATS};

    const TOKEN: &str = "5f2c9a7be01d4386";
    const HELLO_TIME: Duration = Duration::from_secs(2);

    /// Connections made by the test.
    #[derive(Clone, Default)]
    struct Street(Arc<Mutex<(VecDeque<DuplexStream>, Option<Waker>)>>);

    impl Street {
        fn connect(&self) -> DuplexStream {
            let (near, far) = tokio::io::duplex(256);
            let mut queue = self.0.lock().unwrap();
            queue.0.push_back(near);
            queue.1.take().into_iter().for_each(Waker::wake);
            far
        }
    }

    impl Listen for Street {
        type Stream = DuplexStream;

        fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<DuplexStream>> {
            let mut queue = self.0.lock().unwrap();
            queue.1 = Some(context.waker().clone());
            queue
                .0
                .pop_front()
                .map_or(Poll::Pending, |stream| Poll::Ready(Ok(stream)))
        }

        fn may_enter(_: &DuplexStream) -> bool {
            true
        }

        fn name(&self) -> String {
            "street".to_owned()
        }
    }

    type Lines = Arc<Mutex<Vec<String>>>;

    /// A lobby that is open until the test is over, the number of connections let in, and the lines
    /// printed.
    fn open() -> (Street, watch::Receiver<usize>, Lines) {
        let street = Street::default();
        let lines = Lines::default();
        let (count, entered) = watch::channel(0);
        let said = Arc::clone(&lines);
        let say: super::Say = Arc::new(move |line| said.lock().unwrap().push(line.to_owned()));
        let mut lobby = Lobby::new(street.clone(), TOKEN, HELLO_TIME, say);
        tokio::spawn(async move {
            let mut inside = Vec::new();
            loop {
                let next = std::future::poll_fn(|context| lobby.poll_accept(context));
                inside.push(next.await.unwrap());
                count.send_modify(|count| *count += 1);
            }
        });
        (street, entered, lines)
    }

    async fn one(entered: &mut watch::Receiver<usize>) {
        entered.wait_for(|entered| *entered == 1).await.unwrap();
    }

    /// Greets with a token; returns whether the process accepted the connection's frames.
    async fn greet(stream: &mut DuplexStream, token: &str) -> io::Result<()> {
        let caller = Caller::begin()?;
        stream.write_all(&caller.hello()).await?;
        let mut answer = [0; ANSWER_BYTES];
        stream.read_exact(&mut answer).await?;
        // A client without the token cannot check the answer, and continues.
        let proof = caller.prove(token, &answer).unwrap_or([0x5a; PROOF_BYTES]);
        stream.write_all(&proof).await
    }

    /// Waits until the other end has closed the connection.
    async fn gone(stream: &mut DuplexStream) {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    }

    #[tokio::test(start_paused = true)]
    async fn who_knows_the_token_is_let_in() {
        let (street, mut entered, lines) = open();
        let mut console = street.connect();
        greet(&mut console, TOKEN).await.unwrap();
        one(&mut entered).await;
        assert!(lines.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_too_little_is_let_go_in_time() {
        let (street, entered, _) = open();
        let before = Instant::now();
        let mut silent = street.connect();
        let mut half = street.connect();
        half.write_all(b"turbowish").await.unwrap();
        let mut no_proof = street.connect();
        let caller = Caller::begin().unwrap();
        no_proof.write_all(&caller.hello()).await.unwrap();
        for stream in [&mut silent, &mut half, &mut no_proof] {
            gone(stream).await;
        }
        assert!(before.elapsed() >= HELLO_TIME);
        assert_eq!(*entered.borrow(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_silent_make_room_the_oldest_first() {
        let (street, mut entered, _) = open();
        let mut silent: Vec<_> = (0..SEATS).map(|_| street.connect()).collect();
        let mut last = street.connect();
        gone(&mut silent[0]).await;
        let before = Instant::now();
        greet(&mut last, TOKEN).await.unwrap();
        one(&mut entered).await;
        assert!(
            before.elapsed() < HELLO_TIME / 10,
            "nobody else is waited for"
        );
        for stream in &mut silent[1..] {
            stream.write_all(b"t").await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_spoken_stays_before_the_silent() {
        let (street, mut entered, _) = open();
        let mut console = street.connect();
        let caller = Caller::begin().unwrap();
        console.write_all(&caller.hello()).await.unwrap();
        let mut answer = [0; ANSWER_BYTES];
        console.read_exact(&mut answer).await.unwrap();
        let mut silent: Vec<_> = (0..3 * SEATS).map(|_| street.connect()).collect();
        gone(&mut silent[SEATS]).await;
        let proof = caller.prove(TOKEN, &answer).unwrap();
        console.write_all(&proof).await.unwrap();
        one(&mut entered).await;
    }

    #[tokio::test(start_paused = true)]
    async fn guesses_have_a_pace() {
        const GUESSES: u32 = 200;
        let (street, entered, lines) = open();
        let before = Instant::now();
        for _ in 0..GUESSES {
            let mut stream = street.connect();
            greet(&mut stream, "5f2c9a7be01d4387").await.unwrap();
            gone(&mut stream).await;
        }
        assert!(before.elapsed() >= MISS * (GUESSES - 2));
        assert_eq!(*entered.borrow(), 0);
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 8, "at 1, 2, 4, ... 128: {lines:?}");
        let expected = "a client tried to attach to street with a wrong token (128 times so far)";
        assert_eq!(lines[7], expected);
    }
}
