//! Execution of a [`Command`] on the store, which yields a [`Reply`].

use crate::command::{Command, Unit, about};
use crate::db::{Blob, Ttl};
use crate::error::Refusal;
use crate::resp::Reply;
use crate::server::Shared;

/// Does a command. `QUIT` is agreed to here; closing is the connection's business.
///
/// Not instrumented: it only passes on to the store, so its time is that of [`conn::serve`](crate::conn::serve).
pub(crate) async fn apply(command: Command, shared: &Shared) -> Result<Reply, Refusal> {
    let db = &shared.db;
    Ok(match command {
        Command::Ping(None) => Reply::Status("PONG"),
        Command::Ping(Some(message)) | Command::Echo(message) => Reply::Bulk(message),
        Command::Get(key) => Reply::optional(db.get(&key).await?),
        Command::Set {
            key,
            value,
            expiry,
            condition,
        } => match db.set(key, value, expiry, condition).await {
            true => Reply::OK,
            false => Reply::Null,
        },
        Command::Del(keys) => Reply::count(db.del(&keys).await),
        Command::Exists(keys) => Reply::count(db.exists(&keys).await),
        Command::Incr(key, by) => Reply::Integer(db.incr(key, by).await?),
        Command::Push(key, values, end) => Reply::count(db.push(key, values, end).await?),
        Command::Pop(key, None, end) => one(db.pop(&key, end, 1).await?),
        Command::Pop(key, Some(count), end) => some(db.pop(&key, end, count).await?),
        Command::Range(key, start, stop) => Reply::bulks(db.range(&key, start, stop).await?),
        Command::Length(key) => Reply::count(db.length(&key).await?),
        Command::MSet(pairs) => {
            db.mset(pairs).await;
            Reply::OK
        }
        Command::MGet(keys) => {
            let values = db.mget(&keys).await;
            Reply::Array(values.into_iter().map(Reply::optional).collect())
        }
        Command::Expire(key, ms) => Reply::Integer(db.expire(key, ms).await.into()),
        Command::Ttl(key, unit) => Reply::Integer(ttl(db.ttl(&key).await, unit)),
        Command::DbSize => Reply::count(db.len().await),
        Command::FlushAll => {
            db.clear().await;
            Reply::OK
        }
        Command::ConfigGet(patterns) => about::config(shared, &patterns),
        Command::Describe(names) => about::describe(names),
        Command::CountCommands => about::count(),
        Command::Docs => Reply::Array(Vec::new()),
        Command::Select | Command::ClientNote | Command::Quit => Reply::OK,
        Command::Hello => about::hello(),
        Command::Info => about::info(shared, db.len().await),
    })
}

/// The answer of a pop without a count.
fn one(popped: Option<Vec<Blob>>) -> Reply {
    Reply::optional(popped.and_then(|mut values| values.pop()))
}

/// The answer of a pop with a count.
fn some(popped: Option<Vec<Blob>>) -> Reply {
    popped.map_or(Reply::NullArray, Reply::bulks)
}

/// Seconds are rounded to the nearest, as clients of this protocol expect.
fn ttl(ttl: Ttl, unit: Unit) -> i64 {
    let left = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    match (ttl, unit) {
        (Ttl::Missing, _) => -2,
        (Ttl::Forever, _) => -1,
        (Ttl::Left(ms), Unit::Milliseconds) => left(ms),
        (Ttl::Left(ms), Unit::Seconds) => left(ms.saturating_add(500) / 1_000),
    }
}
