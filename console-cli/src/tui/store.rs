//! The settings file: read at the start, written when a setting changes. An invalid file is
//! reported, and left alone until then.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::settings::{Fault, Settings};
use super::state::State;

/// Maximal size of the file; a longer one was not written by the console.
const LONGEST: u64 = 64 << 10;

/// The file, and its contents.
#[derive(Debug)]
pub(super) struct Store {
    /// `None` if nothing is to be kept.
    path: Option<PathBuf>,
    /// The error in the file at the start.
    bad: Option<Fault>,
    /// The settings at the start, or when they were last written.
    begin: Settings,
    /// The settings at the last attempt to write.
    tried: Settings,
}

/// Where settings are: `$XDG_STATE_HOME/turbowish/console.json`, else below `~/.local/state`.
pub(super) fn path(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("turbowish").join("console.json"))
}

impl Store {
    /// Applies the settings of the file to the console, and reports an error in the file.
    pub(super) fn open(path: Option<PathBuf>, state: &mut State) -> Self {
        let known = path
            .as_deref()
            .map_or(Ok(Settings::default()), |path| read(path, state));
        let bad = match known {
            Ok(settings) => {
                settings.apply(state);
                None
            }
            Err(fault) => Some(fault),
        };
        if let (Some(path), Some(fault)) = (&path, &bad) {
            let told = format!("{} is ignored: {}", path.display(), fault.text);
            state.notice = Some(told);
        }
        Self {
            path,
            bad,
            begin: Settings::default(),
            tried: Settings::default(),
        }
    }

    /// Changes from here on are kept: options of the command line apply to this console alone.
    pub(super) fn begin(&mut self, state: &State) {
        self.begin = Settings::of(state);
        self.tried = self.begin.clone();
    }

    /// Writes the changed settings over the present contents of the file: another console may have
    /// written as well.
    ///
    /// # Errors
    /// The file cannot or must not be written: reported once, until something changes again.
    pub(super) fn keep(&mut self, state: &State) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let now = Settings::of(state);
        if now == self.tried {
            return Ok(());
        }
        self.tried = now.clone();
        let refused = |fault| format!("settings are not saved in {}: {fault}", path.display());
        let kept = match read(path, state) {
            Ok(kept) => kept,
            // It was reported at the start, and is of no use to any console.
            Err(fault) if !fault.newer && self.bad.as_ref() == Some(&fault) => Settings::default(),
            Err(fault) => return Err(refused(fault.text)),
        };
        let text = now.over(&self.begin, &kept).text();
        write(path, &text).map_err(|fault| refused(fault.to_string()))?;
        self.begin = now;
        self.bad = None;
        Ok(())
    }
}

/// The settings in a file that apply to this console; the defaults if there is no file.
fn read(path: &Path, state: &State) -> Result<Settings, Fault> {
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(Settings::default()),
        Err(fault) => return Err(fault.to_string().into()),
    };
    // A pipe would block the console.
    if !there.is_file() || there.len() > LONGEST {
        return Err("it is not a settings file".to_owned().into());
    }
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|fault| fault.to_string())?;
    let settings = Settings::parse(&text)?;
    settings.check(state)?;
    Ok(settings)
}

/// Writes atomically, readable by the owner alone; a link to the file stays a link.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    // Made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(&real)?;
    Ok(())
}
