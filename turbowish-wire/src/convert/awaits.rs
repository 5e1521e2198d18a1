//! The table of await points and their places.

use turbowish_model::snapshot as model;

use super::{Malformed, required};
use crate::proto;

impl From<model::AwaitRow> for proto::AwaitRow {
    fn from(row: model::AwaitRow) -> Self {
        let model::AwaitRow {
            proc,
            place,
            waits,
            now,
            waited_ns,
            max_wait_ns,
            share_ppm,
            cancelled,
        } = row;
        Self {
            proc,
            place: Some(place.into()),
            waits,
            now,
            waited_ns,
            max_wait_ns,
            share_ppm,
            cancelled,
        }
    }
}

impl TryFrom<proto::AwaitRow> for model::AwaitRow {
    type Error = Malformed;

    fn try_from(row: proto::AwaitRow) -> Result<Self, Malformed> {
        Ok(Self {
            proc: row.proc,
            place: required(row.place, "AwaitRow.place")?,
            waits: row.waits,
            now: row.now,
            waited_ns: row.waited_ns,
            max_wait_ns: row.max_wait_ns,
            share_ppm: row.share_ppm,
            cancelled: row.cancelled,
        })
    }
}

impl From<model::Place> for proto::Place {
    fn from(place: model::Place) -> Self {
        let model::Place {
            file,
            line,
            column,
            end_line,
            end_column,
            expr,
        } = place;
        Self {
            file,
            line,
            column,
            end_line,
            end_column,
            expr,
        }
    }
}

impl TryFrom<proto::Place> for model::Place {
    type Error = Malformed;

    fn try_from(place: proto::Place) -> Result<Self, Malformed> {
        let proto::Place {
            file,
            line,
            column,
            end_line,
            end_column,
            expr,
        } = place;
        Ok(Self {
            file,
            line,
            column,
            end_line,
            end_column,
            expr,
        })
    }
}
