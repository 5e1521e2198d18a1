//! Parsing of requests into [`Command`]s, in which every number and every option is valid.

use std::vec;

use crate::command::{Command, Unit, table};
use crate::db::{Blob, Condition, End, Expiry, parse_integer};
use crate::error::Refusal;
use crate::resp::Request;

/// Characters of a client's own words that an error message repeats.
const QUOTED: usize = 64;

/// The arguments of a command of which the number has been checked.
pub(super) struct Args {
    command: &'static str,
    words: vec::IntoIter<Blob>,
}

impl Args {
    /// The next argument as it is.
    pub(super) fn blob(&mut self) -> Result<Blob, Refusal> {
        self.words.next().ok_or_else(|| self.wrong_arity())
    }

    /// All arguments that are left.
    pub(super) fn rest(&mut self) -> Vec<Blob> {
        self.words.by_ref().collect()
    }

    fn integer(&mut self) -> Result<i64, Refusal> {
        parse_integer(&self.blob()?).ok_or(Refusal::NotAnInteger)
    }

    /// The next argument in lower case, if there is one.
    fn keyword(&mut self) -> Option<Vec<u8>> {
        self.words.next().map(|word| word.to_ascii_lowercase())
    }

    fn end(&self) -> Result<(), Refusal> {
        match self.words.len() {
            0 => Ok(()),
            _ => Err(self.wrong_arity()),
        }
    }

    fn wrong_arity(&self) -> Refusal {
        Refusal::WrongArity(self.command.to_owned())
    }

    fn unknown(&self, subcommand: &[u8]) -> Refusal {
        Refusal::UnknownSubcommand {
            command: self.command,
            subcommand: quote(subcommand),
        }
    }
}

/// Understands a request.
pub(crate) fn parse(request: Request) -> Result<Command, Refusal> {
    let arity = i64::try_from(request.len()).unwrap_or(i64::MAX);
    let mut words = request.into_iter();
    let name = words.next().unwrap_or_default();
    let row = table::find(&name).ok_or_else(|| Refusal::UnknownCommand(quote(&name)))?;
    let fits = match row.arity {
        exact @ 0.. => arity == exact,
        least => arity >= -least,
    };
    if !fits {
        return Err(Refusal::WrongArity(row.name.to_owned()));
    }
    let mut args = Args {
        command: row.name,
        words,
    };
    (row.parse)(&mut args)
}

fn quote(words: &[u8]) -> String {
    let seen = &words[..words.len().min(QUOTED)];
    seen.escape_ascii().to_string()
}

pub(super) fn ping(args: &mut Args) -> Result<Command, Refusal> {
    let message = args.words.next();
    args.end()?;
    Ok(Command::Ping(message))
}

pub(super) fn set(args: &mut Args) -> Result<Command, Refusal> {
    let (key, value) = (args.blob()?, args.blob()?);
    let (mut expiry, mut condition) = (None, None);
    while let Some(option) = args.keyword() {
        let repeated = match option.as_slice() {
            b"nx" => condition.replace(Condition::IfAbsent).is_some(),
            b"xx" => condition.replace(Condition::IfPresent).is_some(),
            b"ex" => expiry.replace(lifetime(args, Unit::Seconds)?).is_some(),
            b"px" => expiry
                .replace(lifetime(args, Unit::Milliseconds)?)
                .is_some(),
            b"keepttl" => expiry.replace(Expiry::Keep).is_some(),
            _ => true,
        };
        if repeated {
            return Err(Refusal::Syntax);
        }
    }
    Ok(Command::Set {
        key,
        value,
        expiry: expiry.unwrap_or_default(),
        condition: condition.unwrap_or_default(),
    })
}

fn lifetime(args: &mut Args, unit: Unit) -> Result<Expiry, Refusal> {
    let word = args.words.next().ok_or(Refusal::Syntax)?;
    let amount = parse_integer(&word).ok_or(Refusal::NotAnInteger)?;
    let ms = milliseconds(amount, unit, args.command)?;
    match u64::try_from(ms) {
        Ok(ms @ 1..) => Ok(Expiry::After(ms)),
        _ => Err(Refusal::InvalidExpire(args.command)),
    }
}

fn milliseconds(amount: i64, unit: Unit, command: &'static str) -> Result<i64, Refusal> {
    let factor = match unit {
        Unit::Seconds => 1_000,
        Unit::Milliseconds => 1,
    };
    // The sum with the time of day must stay a number of milliseconds that clients can read.
    let ms = amount.checked_mul(factor);
    ms.filter(|ms| ms.unsigned_abs() <= i64::MAX as u64 / 2)
        .ok_or(Refusal::InvalidExpire(command))
}

pub(super) fn incrby(args: &mut Args) -> Result<Command, Refusal> {
    Ok(Command::Incr(args.blob()?, args.integer()?))
}

pub(super) fn decrby(args: &mut Args) -> Result<Command, Refusal> {
    let key = args.blob()?;
    let by = args.integer()?.checked_neg().ok_or(Refusal::Overflow)?;
    Ok(Command::Incr(key, by))
}

pub(super) fn push(args: &mut Args, end: End) -> Result<Command, Refusal> {
    Ok(Command::Push(args.blob()?, args.rest(), end))
}

pub(super) fn pop(args: &mut Args, end: End) -> Result<Command, Refusal> {
    let key = args.blob()?;
    let count = match args.words.len() {
        0 => None,
        _ => Some(usize::try_from(args.integer()?).map_err(|_| Refusal::NotPositive)?),
    };
    args.end()?;
    Ok(Command::Pop(key, count, end))
}

pub(super) fn lrange(args: &mut Args) -> Result<Command, Refusal> {
    Ok(Command::Range(
        args.blob()?,
        args.integer()?,
        args.integer()?,
    ))
}

pub(super) fn mset(args: &mut Args) -> Result<Command, Refusal> {
    let mut pairs = Vec::with_capacity(args.words.len() / 2);
    while let Some(key) = args.words.next() {
        pairs.push((key, args.blob()?));
    }
    Ok(Command::MSet(pairs))
}

pub(super) fn expire(args: &mut Args) -> Result<Command, Refusal> {
    let key = args.blob()?;
    let ms = milliseconds(args.integer()?, Unit::Seconds, args.command)?;
    Ok(Command::Expire(key, ms))
}

pub(super) fn pexpire(args: &mut Args) -> Result<Command, Refusal> {
    let key = args.blob()?;
    let ms = milliseconds(args.integer()?, Unit::Milliseconds, args.command)?;
    Ok(Command::Expire(key, ms))
}

pub(super) fn ttl(args: &mut Args) -> Result<Command, Refusal> {
    Ok(Command::Ttl(args.blob()?, Unit::Seconds))
}

pub(super) fn pttl(args: &mut Args) -> Result<Command, Refusal> {
    Ok(Command::Ttl(args.blob()?, Unit::Milliseconds))
}

pub(super) fn flushall(args: &mut Args) -> Result<Command, Refusal> {
    let how = args.keyword();
    args.end()?;
    match how.as_deref() {
        None | Some(b"async" | b"sync") => Ok(Command::FlushAll),
        Some(_) => Err(Refusal::Syntax),
    }
}

pub(super) fn config(args: &mut Args) -> Result<Command, Refusal> {
    let subcommand = args.blob()?;
    if !subcommand.eq_ignore_ascii_case(b"get") {
        return Err(args.unknown(&subcommand));
    }
    match args.rest() {
        patterns if patterns.is_empty() => Err(args.wrong_arity()),
        patterns => Ok(Command::ConfigGet(patterns)),
    }
}

pub(super) fn command(args: &mut Args) -> Result<Command, Refusal> {
    match args.keyword().as_deref() {
        None => Ok(Command::Describe(None)),
        Some(b"info") => match args.rest() {
            names if names.is_empty() => Ok(Command::Describe(None)),
            names => Ok(Command::Describe(Some(names))),
        },
        Some(b"count") => args.end().map(|()| Command::CountCommands),
        Some(b"docs") => Ok(Command::Docs),
        Some(other) => Err(args.unknown(other)),
    }
}

pub(super) fn select(args: &mut Args) -> Result<Command, Refusal> {
    match args.integer()? {
        0 => Ok(Command::Select),
        _ => Err(Refusal::NoSuchDatabase),
    }
}

pub(super) fn client(args: &mut Args) -> Result<Command, Refusal> {
    match args.keyword().as_deref() {
        Some(b"setname") => client_name(&args.blob()?)?,
        Some(b"setinfo") => {
            args.blob()?;
            client_name(&args.blob()?)?;
        }
        Some(other) => return Err(args.unknown(other)),
        None => return Err(args.wrong_arity()),
    }
    args.end()?;
    Ok(Command::ClientNote)
}

fn client_name(name: &[u8]) -> Result<(), Refusal> {
    match name.iter().all(u8::is_ascii_graphic) {
        true => Ok(()),
        false => Err(Refusal::InvalidClientName),
    }
}

pub(super) fn hello(args: &mut Args) -> Result<Command, Refusal> {
    if args.words.len() > 0 && parse_integer(&args.blob()?) != Some(2) {
        return Err(Refusal::NoSuchProtocol);
    }
    while let Some(option) = args.keyword() {
        match option.as_slice() {
            b"setname" => client_name(&args.blob()?)?,
            _ => return Err(Refusal::Syntax),
        }
    }
    Ok(Command::Hello)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
