//! Information about the server: `CONFIG GET`, `COMMAND`, `HELLO`, `INFO`.

use std::sync::atomic::Ordering;

use crate::command::table::{self, COMMANDS, Row};
use crate::db::Blob;
use crate::resp::Reply;
use crate::server::Shared;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The settings whose names match one of the patterns, name and value in turn.
pub(super) fn config(shared: &Shared, patterns: &[Blob]) -> Reply {
    let config = &shared.config;
    let seconds = config.snapshot_every.as_secs();
    let settings = [
        ("appendonly", "no".to_owned()),
        ("bind", config.address.to_string()),
        ("databases", "1".to_owned()),
        ("dir", config.dir.display().to_string()),
        ("maxclients", config.max_clients.to_string()),
        ("maxmemory", "0".to_owned()),
        ("port", shared.port.to_string()),
        ("proto-max-bulk-len", config.max_request_bytes.to_string()),
        ("save", format!("{seconds} 1")),
    ];
    let wanted = |name: &str| {
        let name = name.as_bytes();
        let fits = |pattern: &Blob| matches(&pattern.to_ascii_lowercase(), name);
        patterns.iter().any(fits)
    };
    let found = settings.iter().filter(|(name, _)| wanted(name));
    let both = found.flat_map(|(name, value)| [Reply::text(name), Reply::text(value)]);
    Reply::Array(both.collect())
}

/// Whether a text matches a pattern, where `*` stands for anything and `?` for one byte.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // Where to try again: behind the last star, with one more byte given to it.
    let mut again = None;
    let (mut p, mut t) = (0, 0);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                again = Some((p, t));
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match again {
                None => return false,
                Some((after, from)) => {
                    again = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// The rows of the table with these names (null where there is none), or all.
pub(super) fn describe(names: Option<Vec<Blob>>) -> Reply {
    Reply::Array(match names {
        None => COMMANDS.iter().map(describe_row).collect(),
        Some(names) => names
            .iter()
            .map(|name| table::find(name).map_or(Reply::NullArray, describe_row))
            .collect(),
    })
}

fn describe_row(row: &Row) -> Reply {
    let (first, last, step) = row.keys;
    let flag = if row.writes { "write" } else { "readonly" };
    Reply::Array(vec![
        Reply::text(row.name),
        Reply::Integer(row.arity),
        Reply::Array(vec![Reply::Status(flag)]),
        Reply::Integer(first),
        Reply::Integer(last),
        Reply::Integer(step),
    ])
}

/// How many commands there are.
pub(super) fn count() -> Reply {
    Reply::count(COMMANDS.len())
}

/// Who speaks, and in which protocol.
pub(super) fn hello() -> Reply {
    Reply::Array(vec![
        Reply::text("server"),
        Reply::text("turbowish-kv"),
        Reply::text("version"),
        Reply::text(VERSION),
        Reply::text("proto"),
        Reply::Integer(2),
        Reply::text("mode"),
        Reply::text("standalone"),
        Reply::text("role"),
        Reply::text("master"),
        Reply::text("modules"),
        Reply::Array(Vec::new()),
    ])
}

/// A few lines for people.
pub(super) fn info(shared: &Shared, keys: usize) -> Reply {
    let uptime = shared.started.elapsed().as_secs();
    let clients = shared.clients.load(Ordering::Relaxed);
    let (process, port) = (std::process::id(), shared.port);
    Reply::text(&format!(
        "# Server\r\nserver_name:turbowish-kv\r\nserver_version:{VERSION}\r\n\
         redis_mode:standalone\r\nprocess_id:{process}\r\ntcp_port:{port}\r\n\
         uptime_in_seconds:{uptime}\r\n\r\n# Clients\r\nconnected_clients:{clients}\r\n\r\n\
         # Keyspace\r\ndb0:keys={keys}\r\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        let check = |pattern: &str, text: &str, expected| {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} on {text}");
        };
        check("save", "save", true);
        check("save", "saved", false);
        check("save", "sav", false);
        check("*", "", true);
        check("", "", true);
        check("", "a", false);
        check("?", "", false);
        check("s?ve", "save", true);
        check("max*", "maxclients", true);
        check("*max*", "proto-max-bulk-len", true);
        check("*len", "proto-max-bulk-len", true);
        check("p*t", "port", true);
        check("p*t*b", "proto-max-bulk-len", false);
    }
}
