//! Service of the protocol: each request is one question to the source; the client receives the
//! source's refusals.

use std::sync::Arc;

use tonic::{Request, Response, Status};
use turbowish_model::query::Query;
use turbowish_model::snapshot::Table;
use turbowish_wire::convert::Malformed;
use turbowish_wire::proto::turbowish_server::Turbowish;
use turbowish_wire::{Action, PROTOCOL, VERSION, proto};

use super::admit::Pass;
use super::answer::Live;
use super::making::{Asked, Making};
use super::quota::Account;
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
    read_only: bool,
    max_rows: u32,
}

impl Service {
    pub(super) fn new(source: Arc<dyn Source>, config: &Config) -> Self {
        Self {
            source,
            worker: Worker::default(),
            slow_worker: Worker::default(),
            read_only: config.read_only,
            max_rows: config.max_rows.max(1),
        }
    }

    /// Name of this process in refusals.
    pub(super) fn label(&self) -> String {
        let process = self.source.process();
        format!("{} {}", process.name, process.pid)
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

    /// Begins to answer a query for the connection with this account.
    pub(super) fn make(&self, query: &Arc<Query>, account: Option<&Arc<Account>>) -> Making {
        let asked = Asked {
            source: self.source.clone(),
            query: query.clone(),
            account: account.cloned(),
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

/// The account of the connection that a request came by.
fn account<T>(request: &Request<T>) -> Option<Arc<Account>> {
    let pass = request.extensions().get::<Arc<Pass>>()?;
    Some(Arc::clone(pass.account()))
}

fn malformed(fault: Malformed) -> Status {
    Status::invalid_argument(format!("invalid request: {fault}"))
}

fn refused(why: Refused) -> Status {
    let text = why.to_string();
    match why {
        Refused::NoTask => Status::not_found(text),
        _ => Status::failed_precondition(text),
    }
}

#[tonic::async_trait]
impl Turbowish for Service {
    type WatchStream = tokio_stream::Empty<Result<proto::Snapshot, Status>>;

    async fn hello(
        &self,
        _request: Request<proto::HelloRequest>,
    ) -> Result<Response<proto::HelloReply>, Status> {
        // A client of another protocol must be able to read this, and to report it.
        Ok(Response::new(proto::HelloReply {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            process: Some(self.source.process().into()),
            read_only: self.read_only,
        }))
    }

    async fn read(
        &self,
        request: Request<proto::Query>,
    ) -> Result<Response<proto::Snapshot>, Status> {
        let account = account(&request);
        let query = self.query(request.into_inner())?;
        let made = self.make(&Arc::new(query), account.as_ref()).await?;
        let mut response = Response::new(made.snapshot);
        response.extensions_mut().insert(made.unsent);
        Ok(response)
    }

    async fn watch(
        &self,
        request: Request<proto::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let account = account(&request);
        let proto::WatchRequest { query, interval_ns } = request.into_inner();
        let query =
            self.query(query.ok_or_else(|| Status::invalid_argument("a watch needs a query"))?)?;
        let watching = account.as_ref().map(Account::watch).transpose()?;
        let watch = Watch::start(self.clone(), query, interval_ns, account, watching).await?;
        let mut response = Response::new(tokio_stream::empty());
        response.extensions_mut().insert(Live::new(watch));
        Ok(response)
    }

    async fn control(
        &self,
        request: Request<proto::ControlRequest>,
    ) -> Result<Response<proto::ControlReply>, Status> {
        if self.read_only {
            let text = format!("{} is read-only: consoles can only read", self.label());
            return Err(Status::permission_denied(text));
        }
        match Action::try_from(request.into_inner()).map_err(malformed)? {
            Action::SetAccounting(to) => self.source.set_accounting(to),
            Action::PauseTask(order) => self.source.pause_task(&order).map_err(refused)?,
            Action::ResumeTask(task) => self.source.resume_task(task).map_err(refused)?,
        }
        Ok(Response::new(proto::ControlReply {
            process: Some(self.source.process().into()),
        }))
    }
}
