//! A connection to a process by its name.

use std::pin::Pin;

use tonic::transport::Channel;

use super::{ClientError, Found, Target, list};

/// A connection in the making. Boxed, because the list of processes opens connections, too.
pub(super) type Opening<'a> =
    Pin<Box<dyn Future<Output = Result<Channel, ClientError>> + Send + 'a>>;

/// Opens a connection to the only process of this name.
pub(super) fn open(name: &str) -> Opening<'_> {
    Box::pin(async move {
        let found = list().await.found;
        let mut named = found.into_iter().filter(|found| is_named(found, name));
        match (named.next(), named.next()) {
            (Some(one), None) => Target::Socket(one.socket).open().await,
            (one, other) => Err(ClientError::Name {
                name: name.to_owned(),
                pids: one
                    .into_iter()
                    .chain(other)
                    .chain(named)
                    .map(|found| found.pid)
                    .collect(),
            }),
        }
    })
}

fn is_named(found: &Found, name: &str) -> bool {
    let answer = found.answer.as_ref();
    answer.is_ok_and(|process| process.name == name)
}
