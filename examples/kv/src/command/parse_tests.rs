//! Requests, and their commands or errors.

use super::parse;
use crate::command::table::COMMANDS;
use crate::command::{Command, Unit};
use crate::db::{Blob, Condition, End, Expiry};
use crate::error::Refusal;

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

fn blobs(words: &str) -> Vec<Blob> {
    words.split_whitespace().map(blob).collect()
}

fn check(line: &str, expected: Command) {
    assert_eq!(parse(blobs(line)), Ok(expected), "{line}");
}

fn refused(line: &str, expected: &str) {
    let refusal = parse(blobs(line)).expect_err(line);
    assert_eq!(refusal.to_string(), expected, "{line}");
}

fn set(expiry: Expiry, condition: Condition) -> Command {
    Command::Set {
        key: blob("k"),
        value: blob("v"),
        expiry,
        condition,
    }
}

#[test]
fn the_table_is_sorted_and_its_rows_are_found_in_any_case() {
    assert!(COMMANDS.is_sorted_by(|one, next| one.name < next.name));
    for row in &COMMANDS {
        let request = vec![blob(&row.name.to_uppercase())];
        assert!(
            !matches!(parse(request), Err(Refusal::UnknownCommand(_))),
            "{}",
            row.name
        );
    }
}

#[test]
fn set_and_its_options() {
    use Condition::{Always, IfAbsent, IfPresent};
    check("SET k v", set(Expiry::Never, Always));
    check("set k v ex 2", set(Expiry::After(2_000), Always));
    check("Set k v pX 2", set(Expiry::After(2), Always));
    check("SET k v NX", set(Expiry::Never, IfAbsent));
    check("SET k v XX PX 5", set(Expiry::After(5), IfPresent));
    check("SET k v EX 5 NX", set(Expiry::After(5_000), IfAbsent));
    check("SET k v KEEPTTL", set(Expiry::Keep, Always));
    let syntax = "ERR syntax error";
    refused("SET k v NX XX", syntax);
    refused("SET k v EX 1 PX 1", syntax);
    refused("SET k v EX", syntax);
    refused("SET k v EX 1 KEEPTTL", syntax);
    refused("SET k v SOON", syntax);
    let expire = "ERR invalid expire time in 'set' command";
    refused("SET k v EX 0", expire);
    refused("SET k v PX -1", expire);
    refused("SET k v EX 9223372036854775807", expire);
    refused(
        "SET k v EX 1.5",
        "ERR value is not an integer or out of range",
    );
}

#[test]
fn numbers() {
    check("INCR n", Command::Incr(blob("n"), 1));
    check("DECR n", Command::Incr(blob("n"), -1));
    check("INCRBY n -5", Command::Incr(blob("n"), -5));
    check("DECRBY n -5", Command::Incr(blob("n"), 5));
    let integer = "ERR value is not an integer or out of range";
    refused("INCRBY n five", integer);
    refused("INCRBY n 9223372036854775808", integer);
    refused(
        "DECRBY n -9223372036854775808",
        "ERR increment or decrement would overflow",
    );
    check("EXPIRE k 3", Command::Expire(blob("k"), 3_000));
    check("PEXPIRE k 3", Command::Expire(blob("k"), 3));
    check("EXPIRE k -3", Command::Expire(blob("k"), -3_000));
    refused("EXPIRE k soon", integer);
    refused(
        "EXPIRE k 9223372036854775807",
        "ERR invalid expire time in 'expire' command",
    );
    refused(
        "PEXPIRE k 9223372036854775807",
        "ERR invalid expire time in 'pexpire' command",
    );
    check("TTL k", Command::Ttl(blob("k"), Unit::Seconds));
    check("PTTL k", Command::Ttl(blob("k"), Unit::Milliseconds));
}

#[test]
fn lists_and_many_keys() {
    check(
        "LPUSH l a b",
        Command::Push(blob("l"), blobs("a b"), End::Left),
    );
    check(
        "RPUSH l a",
        Command::Push(blob("l"), blobs("a"), End::Right),
    );
    check("LPOP l", Command::Pop(blob("l"), None, End::Left));
    check("RPOP l 3", Command::Pop(blob("l"), Some(3), End::Right));
    refused("LPOP l -1", "ERR value is out of range, must be positive");
    refused(
        "LPOP l 1 2",
        "ERR wrong number of arguments for 'lpop' command",
    );
    check("LRANGE l 0 -1", Command::Range(blob("l"), 0, -1));
    refused(
        "LRANGE l 0 end",
        "ERR value is not an integer or out of range",
    );
    check("LLEN l", Command::Length(blob("l")));
    check("DEL a b", Command::Del(blobs("a b")));
    check("EXISTS a", Command::Exists(blobs("a")));
    check("MGET a b", Command::MGet(blobs("a b")));
    let pairs = vec![(blob("a"), blob("1")), (blob("b"), blob("2"))];
    check("MSET a 1 b 2", Command::MSet(pairs));
    refused(
        "MSET a 1 b",
        "ERR wrong number of arguments for 'mset' command",
    );
}

#[test]
fn connection_and_server() {
    check("PING", Command::Ping(None));
    check("PING hi", Command::Ping(Some(blob("hi"))));
    refused(
        "PING a b",
        "ERR wrong number of arguments for 'ping' command",
    );
    check("ECHO hi", Command::Echo(blob("hi")));
    check("SELECT 0", Command::Select);
    refused("SELECT 1", "ERR DB index is out of range");
    check("HELLO", Command::Hello);
    check("HELLO 2 SETNAME me", Command::Hello);
    refused("HELLO 3", "NOPROTO unsupported protocol version");
    refused("HELLO 2 AUTH me secret", "ERR syntax error");
    check("CLIENT SETNAME me", Command::ClientNote);
    check("CLIENT SETINFO LIB-NAME lib", Command::ClientNote);
    refused("CLIENT KILL x", "ERR unknown subcommand 'kill' of 'client'");
    check("CONFIG GET save", Command::ConfigGet(blobs("save")));
    refused(
        "CONFIG GET",
        "ERR wrong number of arguments for 'config' command",
    );
    refused(
        "CONFIG SET save x",
        "ERR unknown subcommand 'SET' of 'config'",
    );
    check("COMMAND", Command::Describe(None));
    check("COMMAND INFO get", Command::Describe(Some(blobs("get"))));
    check("COMMAND COUNT", Command::CountCommands);
    check("COMMAND DOCS get", Command::Docs);
    check("FLUSHALL ASYNC", Command::FlushAll);
    refused("FLUSHALL later", "ERR syntax error");
    check("DBSIZE", Command::DbSize);
    check("INFO server", Command::Info);
    check("QUIT", Command::Quit);
}

#[test]
fn refusals_repeat_little_of_what_they_were_sent() {
    refused("GET", "ERR wrong number of arguments for 'get' command");
    refused(
        "DBSIZE now",
        "ERR wrong number of arguments for 'dbsize' command",
    );
    refused("NOPE a", "ERR unknown command 'NOPE'");
    refused("", "ERR unknown command ''");
    let long = "x".repeat(100_000);
    refused(&long, &format!("ERR unknown command '{}'", "x".repeat(64)));
    let control = parse(vec![blob("a\r\n+OK")]).expect_err("not a command");
    assert_eq!(control.to_string(), "ERR unknown command 'a\\r\\n+OK'");
    let name = parse(vec![blob("CLIENT"), blob("SETNAME"), blob("a b")]);
    assert_eq!(name, Err(Refusal::InvalidClientName));
}
