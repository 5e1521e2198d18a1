//! Files that the console writes for its user: always new ones, never over an existing file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::message::File;

/// Maximal number of snapshot files within one second.
const NUMBERS: u32 = 99;

/// Writes the file, and returns the message with its location.
///
/// # Errors
/// The reason why it is not written.
pub(super) fn write(file: &File) -> Result<String, String> {
    let File { name, text, .. } = file;
    let written: Written = match file.numbered {
        true => numbered(name, |name| create(name, text)),
        false => match create(name, text) {
            Ok(()) => Ok((name.clone(), ())),
            Err(fault) => Err((name.clone(), fault)),
        },
    };
    match written {
        Ok((name, ())) => Ok(format!("saved {name}")),
        Err((name, fault)) if fault.kind() == io::ErrorKind::AlreadyExists => Err(format!(
            "not saved: {name} already exists; choose another name"
        )),
        Err((name, fault)) => Err(format!("not saved: {name}: {fault}")),
    }
}

/// The name of a file and what was made of it, or why not.
type Written<T = ()> = Result<(String, T), (String, io::Error)>;

/// Creates `kv-4242-170431.json`, else `kv-4242-170431-2.json`, and so on.
pub(super) fn numbered<T>(name: &str, create: impl Fn(&str) -> io::Result<T>) -> Written<T> {
    let once = |name: &str| match create(name) {
        Ok(made) => Ok((name.to_owned(), made)),
        Err(fault) => Err((name.to_owned(), fault)),
    };
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "json"));
    let mut written = once(name);
    for number in 2..=NUMBERS {
        match &written {
            Err((_, fault)) if fault.kind() == io::ErrorKind::AlreadyExists => {
                written = once(&format!("{stem}-{number}.{end}"));
            }
            _ => break,
        }
    }
    written
}

fn create(name: &str, text: &str) -> io::Result<()> {
    let path = expanded(name);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // Half a document is useless; that it cannot be removed either is not reported.
        let _ = std::fs::remove_file(&path);
    })
}

/// Expands `~/`, because no shell parses the command line.
fn expanded(name: &str) -> PathBuf {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let save = |name: &str, numbered, text: &str| {
            let told = write(&File {
                name: path(name),
                numbered,
                text: text.to_owned(),
            });
            let (Ok(told) | Err(told)) = told;
            told.replace(&path(""), "")
        };
        assert_eq!(save("a.json", true, "1"), "saved a.json");
        assert_eq!(save("a.json", true, "2"), "saved a-2.json");
        assert_eq!(save("a.json", true, "3"), "saved a-3.json");
        assert_eq!(
            save("a.json", false, "4"),
            "not saved: a.json already exists; choose another name"
        );
        assert!(save("no/a.json", false, "5").starts_with("not saved: no/a.json: "));
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        assert_eq!((read("a.json"), read("a-3.json")), ("1".into(), "3".into()));
    }
}
