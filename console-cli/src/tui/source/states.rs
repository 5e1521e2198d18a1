//! The states of a recording, read and decoded on a thread of their own: a key never waits for one.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use turbowish_model::query::Query;
use turbowish_model::snapshot::Snapshot;

use super::Envelope;
use super::histories::of_whole;
use crate::export::ExportRange;
use crate::history::{HistorySubject, SubjectHistory};
use crate::recording::Recording;
use crate::tui::lock::lock;
use crate::tui::message::Message;

/// A recording that is read one state at a time.
#[derive(Clone, Debug)]
pub(super) struct States(Arc<Mutex<Recording>>);

impl States {
    pub(super) fn new(recording: Recording) -> Self {
        Self(Arc::new(Mutex::new(recording)))
    }

    /// Reads the state of that number, with the rows of a query.
    pub(super) async fn read(&self, nth: usize, query: Query) -> Result<Box<Snapshot>, String> {
        let recording = Arc::clone(&self.0);
        let reading = spawn_blocking(move || lock(&recording).answer(nth, &query));
        match reading.await {
            Ok(Ok(answer)) => Ok(Box::new(answer.snapshot)),
            Ok(Err(failure)) => Err(failure.text()),
            Err(cause) => Err(format!("cannot read the recording: {cause}")),
        }
    }

    /// Reads what a task or a resource did in a range.
    pub(super) async fn history(
        &self,
        subject: HistorySubject,
        range: ExportRange,
    ) -> Result<SubjectHistory, String> {
        let recording = Arc::clone(&self.0);
        let reading = spawn_blocking(move || of_whole(&mut lock(&recording), subject, range));
        let read = reading.await;
        read.unwrap_or_else(|cause| Err(format!("cannot read the recording: {cause}")))
    }

    /// Sends a state to the inbox, after the worst rows of its tables if they are requested.
    pub(super) async fn send(
        self,
        (nth, query): (usize, Query),
        survey: Option<Query>,
        inbox: Sender<Envelope>,
        generation: u64,
    ) {
        let tell = async |message| {
            let told = Envelope {
                generation: Some(generation),
                message,
                _turn: None,
            };
            // If nobody receives it, the console is exiting.
            let _ = inbox.send(told).await;
        };
        if let Some(survey) = survey
            && let Ok(found) = self.read(nth, survey).await
        {
            tell(Message::Survey(found)).await;
        }
        tell(match self.read(nth, query).await {
            Ok(snapshot) => Message::Snapshot(snapshot),
            Err(reason) => Message::Unread(reason),
        })
        .await;
    }
}
