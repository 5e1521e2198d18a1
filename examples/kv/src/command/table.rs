//! The commands as data, sorted by name: for the output of `COMMAND`, for checks, and for parsing.

use crate::command::Command;
use crate::command::parse::{self, Args};
use crate::db::End;
use crate::error::Refusal;

/// One command.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Its name, in lower case.
    pub(super) name: &'static str,
    /// Number of words with the name; negative: at least so many.
    pub(super) arity: i64,
    /// Whether it changes keys.
    pub(super) writes: bool,
    /// Positions of the first and the last key (negative: from the end) and the distance between two; zeros: no keys.
    pub(super) keys: (i64, i64, i64),
    /// Understands the arguments.
    pub(super) parse: fn(&mut Args) -> Result<Command, Refusal>,
}

const NONE: (i64, i64, i64) = (0, 0, 0);
const FIRST: (i64, i64, i64) = (1, 1, 1);
const ALL: (i64, i64, i64) = (1, -1, 1);
const PAIRS: (i64, i64, i64) = (1, -1, 2);

const fn reads(
    name: &'static str,
    arity: i64,
    keys: (i64, i64, i64),
    parse: fn(&mut Args) -> Result<Command, Refusal>,
) -> Row {
    Row {
        name,
        arity,
        writes: false,
        keys,
        parse,
    }
}

const fn writes(
    name: &'static str,
    arity: i64,
    keys: (i64, i64, i64),
    parse: fn(&mut Args) -> Result<Command, Refusal>,
) -> Row {
    let row = reads(name, arity, keys, parse);
    Row {
        writes: true,
        ..row
    }
}

/// All commands, by name.
pub(super) static COMMANDS: [Row; 31] = [
    reads("client", -2, NONE, parse::client),
    reads("command", -1, NONE, parse::command),
    reads("config", -2, NONE, parse::config),
    reads("dbsize", 1, NONE, |_| Ok(Command::DbSize)),
    writes("decr", 2, FIRST, |args| Ok(Command::Incr(args.blob()?, -1))),
    writes("decrby", 3, FIRST, parse::decrby),
    writes("del", -2, ALL, |args| Ok(Command::Del(args.rest()))),
    reads("echo", 2, NONE, |args| Ok(Command::Echo(args.blob()?))),
    reads("exists", -2, ALL, |args| Ok(Command::Exists(args.rest()))),
    writes("expire", 3, FIRST, parse::expire),
    writes("flushall", -1, NONE, parse::flushall),
    reads("get", 2, FIRST, |args| Ok(Command::Get(args.blob()?))),
    reads("hello", -1, NONE, parse::hello),
    writes("incr", 2, FIRST, |args| Ok(Command::Incr(args.blob()?, 1))),
    writes("incrby", 3, FIRST, parse::incrby),
    reads("info", -1, NONE, |_| Ok(Command::Info)),
    reads("llen", 2, FIRST, |args| Ok(Command::Length(args.blob()?))),
    writes("lpop", -2, FIRST, |args| parse::pop(args, End::Left)),
    writes("lpush", -3, FIRST, |args| parse::push(args, End::Left)),
    reads("lrange", 4, FIRST, parse::lrange),
    reads("mget", -2, ALL, |args| Ok(Command::MGet(args.rest()))),
    writes("mset", -3, PAIRS, parse::mset),
    writes("pexpire", 3, FIRST, parse::pexpire),
    reads("ping", -1, NONE, parse::ping),
    reads("pttl", 2, FIRST, parse::pttl),
    reads("quit", -1, NONE, |_| Ok(Command::Quit)),
    writes("rpop", -2, FIRST, |args| parse::pop(args, End::Right)),
    writes("rpush", -3, FIRST, |args| parse::push(args, End::Right)),
    reads("select", 2, NONE, parse::select),
    writes("set", -3, FIRST, parse::set),
    reads("ttl", 2, FIRST, parse::ttl),
];

/// The row of a command; the name in any case.
pub(super) fn find(name: &[u8]) -> Option<&'static Row> {
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    let found = COMMANDS.binary_search_by(|row| row.name.bytes().cmp(name.iter().map(lower)));
    found.ok().map(|at| &COMMANDS[at])
}
