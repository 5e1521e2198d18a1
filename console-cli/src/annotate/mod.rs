//! `turbowish annotate`: everything is read and decided before the first file changes, and a file changes whole or not at all.
//!
//! The way of a path: `package` finds the files it stands for (in a `workspace`, by a `walk`), `scan` reads a `source` into a
//! `tree` (with `names` and `own` for what its paths and attributes mean, `twins` for types to swap), `decide` says where attributes
//! are missing, `work` turns that into changes of files and `depend` into those of a `manifest`, `replace` makes them, and `report`
//! tells.

mod decide;
mod depend;
mod manifest;
mod names;
mod own;
mod package;
mod pattern;
mod replace;
mod report;
mod scan;
mod source;
mod text;
mod tree;
mod twins;
mod walk;
mod work;
mod workspace;

pub(crate) use pattern::Pattern;
pub(crate) use text::{inserted, removed};

use crate::args::AnnotateArgs;
use crate::failure::{Failure, note, print};
use pattern::Filter;
use report::{Plural, plural};
use twins::TWINS;
use work::{Change, Work};

/// Code that is nested deeply is read by deep recursion.
const STACK: usize = 256 << 20;

/// Runs the command.
///
/// # Errors
/// A path that is not there; a file that cannot be read or written; with `--check`, anything that is not covered.
pub(crate) fn run(args: &AnnotateArgs) -> Result<(), Failure> {
    with_large_stack(|| annotate(args))
        .map_err(|cause| Failure::local("cannot start a thread", &cause))?
}

/// Runs `task` where syntax can be nested deeply.
///
/// # Errors
/// No thread can be started.
pub(crate) fn with_large_stack<T: Send>(task: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let running = thread.spawn_scoped(scope, task)?;
        let result = running.join();
        Ok(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn annotate(args: &AnnotateArgs) -> Result<(), Failure> {
    let found = package::find(&args.paths, args.all_targets)?;
    let filter = Filter::new(&args.include, &args.exclude);
    let work = Work::read(found, filter, TWINS)?;
    for fault in &work.faults {
        note(&fault.to_string());
    }
    let uncovered = if args.check {
        let answer = work.check();
        print(&answer.text)?;
        answer.complaint
    } else {
        let (changes, text) = if args.remove {
            work.remove()?
        } else {
            work.insert(args.blocks)?
        };
        if args.dry_run {
            print(&format!("dry run, nothing is written\n{text}"))?;
        } else {
            write(&changes)?;
            print(&text)?;
        }
        None
    };
    let unread = work.faults.len();
    match (uncovered, unread) {
        (Some(complaint), _) => Err(Failure::Local(complaint)),
        (None, 0) => Ok(()),
        (None, unread) => Err(Failure::Local(format!(
            "{} could not be read",
            plural(unread, Plural::File)
        ))),
    }
}

fn write(changes: &[Change]) -> Result<(), Failure> {
    for (done, change) in changes.iter().enumerate() {
        replace::replace(&change.path, &change.text).map_err(|cause| {
            let path = package::shown(&change.path);
            let done = plural(done, Plural::File);
            let what = format!("cannot write {path}, {done} written before it");
            Failure::local(&what, &cause)
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
