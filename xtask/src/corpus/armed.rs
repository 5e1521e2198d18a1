//! A facade that starts accounting before any `main`. Tests of a library have no `main` of their
//! own to start it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const LIB: &str = "//! The facade, and accounting from the start.

pub use facade::*;

#[ctor::ctor(unsafe)]
fn arm() {
    std::mem::forget(facade::init());
}
";

/// Writes the facade below `home`, as a wrapper of the one in `root`.
pub(super) fn facade(root: &Path, home: &Path) -> io::Result<PathBuf> {
    let folder = home.join("armed");
    // Another version than the real one, because a lock file contains both.
    let manifest = format!(
        "[package]\nname = \"turbowish\"\nversion = \"0.1.9999\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nctor = \"1\"\nfacade = {{ package = \"turbowish\", path = {root:?} }}\n"
    );
    fs::create_dir_all(folder.join("src"))?;
    for (name, text) in [("Cargo.toml", manifest.as_str()), ("src/lib.rs", LIB)] {
        let path = folder.join(name);
        if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            fs::write(&path, text)?;
        }
    }
    Ok(folder)
}
