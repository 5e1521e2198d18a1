//! Service of the protocol: each request is one question to the source; the client receives the
//! source's refusals.

use std::sync::Arc;

use bytes::Bytes;
use turbowish_model::query::Query;
use turbowish_model::snapshot::Table;
use turbowish_wire::convert::{Controlled, Hello, Malformed};
use turbowish_wire::framing::{self, Unreadable};
use turbowish_wire::{Action, PROTOCOL, VERSION, proto};

use super::admit::{Gate, Pass};
use super::answer::{Answer, too_large};
use super::classes::Classes;
use super::making::{Asked, Making};
use super::quota::Account;
use super::recorder::Recorder;
use super::status::{Code, Status};
use super::watch::Watch;
use super::worker::Worker;
use super::{Config, Refused, Source};

/// Filters longer than this many bytes are answered on a thread of their own: nobody types them.
const LONG_FILTER: usize = 200;

/// The protocol's service over a source.
#[derive(Clone)]
pub(super) struct Service {
    source: Arc<dyn Source>,
    worker: Worker,
    /// Answers queries with long filters, so that no other query waits for those.
    slow_worker: Worker,
    recorder: Arc<Recorder>,
    classes: Arc<Classes>,
    read_only: bool,
    max_rows: u32,
}

/// The requests of the protocol.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    Hello,
    Read,
    Watch,
    Control,
    Past,
}

impl Method {
    /// The method with this path.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path.strip_prefix("/turbowish.v1.Turbowish/")? {
            "Hello" => Some(Self::Hello),
            "Read" => Some(Self::Read),
            "Watch" => Some(Self::Watch),
            "Control" => Some(Self::Control),
            "Past" => Some(Self::Past),
            _ => None,
        }
    }
}

impl Service {
    pub(super) fn new(source: Arc<dyn Source>, config: &Config, recorder: Arc<Recorder>) -> Self {
        Self {
            classes: Classes::new(Arc::clone(&source)),
            source,
            worker: Worker::default(),
            slow_worker: Worker::default(),
            recorder,
            read_only: config.read_only,
            max_rows: config.max_rows.max(1),
        }
    }

    /// The gate before the service.
    pub(super) fn gate(&self, max_clients: usize) -> Gate {
        Gate::new(&self.label(), max_clients)
    }

    /// Records the polls since the last look.
    pub(super) fn record_last(&self) {
        self.recorder.take_polls(&*self.source);
    }

    /// Records states on the thread that answers queries, and polls on this one.
    pub(super) fn record(&self) -> impl Future<Output = ()> + use<> {
        let recorder = Arc::clone(&self.recorder);
        recorder.run(Arc::clone(&self.source), self.worker.clone())
    }

    /// Name of this process in refusals.
    fn label(&self) -> String {
        let process = self.source.process();
        format!("{} {}", process.name, process.pid)
    }

    /// Answers a request: the frame of its message.
    pub(super) async fn answer(
        self,
        method: Method,
        frame: Vec<u8>,
        pass: Arc<Pass>,
    ) -> Result<Answer, Status> {
        let account = Arc::clone(pass.account());
        match method {
            Method::Hello => {
                framing::message::<proto::HelloRequest>(&frame).map_err(unreadable)?;
                Ok(Answer::whole(
                    account,
                    framed(framing::frame(&self.hello()))?,
                ))
            }
            Method::Read => {
                let query = self.query(framing::message(&frame).map_err(unreadable)?)?;
                let made = self.make(&Arc::new(query), &account, 0).await?;
                // Counted as a message from here on, and no more as a snapshot.
                Ok(Answer::whole(
                    account,
                    framed(framing::frame(&*made.snapshot))?,
                ))
            }
            Method::Watch => {
                let proto::WatchRequest { query, interval_ns } =
                    framing::message(&frame).map_err(unreadable)?;
                let query = query
                    .ok_or_else(|| Status::new(Code::InvalidArgument, "a watch needs a query"))?;
                let query = self.query(query)?;
                let watch = Watch::start(self, query, interval_ns, Arc::clone(&account)).await?;
                Ok(Answer::live(account, watch).await)
            }
            Method::Control => {
                let reply = self.control(&frame, &pass)?;
                Ok(Answer::whole(account, framed(framing::frame(&reply))?))
            }
            Method::Past => {
                let proto::PastRequest {
                    from_unix_ns: from,
                    to_unix_ns: to,
                } = framing::message(&frame).map_err(unreadable)?;
                if to != 0 && to < from {
                    let text = "the range ends before it begins";
                    return Err(Status::new(Code::InvalidArgument, text));
                }
                Ok(Answer::past(account, self.recorder.past(from, to)))
            }
        }
    }

    fn hello(&self) -> Hello {
        // A client of another protocol must be able to read this, and to report it.
        Hello {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            process: self.source.process(),
            read_only: self.read_only,
        }
    }

    fn control(&self, frame: &[u8], pass: &Pass) -> Result<Controlled, Status> {
        let request: proto::ControlRequest = framing::message(frame).map_err(unreadable)?;
        if self.read_only {
            let text = format!("{} is read-only: consoles can only read", self.label());
            return Err(Status::new(Code::PermissionDenied, text));
        }
        let mut recorded_before = None;
        match Action::try_from(request).map_err(malformed)? {
            Action::SetAccounting(to) => self.source.set_accounting(to),
            Action::PauseTask(order) => self.source.pause_task(&order).map_err(refused)?,
            Action::RecordEvents(_) | Action::HoldEvents(_) if !self.recorder.is_on() => {
                return Err(refused(Refused::NoRecorder));
            }
            Action::RecordEvents(classes) => recorded_before = Some(self.classes.set(classes)),
            Action::HoldEvents(classes) => {
                recorded_before = Some(pass.classes(&self.classes).ask(classes));
            }
            Action::ResumeTask(task) => self.source.resume_task(task).map_err(refused)?,
        }
        Ok(Controlled {
            process: self.source.process(),
            recorded_before,
        })
    }

    /// Converts a message to a query, within the limit of rows.
    fn query(&self, message: proto::Query) -> Result<Query, Status> {
        let mut query = Query::try_from(message).map_err(malformed)?;
        for table in Table::ALL {
            if let Some(rows) = query.rows_mut(*table) {
                rows.limit = limit(rows.limit, self.max_rows);
            }
        }
        Ok(query)
    }

    /// Begins to answer a query for the connection with this account, with counters that are at
    /// most so many nanoseconds old.
    pub(super) fn make(&self, query: &Arc<Query>, account: &Arc<Account>, age_ns: u64) -> Making {
        let asked = Asked {
            source: self.source.clone(),
            query: query.clone(),
            account: account.clone(),
            age_ns,
        };
        let worker = if query.filter_len() > LONG_FILTER {
            &self.slow_worker
        } else {
            &self.worker
        };
        Box::pin(asked.answer(worker.clone()))
    }
}

/// 0 requests the maximum.
fn limit(asked: u32, max: u32) -> u32 {
    if asked == 0 { max } else { asked.min(max) }
}

fn framed(frame: Option<Vec<u8>>) -> Result<Bytes, Status> {
    frame.map(Bytes::from).ok_or_else(too_large)
}

fn unreadable(fault: Unreadable) -> Status {
    let code = match fault {
        Unreadable::Heavy(_) => Code::OutOfRange,
        _ => Code::Internal,
    };
    Status::new(code, format!("unreadable request: {fault}"))
}

fn malformed(fault: Malformed) -> Status {
    Status::new(Code::InvalidArgument, format!("invalid request: {fault}"))
}

fn refused(why: Refused) -> Status {
    let code = match why {
        Refused::NoTask => Code::NotFound,
        _ => Code::FailedPrecondition,
    };
    Status::new(code, why.to_string())
}
