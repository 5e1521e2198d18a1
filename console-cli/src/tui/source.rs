//! Data sources that the state requests: a watched process, with automatic reconnection, the states
//! of a recording, and the list of processes, once a second.

mod histories;
mod holds;
mod states;
mod tapes;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use turbowish_model::query::Query;
use turbowish_model::snapshot::units::SECOND;
use turbowish_model::snapshot::{Accounting, Snapshot};
use turbowish_wire::client::{self, ClientError, Connection, Found, Target};
use turbowish_wire::{Action, discovery};

use self::holds::LeaseRenewals;
use self::states::States;
use self::tapes::TapeRun;
use super::clock;
use super::lock::lock;
use super::message::Message;
use super::state::{Leap, Listed, Past, PausedTask, Peer, PeerState, Wanted};
use crate::recording::Recording;
use crate::source;

/// Interval between two attempts, and between two checks of a silent process.
const PAUSE: Duration = Duration::from_secs(1);
/// Minimal interval between two requests: while a filter is typed, a request is sent twice, not for
/// each letter.
const HURRY: Duration = Duration::from_millis(500);
const REST: Duration = Duration::from_millis(150);
/// Time limit for a process of the list; after that it is shown without numbers.
const LIST_PATIENCE: Duration = Duration::from_millis(300);

/// A message, and its subscription: messages of an older subscription are not shown.
#[derive(Debug)]
pub(super) struct Envelope {
    generation: Option<u64>,
    pub(super) message: Message,
    /// Accompanies a snapshot: the next one is not read before this is dropped.
    _turn: Option<OwnedSemaphorePermit>,
}

/// Messages without a subscription are always delivered.
impl From<Message> for Envelope {
    fn from(message: Message) -> Self {
        Self {
            generation: None,
            message,
            _turn: None,
        }
    }
}

/// The tasks that send to the inbox.
#[derive(Debug)]
pub(super) struct Source {
    inbox: Sender<Envelope>,
    /// Limits the snapshots on their way to the inbox to one, whatever else the console does: a
    /// snapshot may take ten megabytes.
    turns: Arc<Semaphore>,
    interval: Duration,
    wanted: Wanted,
    /// The time of the last change of the subscription.
    asked: Option<Instant>,
    generation: u64,
    watcher: Option<AbortHandle>,
    lister: Option<AbortHandle>,
    keepers: LeaseRenewals,
    historian: Option<AbortHandle>,
    /// The recording that is written, until its end was shown.
    tape: Option<TapeRun>,
    /// The recording that is shown, or the states that the process kept when they were requested
    /// last.
    states: Arc<Mutex<Option<States>>>,
}

impl Source {
    pub(super) fn new(
        inbox: Sender<Envelope>,
        interval: Duration,
        recording: Option<Recording>,
    ) -> Self {
        Self {
            inbox,
            turns: Arc::new(Semaphore::new(1)),
            interval,
            wanted: Wanted::default(),
            asked: None,
            generation: 0,
            watcher: None,
            lister: None,
            keepers: LeaseRenewals::default(),
            historian: None,
            tape: None,
            states: Arc::new(Mutex::new(recording.map(States::new))),
        }
    }

    /// Whether a message belongs to the current subscription.
    pub(super) fn is_current(&self, told: &Envelope) -> bool {
        told.generation
            .is_none_or(|generation| generation == self.generation)
    }

    /// Subscribes again, because data that arrived while the console was suspended are old.
    pub(super) fn renew(&mut self) {
        self.wanted.watch = None;
    }

    /// Starts new subscriptions, and stops those that are no longer wanted.
    pub(super) fn follow(&mut self, wanted: Wanted) {
        let asked = |wanted: &Wanted| {
            (
                wanted.watch.clone(),
                wanted.past.clone(),
                wanted.survey.clone(),
            )
        };
        if asked(&wanted) != asked(&self.wanted) {
            let last = self.asked.replace(Instant::now());
            let hurries = last.is_some_and(|last| last.elapsed() < HURRY);
            let rest = if hurries { REST } else { Duration::ZERO };
            self.watcher.take().inspect(AbortHandle::abort);
            self.generation += 1;
            if let (Some(states), Some(state)) = (self.states(), wanted.past.clone()) {
                let (inbox, survey) = (self.inbox.clone(), wanted.survey.clone());
                let sending = states.send(state, survey, inbox, self.generation);
                self.watcher = Some(tokio::spawn(sending).abort_handle());
            } else if let Some((peer, query)) = wanted.watch.clone() {
                let watcher = Watcher {
                    inbox: self.inbox.clone(),
                    turns: Arc::clone(&self.turns),
                    generation: self.generation,
                    interval: self.interval,
                    peer,
                    query,
                    survey: wanted.survey.clone(),
                    rest,
                };
                self.watcher = Some(tokio::spawn(watcher.run()).abort_handle());
            }
        }
        if wanted.listing != self.wanted.listing {
            self.lister.take().inspect(AbortHandle::abort);
            if wanted.listing {
                self.lister = Some(tokio::spawn(list(self.inbox.clone())).abort_handle());
            }
        }
        if wanted.history != self.wanted.history {
            self.historian.take().inspect(AbortHandle::abort);
            if let Some(query) = wanted.history.clone() {
                let following = histories::follow(query, self.states(), self.inbox.clone());
                self.historian = Some(tokio::spawn(following).abort_handle());
            }
        }
        if wanted.holds != self.wanted.holds {
            self.keepers.follow(&wanted.holds, &self.inbox);
        }
        self.wanted = wanted;
    }

    /// Asks a process to pause a task.
    pub(super) fn pause(&self, hold: PausedTask) {
        tokio::spawn(holds::begin(hold, self.inbox.clone()));
    }

    /// Asks a process to resume a task.
    pub(super) fn resume(&self, hold: PausedTask) {
        tokio::spawn(holds::end(hold, self.inbox.clone()));
    }

    /// Resumes the paused tasks before the console exits, or keeps them paused. Returns the
    /// messages about that.
    pub(super) async fn settle(&self, keep: bool) -> Vec<String> {
        holds::settle(self.wanted.holds.clone(), keep).await
    }

    /// Requests a snapshot from the watched process, to be written to a file.
    pub(super) fn fetch(&self, query: Box<Query>, file: Option<String>) {
        let inbox = self.inbox.clone();
        let (watch, past) = (self.wanted.watch.clone(), self.wanted.past.clone());
        let states = self.states();
        tokio::spawn(async move {
            let answer = match (watch, states, past) {
                (Some((peer, _)), ..) => whole(&peer.target, &query).await,
                (None, Some(states), Some((nth, _))) => states.read(nth, *query).await,
                _ => return,
            };
            let message = Message::Fetched(answer, file);
            // If nobody receives it, the console is exiting.
            let _ = inbox.send(message.into()).await;
        });
    }

    fn states(&self) -> Option<States> {
        lock(&self.states).clone()
    }

    /// Requests the states that the watched process keeps.
    pub(super) fn rewind(&self, leap: Leap) {
        let Some((peer, _)) = self.wanted.watch.clone() else {
            return;
        };
        let (inbox, states) = (self.inbox.clone(), Arc::clone(&self.states));
        tokio::spawn(async move {
            let message = Message::Kept(leap, kept(&peer.target, &states).await);
            let _ = inbox.send(message.into()).await;
        });
    }

    /// Writes what a process keeps to a new file.
    pub(super) fn snapshot(&self, peer: Peer, name: String) {
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            let written = tapes::snapshot(&peer.target, &name).await;
            let _ = inbox.send(Message::Copied(written).into()).await;
        });
    }

    /// Begins to record a process to a new file.
    pub(super) fn record(&mut self, peer: Peer, name: String) {
        let run = TapeRun::begin(peer.target, name, self.inbox.clone());
        self.tape = Some(run);
    }

    /// Ends the recording.
    pub(super) fn end_record(&mut self) {
        self.tape.iter_mut().for_each(TapeRun::stop);
    }

    /// A message is shown. If it is the end of the recording, nothing is left to say about that.
    pub(super) fn shown(&mut self, message: &Message) {
        self.tape
            .take_if(|_| matches!(message, Message::TapeEnded(_)));
    }

    /// Ends the recording before the console exits. Returns the message about it, unless that was
    /// shown.
    pub(super) async fn settle_record(&mut self) -> Option<Result<String, String>> {
        Some(self.tape.take()?.settle().await)
    }

    /// Asks the watched process to arm or disarm.
    pub(super) fn switch(&self, accounting: Accounting) {
        let Some((peer, _)) = self.wanted.watch.clone() else {
            return;
        };
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            let switched = switch(&peer.target, accounting).await;
            let message = Message::Switched(switched.map_err(|fault| fault.to_string()));
            let _ = inbox.send(message.into()).await;
        });
    }
}

/// Longer than for a table of the screen: a process with many tasks takes a moment for it.
const WHOLE_PATIENCE: Duration = Duration::from_secs(10);

async fn whole(target: &Target, query: &Query) -> Result<Box<Snapshot>, String> {
    let ask = async {
        let connection = Connection::connect(target).await?;
        connection.snapshot(query).await
    };
    match timeout(WHOLE_PATIENCE, ask).await {
        Ok(Ok(snapshot)) => Ok(Box::new(snapshot)),
        Ok(Err(fault)) => Err(fault.to_string()),
        Err(_) => Err(format!("{target} does not answer")),
    }
}

/// What the title says of the states of a process that is watched.
const REWIND: &str = "REWIND";

/// Fetches the states that a process keeps, to be shown from the last one on.
async fn kept(target: &Target, states: &Mutex<Option<States>>) -> Result<Past, String> {
    let mut recording = match timeout(WHOLE_PATIENCE, source::kept(Some(target), 0)).await {
        Ok(Ok(recording)) => recording,
        Ok(Err(failure)) => return Err(failure.text()),
        Err(_) => return Err(format!("{target} does not answer")),
    };
    let last = recording.times().len().saturating_sub(1);
    let past = Past::of(&mut recording, REWIND, last);
    *lock(states) = Some(States::new(recording));
    Ok(past)
}

async fn switch(target: &Target, accounting: Accounting) -> Result<Accounting, ClientError> {
    let connection = Connection::connect(target).await?;
    Ok(connection
        .control(Action::SetAccounting(accounting))
        .await?
        .accounting)
}

/// Watches one process with one query.
struct Watcher {
    inbox: Sender<Envelope>,
    turns: Arc<Semaphore>,
    generation: u64,
    interval: Duration,
    peer: Peer,
    query: Query,
    survey: Option<Query>,
    rest: Duration,
}

impl Watcher {
    async fn run(self) {
        sleep(self.rest).await;
        let mut tries = 0;
        loop {
            let fault = match Connection::connect(&self.peer.target).await {
                Ok(connection) => self.stream(&connection, &mut tries).await,
                Err(fault) => fault,
            };
            tries += 1;
            self.tell(Message::Silent {
                tries,
                fate: self.fate(Some(fault)),
            })
            .await;
            sleep(PAUSE).await;
        }
    }

    /// Forwards snapshots until there are no more. A stopped process is waited for: its stream
    /// resumes with it.
    async fn stream(&self, connection: &Connection, tries: &mut u32) -> ClientError {
        let mut watch = match connection.watch(self.query.clone(), self.interval).await {
            Ok(watch) => watch,
            Err(fault) => return fault,
        };
        let mut pace = None;
        loop {
            // The semaphore is never closed.
            let turn = Arc::clone(&self.turns).acquire_owned().await.ok();
            match timeout(
                self.interval.max(pace.unwrap_or_default()) + PAUSE,
                watch.next(),
            )
            .await
            {
                Ok(Some(Ok(snapshot))) => {
                    *tries = 0;
                    if pace.replace(watch.pace()) != Some(watch.pace()) {
                        self.tell(Message::Pace(pace_ns(watch.pace()))).await;
                    }
                    self.survey(connection).await;
                    self.send(Message::Snapshot(Box::new(snapshot)), turn).await;
                }
                Ok(Some(Err(fault))) => return fault,
                Ok(None) => {
                    let cause = "it ended the stream".to_owned();
                    return ClientError::Gone {
                        target: self.peer.target.to_string(),
                        cause,
                    };
                }
                Err(_) => {
                    self.tell(Message::Silent {
                        tries: *tries,
                        fate: self.fate(None),
                    })
                    .await
                }
            }
        }
    }

    /// Requests the worst rows of the tables, if wanted. A process that does not answer is reported
    /// by the stream.
    async fn survey(&self, connection: &Connection) {
        let Some(query) = &self.survey else { return };
        if let Ok(Ok(found)) = timeout(PAUSE, connection.snapshot(query)).await {
            self.tell(Message::Survey(Box::new(found))).await;
        }
    }

    async fn tell(&self, message: Message) {
        self.send(message, None).await;
    }

    async fn send(&self, message: Message, turn: Option<OwnedSemaphorePermit>) {
        let told = Envelope {
            generation: Some(self.generation),
            message,
            _turn: turn,
        };
        let _ = self.inbox.send(told).await;
    }

    /// The state of a process that does not answer.
    fn fate(&self, fault: Option<ClientError>) -> PeerState {
        match self.peer.pid {
            Some(pid) if !discovery::is_alive(pid) => PeerState::Ended {
                unix_ns: clock::unix_ns(),
            },
            Some(pid) if discovery::is_stopped(pid) => PeerState::Stopped,
            _ => fault.map_or(PeerState::Running, |fault| {
                PeerState::Refused(fault.to_string())
            }),
        }
    }
}

fn pace_ns(pace: Duration) -> u64 {
    u64::try_from(pace.as_nanos()).unwrap_or(u64::MAX)
}

/// Lists the processes of this user repeatedly.
async fn list(inbox: Sender<Envelope>) {
    loop {
        let mut asked = JoinSet::new();
        for found in client::list().await.found {
            asked.spawn(ask(found));
        }
        let mut listed = asked.join_all().await;
        listed.sort_by_key(|listed| listed.peer.pid);
        let message = Message::Listed(listed);
        if inbox.send(message.into()).await.is_err() {
            return;
        }
        sleep(PAUSE).await;
    }
}

async fn ask(found: Found) -> Listed {
    let Found {
        pid,
        socket,
        answer,
    } = found;
    let peer = Peer {
        pid: Some(pid),
        target: Target::Socket(socket),
    };
    let answer = match answer {
        Ok(_) => header(&peer.target).await,
        Err(fault) => Err(fault.to_string()),
    };
    Listed { peer, answer }
}

/// The header of a process for the last ten seconds, without rows.
async fn header(target: &Target) -> Result<Snapshot, String> {
    let query = Query {
        window_ns: Some(10 * SECOND),
        ..Query::default()
    };
    let asked = async {
        let connection = Connection::connect_within(target, LIST_PATIENCE).await?;
        connection.snapshot(&query).await
    };
    match timeout(2 * LIST_PATIENCE, asked).await {
        Ok(answer) => answer.map_err(|fault| fault.to_string()),
        Err(_) => Err("does not answer".to_owned()),
    }
}
