//! `turbowish snapshot`: a file of the states that a process keeps.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use turbowish_model::snapshot::units;
use turbowish_recording::FILE_HEADER;
use turbowish_wire::client::CONNECT_TIMEOUT;

use crate::args::SnapshotArgs;
use crate::failure::{Failure, print_lines};
use crate::recording::Recording;
use crate::{plain_text, source};

/// Runs the command.
///
/// # Errors
/// The process cannot be reached, keeps no states, or the file cannot be written.
pub(crate) fn run(args: &SnapshotArgs, token: Option<&str>) -> Result<(), Failure> {
    let name = source::runtime()?.block_on(fetch(args, token))?;
    let out = args.out.to_string_lossy();
    let recording = Recording::open(&out)?;
    let (from, to) = (recording.times().next(), recording.times().next_back());
    let at = |time: Option<u64>| time.map(plain_text::local).unwrap_or_default();
    let lost: u64 = recording.lost().map(u64::from).sum();
    let bytes = args.out.metadata().map_or(0, |about| about.len());
    print_lines(&[format!(
        "{out}: {} states of {name}, {} .. {}, {lost} lost, {}",
        recording.times().len(),
        at(from),
        at(to),
        units::bytes(bytes),
    )])
}

/// Writes the file as the states arrive. Returns the process's name and ID.
async fn fetch(args: &SnapshotArgs, token: Option<&str>) -> Result<String, Failure> {
    let target = source::target(args.target.as_deref(), token)?;
    let connection = source::connect(target.as_ref(), CONNECT_TIMEOUT).await?;
    let process = connection.process();
    let name = format!("{} {}", process.name, process.pid);
    let since = args
        .last
        .and_then(|last| SystemTime::now().checked_sub(last));
    let since = since.and_then(|since| since.duration_since(UNIX_EPOCH).ok());
    let from = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
    let mut chunks = source::kept_chunks(&connection, from).await?;
    // No file is made before there is something to write.
    let Some(first) = chunks.next().await else {
        return Err(source::keeps_nothing(&name));
    };
    let first = first?;
    let out = &args.out;
    let cannot = |cause| Failure::local(&format!("cannot write {}", out.display()), &cause);
    let mut file = create(out).map_err(cannot)?;
    file.write_all(&FILE_HEADER).map_err(cannot)?;
    file.write_all(&first).map_err(cannot)?;
    while let Some(chunk) = chunks.next().await {
        file.write_all(&chunk?).map_err(cannot)?;
    }
    Ok(name)
}

/// Creates a file that only its user can read.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}
