//! `annotate`. Everything is read and decided before the first file changes, and each
//! file changes as a whole or not at all.
//!
//! `select` asks cargo for the packages of a path and finds their files by a `walk`, inside one
//! `repository`. `scan` reads a `source` into a `tree`, and resolves its paths (`names`, `tokens`,
//! `tokio_types`) and attributes (`attribute`). `decide` finds the missing attributes. `plan` turns
//! them into edits of files, and `depend` into edits of a `manifest` that name the `origin` of the
//! crate. `replace` writes the changes, and `report` describes them.

mod attribute;
mod decide;
mod depend;
mod manifest;
mod names;
mod origin;
mod package;
mod plan;
mod replace;
mod report;
mod repository;
mod scan;
mod select;
mod source;
mod text;
mod tokens;
mod tokio_types;
mod tree;
mod walk;

pub(crate) use text::{inserted, removed};

use std::path::Path;

use turbowish_model::snapshot::sanitize;

use crate::args::AnnotateArgs;
use crate::failure::Failure;
use crate::pattern::Filter;
use crate::program::Program;
use crate::stdout;
use origin::Origins;
use plan::{Change, Work};
use report::{Plural, plural};
use tokio_types::WRAPPED;

/// Stack size in bytes: deeply nested code is parsed by deep recursion.
const STACK: usize = 256 << 20;

/// Runs the command.
///
/// # Errors
/// A path that does not exist; a file that cannot be read or written; with `--check`, any function
/// that is not covered.
pub fn run(args: &AnnotateArgs, program: &Program) -> Result<(), Failure> {
    with_large_stack(|| annotate(args, program))
        .map_err(|cause| Failure::local("cannot start a thread", &cause))?
}

/// Runs `task` on a thread with a stack for deeply nested syntax.
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

fn annotate(args: &AnnotateArgs, program: &Program) -> Result<(), Failure> {
    let found = select::select(&args.paths, args.all_targets, program)?;
    let filter = Filter::new(&args.include, &args.exclude);
    let work = Work::read(found, filter, WRAPPED)?;
    for fault in &work.faults {
        program.note(&fault.to_string());
    }
    let uncovered = if args.check {
        let answer = work.check();
        print(&answer.text)?;
        answer.complaint
    } else {
        change(args, &work)?;
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

/// Prints the planned changes, applies them, and prints the result.
fn change(args: &AnnotateArgs, work: &Work) -> Result<(), Failure> {
    let origins = Origins { args: &args.origin };
    let plan = if args.remove {
        work.remove()?
    } else {
        work.insert(args.blocks, &origins)?
    };
    if args.dry_run {
        return print(&format!(
            "dry run, nothing is written\n{}{}",
            plan.before, plan.after
        ));
    }
    let files: Vec<&Path> = plan
        .changes
        .iter()
        .map(|change| change.path.as_path())
        .collect();
    repository::check(&files, &args.permission)?;
    print(&plan.before)?;
    write(&plan.changes)?;
    print(&plan.after)
}

/// Prints text with untrusted names of files and functions.
fn print(text: &str) -> Result<(), Failure> {
    stdout::print(&sanitize::lines(text))
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
