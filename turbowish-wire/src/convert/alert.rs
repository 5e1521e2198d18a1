//! Alerts: `behind` of the model is three fields of the message.

use turbowish_model::snapshot::alert::{Alert, Behind};

use super::Malformed;
use super::mirror::{Mirror, message};
use crate::encode::{Encode, Output, put};
use crate::proto;

impl From<Alert> for proto::Alert {
    fn from(alert: Alert) -> Self {
        let Alert {
            pitfall,
            severity,
            since,
            held_ns,
            holds,
            certain,
            title,
            summary,
            parties,
            at,
            steps,
            behind,
            why,
            fixes,
            began_unix_ns,
            ended_unix_ns,
            times,
            last_unix_ns,
            recent,
            unpolled_ns,
            behind_unknown,
            on_cpu_ns,
            on_cpu_of_ns,
        } = alert;
        Self {
            pitfall: pitfall.send(),
            severity: severity.send(),
            since,
            held_ns,
            holds,
            certain,
            title,
            summary,
            parties: parties.send(),
            at: at.send(),
            steps: steps.send(),
            behind: behind.tasks.send(),
            behind_unlisted: behind.unlisted,
            behind_waits: behind.waits.send(),
            why,
            fixes,
            began_unix_ns,
            ended_unix_ns,
            times,
            last_unix_ns,
            recent: recent.send(),
            unpolled_ns,
            behind_unknown,
            on_cpu_ns,
            on_cpu_of_ns,
        }
    }
}

impl Encode for Alert {
    fn encode(&self, output: &mut Output) {
        let Self {
            pitfall,
            severity,
            since,
            held_ns,
            holds,
            certain,
            title,
            summary,
            parties,
            at,
            steps,
            behind:
                Behind {
                    tasks,
                    unlisted,
                    waits,
                },
            why,
            fixes,
            began_unix_ns,
            ended_unix_ns,
            times,
            last_unix_ns,
            recent,
            unpolled_ns,
            behind_unknown,
            on_cpu_ns,
            on_cpu_of_ns,
        } = self;
        put!(output, Alert {
            pitfall severity since held_ns holds certain title summary parties at steps why fixes
            began_unix_ns ended_unix_ns times last_unix_ns recent unpolled_ns
            behind_unknown on_cpu_ns on_cpu_of_ns
        } and { behind: tasks, behind_unlisted: unlisted, behind_waits: waits });
    }
}

impl TryFrom<proto::Alert> for Alert {
    type Error = Malformed;

    fn try_from(alert: proto::Alert) -> Result<Self, Malformed> {
        Ok(Self {
            pitfall: Mirror::receive(alert.pitfall, "Alert.pitfall")?,
            severity: Mirror::receive(alert.severity, "Alert.severity")?,
            since: alert.since,
            held_ns: alert.held_ns,
            holds: alert.holds,
            certain: alert.certain,
            title: alert.title,
            summary: alert.summary,
            parties: Mirror::receive(alert.parties, "Alert.parties")?,
            at: Mirror::receive(alert.at, "Alert.at")?,
            steps: Mirror::receive(alert.steps, "Alert.steps")?,
            behind: Behind {
                tasks: Mirror::receive(alert.behind, "Alert.behind")?,
                unlisted: alert.behind_unlisted,
                waits: Mirror::receive(alert.behind_waits, "Alert.behind_waits")?,
            },
            why: alert.why,
            fixes: alert.fixes,
            began_unix_ns: alert.began_unix_ns,
            ended_unix_ns: alert.ended_unix_ns,
            times: alert.times,
            last_unix_ns: alert.last_unix_ns,
            recent: Mirror::receive(alert.recent, "Alert.recent")?,
            unpolled_ns: alert.unpolled_ns,
            behind_unknown: alert.behind_unknown,
            on_cpu_ns: alert.on_cpu_ns,
            on_cpu_of_ns: alert.on_cpu_of_ns,
        })
    }
}

message!(Alert = Alert);
