//! Lease renewal. Tasks paused by this console stay paused while it runs: it renews each lease
//! before half of it has passed.

use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use turbowish_model::snapshot::units::SECOND;
use turbowish_wire::client::{ClientError, Connection};
use turbowish_wire::{Action, PauseTask};

use super::{Envelope, PAUSE};
use crate::commands::pause::LEASE_NS;
use crate::tui::message::Message;
use crate::tui::state::PausedTask;

/// Interval of lease renewal; a lease is three times as long.
const RENEWAL: Duration = Duration::from_nanos(LEASE_NS / 3);
/// Maximal wait for a process when the console exits: its tasks are resumed when the lease expires.
const FAREWELL: Duration = Duration::from_secs(2);
/// Maximal wait for a process whose tasks are to stay paused.
const KEEPING: Duration = Duration::from_secs(5);
/// Interval between two attempts on exit.
const AGAIN: Duration = Duration::from_millis(100);

/// The tasks that renew leases.
#[derive(Debug, Default)]
pub(super) struct LeaseRenewals(Vec<(PausedTask, AbortHandle)>);

impl LeaseRenewals {
    /// Renews the leases of these tasks, and of no others.
    pub(super) fn follow(&mut self, holds: &[PausedTask], inbox: &Sender<Envelope>) {
        self.0.retain(|(hold, renewal)| {
            let stays = holds.contains(hold);
            if !stays {
                renewal.abort();
            }
            stays
        });
        for hold in holds {
            if !self.0.iter().any(|(known, _)| known == hold) {
                let renewal = tokio::spawn(renew(hold.clone(), inbox.clone()));
                self.0.push((hold.clone(), renewal.abort_handle()));
            }
        }
    }
}

/// Renews a lease until the task is no longer paused, or is paused by another console.
async fn renew(hold: PausedTask, inbox: Sender<Envelope>) {
    let mut wait = RENEWAL;
    loop {
        sleep(wait).await;
        wait = match pause(&hold, Some(LEASE_NS), true).await {
            Ok(()) => RENEWAL,
            Err(fault) if is_final(&fault) => {
                let told = Message::Unheld(hold, fault.to_string());
                return tell(&inbox, told).await;
            }
            // The process is stopped, and its lease stands still; or it is busy, and its lease
            // lasts for some more attempts.
            Err(_) => PAUSE,
        };
    }
}

/// Pauses a task with a lease.
pub(super) async fn begin(hold: PausedTask, inbox: Sender<Envelope>) {
    let answer = pause(&hold, Some(LEASE_NS), false).await;
    let answer = answer.map_err(|fault| fault.to_string());
    tell(&inbox, Message::Paused(hold, answer)).await;
}

/// Resumes a task.
pub(super) async fn end(hold: PausedTask, inbox: Sender<Envelope>) {
    let answer = resume(&hold).await.map_err(|fault| fault.to_string());
    tell(&inbox, Message::Resumed(hold, answer)).await;
}

/// Resumes the tasks before the console exits, or keeps them paused until someone resumes them.
/// Returns the messages about failures.
pub(super) async fn settle(holds: Vec<PausedTask>, keep: bool) -> Vec<String> {
    let mut settled = JoinSet::new();
    for hold in holds {
        settled.spawn(async move {
            if keep {
                return stay(&hold).await.err();
            }
            // If a process does not answer, its tasks are resumed when the lease expires.
            let _ = timeout(FAREWELL, resume(&hold)).await;
            None
        });
    }
    settled.join_all().await.into_iter().flatten().collect()
}

/// Removes the lease from a paused task; repeats the attempt as long as that can help.
async fn stay(hold: &PausedTask) -> Result<(), String> {
    let mut reason = "no answer".to_owned();
    let tries = async {
        loop {
            match pause(hold, None, true).await {
                Ok(()) => return Ok(()),
                Err(fault) if is_final(&fault) => {
                    return Err(format!("{} does not stay paused: {fault}", hold.name));
                }
                Err(fault) => reason = fault.to_string(),
            }
            sleep(AGAIN).await;
        }
    };
    let stays = timeout(KEEPING, tries).await;
    stays.unwrap_or_else(|_| Err(leased(hold, &reason)))
}

/// `conn:51022 goes on within 60 s: it does not answer; it stays paused with: turbowish pause 4242
/// 17 --keep`
fn leased(hold: &PausedTask, reason: &str) -> String {
    let (name, seconds, peer, task) = (&hold.name, LEASE_NS / SECOND, hold.peer.word(), hold.task);
    format!(
        "{name} resumes within {seconds} s: {reason}; to keep it paused: turbowish pause {peer} {task} --keep"
    )
}

/// Whether further attempts are useless.
const fn is_final(fault: &ClientError) -> bool {
    matches!(
        fault,
        ClientError::NoTask { .. }
            | ClientError::Refused { .. }
            | ClientError::ReadOnly { .. }
            | ClientError::NoProcess { .. }
    )
}

async fn pause(hold: &PausedTask, lease_ns: Option<u64>, renew: bool) -> Result<(), ClientError> {
    let order = PauseTask {
        task: hold.task,
        by: format!("console pid {}", std::process::id()),
        lease_ns,
        renew,
    };
    let connection = Connection::connect(&hold.peer.target).await?;
    connection.control(Action::PauseTask(order)).await?;
    Ok(())
}

async fn resume(hold: &PausedTask) -> Result<(), ClientError> {
    let connection = Connection::connect(&hold.peer.target).await?;
    connection.control(Action::ResumeTask(hold.task)).await?;
    Ok(())
}

async fn tell(inbox: &Sender<Envelope>, message: Message) {
    let _ = inbox.send(message.into()).await;
}

#[cfg(test)]
mod tests {
    use turbowish_wire::client::Target;

    use super::{PausedTask, leased};
    use crate::tui::state::Peer;

    #[test]
    fn whose_lease_runs_on_is_told_with_what_to_do() {
        let hold = PausedTask {
            peer: Peer {
                pid: Some(4242),
                target: Target::Pid(4242),
            },
            task: 17,
            name: "serve-17".to_owned(),
        };
        let expected = "serve-17 resumes within 60 s: no answer; to keep it paused: turbowish pause 4242 17 --keep";
        assert_eq!(leased(&hold, "no answer"), expected);
    }
}
