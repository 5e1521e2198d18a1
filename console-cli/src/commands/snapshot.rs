//! `turbowish snapshot`: a file of the states that a process keeps.

use std::io::Write;

use turbowish_model::snapshot::units;
use turbowish_recording::FILE_HEADER;

use crate::args::SnapshotArgs;
use crate::failure::{Failure, print_lines};
use crate::recording::{self, Recording};
use crate::source;

/// Runs the command.
///
/// # Errors
/// The process cannot be reached, keeps no states, or the file cannot be written.
pub(crate) fn run(args: &SnapshotArgs, token: Option<&str>) -> Result<(), Failure> {
    let name = source::runtime()?.block_on(fetch(args, token))?;
    let recording = Recording::open(&args.out.to_string_lossy())?;
    let lost = recording.lost().map(u64::from).sum();
    let states = recording.times().len();
    let written = recording::summary(&args.out, states, &name, recording.span(), lost);
    let bytes = args.out.metadata().map_or(0, |about| about.len());
    print_lines(&[format!("{written}, {}", units::bytes(bytes))])
}

/// Writes the file as the states arrive. Returns the process's name and ID.
async fn fetch(args: &SnapshotArgs, token: Option<&str>) -> Result<String, Failure> {
    let target = source::target(args.target.as_deref(), token)?;
    let from = source::since(args.last);
    let (name, mut chunks) = source::past(target.as_ref(), from, 0).await?;
    // No file is made before there is something to write.
    let Some(first) = chunks.next().await else {
        return Err(source::keeps_nothing(&name));
    };
    let first = first?;
    let out = &args.out;
    let cannot = |cause| Failure::local(&format!("cannot write {}", out.display()), &cause);
    let mut file = recording::create(out, false).map_err(cannot)?;
    file.write_all(&FILE_HEADER).map_err(cannot)?;
    file.write_all(&first).map_err(cannot)?;
    while let Some(chunk) = chunks.next().await {
        file.write_all(&chunk?).map_err(cannot)?;
    }
    Ok(name)
}
