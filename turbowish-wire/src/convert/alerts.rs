//! Active alerts and their subjects.

use turbowish_model::snapshot::alert as model;
use turbowish_model::snapshot::pitfall::Pitfall;

use super::{Malformed, required, rows};
use crate::proto;

impl From<model::Alert> for proto::Alert {
    fn from(alert: model::Alert) -> Self {
        let model::Alert {
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
        } = alert;
        Self {
            pitfall: pitfall.id().to_owned(),
            severity: proto::Severity::from(severity).into(),
            since,
            held_ns,
            holds,
            certain,
            title,
            summary,
            parties: parties.into_iter().map(Into::into).collect(),
            at: at.map(Into::into),
            steps: steps.into_iter().map(Into::into).collect(),
            behind: behind.tasks.into_iter().map(Into::into).collect(),
            behind_unlisted: behind.unlisted,
            why,
            fixes,
        }
    }
}

impl TryFrom<proto::Alert> for model::Alert {
    type Error = Malformed;

    fn try_from(alert: proto::Alert) -> Result<Self, Malformed> {
        let known = Pitfall::from_id(&alert.pitfall);
        let known = known.ok_or_else(|| Malformed::name("Alert.pitfall", alert.pitfall));
        Ok(Self {
            pitfall: known?,
            severity: severity(alert.severity)?,
            since: alert.since,
            held_ns: alert.held_ns,
            holds: alert.holds,
            certain: alert.certain,
            title: alert.title,
            summary: alert.summary,
            parties: rows(alert.parties)?,
            at: alert.at.map(model::Point::try_from).transpose()?,
            steps: rows(alert.steps)?,
            behind: model::Behind {
                tasks: rows(alert.behind)?,
                unlisted: alert.behind_unlisted,
            },
            why: alert.why,
            fixes: alert.fixes,
        })
    }
}

impl From<model::Severity> for proto::Severity {
    fn from(severity: model::Severity) -> Self {
        match severity {
            model::Severity::Alert => Self::Alert,
            model::Severity::Warning => Self::Warning,
            model::Severity::Note => Self::Note,
        }
    }
}

fn severity(value: i32) -> Result<model::Severity, Malformed> {
    match proto::Severity::try_from(value) {
        Ok(proto::Severity::Alert) => Ok(model::Severity::Alert),
        Ok(proto::Severity::Warning) => Ok(model::Severity::Warning),
        Ok(proto::Severity::Note) => Ok(model::Severity::Note),
        Ok(proto::Severity::Unspecified) | Err(_) => {
            Err(Malformed::unknown("Alert.severity", value))
        }
    }
}

impl From<model::Party> for proto::Party {
    fn from(party: model::Party) -> Self {
        let model::Party { kind, id, name } = party;
        let kind = match kind {
            model::PartyKind::Task => proto::PartyKind::Task,
            model::PartyKind::Resource => proto::PartyKind::Resource,
            model::PartyKind::Worker => proto::PartyKind::Worker,
            model::PartyKind::Proc => proto::PartyKind::Proc,
        };
        Self {
            kind: kind.into(),
            id,
            name,
        }
    }
}

impl TryFrom<proto::Party> for model::Party {
    type Error = Malformed;

    fn try_from(party: proto::Party) -> Result<Self, Malformed> {
        let kind = match proto::PartyKind::try_from(party.kind) {
            Ok(proto::PartyKind::Task) => model::PartyKind::Task,
            Ok(proto::PartyKind::Resource) => model::PartyKind::Resource,
            Ok(proto::PartyKind::Worker) => model::PartyKind::Worker,
            Ok(proto::PartyKind::Proc) => model::PartyKind::Proc,
            Ok(proto::PartyKind::Unspecified) | Err(_) => {
                return Err(Malformed::unknown("Party.kind", party.kind));
            }
        };
        Ok(Self {
            kind,
            id: party.id,
            name: party.name,
        })
    }
}

impl From<model::Point> for proto::AlertPoint {
    fn from(point: model::Point) -> Self {
        let model::Point { proc, place } = point;
        Self {
            proc,
            place: place.map(Into::into),
        }
    }
}

impl TryFrom<proto::AlertPoint> for model::Point {
    type Error = Malformed;

    fn try_from(point: proto::AlertPoint) -> Result<Self, Malformed> {
        Ok(Self {
            proc: point.proc,
            place: point.place.map(TryInto::try_into).transpose()?,
        })
    }
}

impl From<model::Step> for proto::AlertStep {
    fn from(step: model::Step) -> Self {
        let model::Step {
            task,
            point,
            since,
            on,
            how,
        } = step;
        Self {
            task: Some(task.into()),
            point: Some(point.into()),
            since,
            on: Some(on.into()),
            how,
        }
    }
}

impl TryFrom<proto::AlertStep> for model::Step {
    type Error = Malformed;

    fn try_from(step: proto::AlertStep) -> Result<Self, Malformed> {
        Ok(Self {
            task: required(step.task, "AlertStep.task")?,
            point: required(step.point, "AlertStep.point")?,
            since: step.since,
            on: required(step.on, "AlertStep.on")?,
            how: step.how,
        })
    }
}
