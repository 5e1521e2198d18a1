//! Commands: [`parse`] makes one from a request or refuses it, [`apply`] executes it on the store.

mod about;
mod apply;
mod parse;
mod table;

pub(crate) use apply::apply;
pub(crate) use parse::parse;

use crate::db::{Blob, Condition, End, Expiry};

/// A unit of a time to live on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// `EXPIRE`, `TTL`, `EX`.
    Seconds,
    /// `PEXPIRE`, `PTTL`, `PX`.
    Milliseconds,
}

/// A command with its arguments understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `PING [message]`
    Ping(Option<Blob>),
    /// `ECHO message`
    Echo(Blob),
    /// `GET key`
    Get(Blob),
    /// `SET key value [NX | XX] [EX seconds | PX milliseconds | KEEPTTL]`
    Set {
        /// The key.
        key: Blob,
        /// The new value.
        value: Blob,
        /// When the key ends.
        expiry: Expiry,
        /// When the command is done at all.
        condition: Condition,
    },
    /// `DEL key...`
    Del(Vec<Blob>),
    /// `EXISTS key...`
    Exists(Vec<Blob>),
    /// `INCR`, `DECR`, `INCRBY`: key and what is added.
    Incr(Blob, i64),
    /// `LPUSH`, `RPUSH`: key, values, and where.
    Push(Blob, Vec<Blob>, End),
    /// `LPOP`, `RPOP`: key, how many (none: one, and the answer is no array), and where.
    Pop(Blob, Option<usize>, End),
    /// `LRANGE key start stop`
    Range(Blob, i64, i64),
    /// `LLEN key`
    Length(Blob),
    /// `MSET key value [key value]...`
    MSet(Vec<(Blob, Blob)>),
    /// `MGET key...`
    MGet(Vec<Blob>),
    /// `EXPIRE`, `PEXPIRE`: key and milliseconds.
    Expire(Blob, i64),
    /// `TTL`, `PTTL`
    Ttl(Blob, Unit),
    /// `DBSIZE`
    DbSize,
    /// `FLUSHALL`
    FlushAll,
    /// `CONFIG GET pattern...`
    ConfigGet(Vec<Blob>),
    /// `COMMAND`, `COMMAND INFO [name]...`; none: every command.
    Describe(Option<Vec<Blob>>),
    /// `COMMAND COUNT`
    CountCommands,
    /// `COMMAND DOCS`: there are none.
    Docs,
    /// `SELECT 0`
    Select,
    /// `CLIENT SETNAME`, `CLIENT SETINFO`: checked and agreed to; nothing here shows names.
    ClientNote,
    /// `HELLO [2]`
    Hello,
    /// `INFO`
    Info,
    /// `QUIT`
    Quit,
}
