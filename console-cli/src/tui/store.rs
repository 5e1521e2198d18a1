//! The file of settings: read at the start, written when one changes something. A bad one is named, and left alone until then.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::settings::Settings;
use super::state::State;

/// A file that is longer is none of ours.
const LONGEST: u64 = 64 << 10;

/// The file, and what it holds.
#[derive(Debug)]
pub(super) struct Store {
    /// None if nothing is to be kept.
    path: Option<PathBuf>,
    kept: Settings,
    /// What the console was like at the start.
    begin: Settings,
    /// What was written last, or could not be.
    last: Settings,
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
    /// Makes the console as the file has it; says what is wrong with the file.
    pub(super) fn open(path: Option<PathBuf>, state: &mut State) -> Self {
        let kept = match path.as_deref().map_or(Ok(None), read) {
            Ok(Some(settings)) => settings.apply(state).map(|()| settings),
            Ok(None) => Ok(Settings::default()),
            Err(fault) => Err(fault),
        };
        let kept = kept.unwrap_or_else(|fault| {
            let name = path.as_ref().map(|path| path.display().to_string());
            let name = name.unwrap_or_default();
            state.notice = Some(format!("{name} is ignored: {fault}"));
            Settings::default()
        });
        Self {
            path,
            last: kept.clone(),
            kept,
            begin: Settings::default(),
        }
    }

    /// From here on what changes is kept: what the command line says is for this console alone.
    pub(super) fn begin(&mut self, state: &State) {
        self.begin = Settings::of(state);
    }

    /// Writes what has changed.
    ///
    /// # Errors
    /// It cannot be written: said once, until something changes again.
    pub(super) fn keep(&mut self, state: &State) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let now = Settings::of(state).over(&self.begin, &self.kept);
        if now == self.last {
            return Ok(());
        }
        self.last = now;
        write(path, &self.last.text())
            .map_err(|fault| format!("settings are not kept in {}: {fault}", path.display()))
    }
}

/// The settings in a file; none if there is no file.
fn read(path: &Path) -> Result<Option<Settings>, String> {
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault.to_string()),
    };
    // A pipe would keep the console waiting.
    if !there.is_file() || there.len() > LONGEST {
        return Err("it is no file of settings".to_owned());
    }
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|fault| fault.to_string())?;
    Settings::parse(&text).map(Some)
}

/// All of it or nothing, for its owner alone; a link to the file stays one.
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
