//! The source of the `turbowish` crate for a program. The crate is not in the registry yet; its
//! name there belongs to another project.

use std::path::{Path, PathBuf};

use super::manifest::CRATE;
use super::package::{MANIFEST, read, shown};
use crate::args::OriginArgs;
use crate::failure::Failure;

/// The folder that this program was built from, if it was built from a clone.
const BUILT_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The source of the crate in a `Cargo.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The folder of a clone.
    Clone(String),
    /// The URL of a git repository.
    Git(String),
    /// A version in the registry.
    Version(String),
    /// Inherited from the workspace.
    Workspace,
}

impl Origin {
    /// `path = "/src/turbowish"`, as key and value.
    pub(crate) fn entry(&self) -> (&'static str, String) {
        match self {
            Self::Clone(folder) => ("path", quoted(folder)),
            Self::Git(url) => ("git", quoted(url)),
            Self::Version(version) => ("version", quoted(version)),
            Self::Workspace => ("workspace", "true".to_owned()),
        }
    }

    /// `turbowish = { path = "/src/turbowish" }`
    pub(crate) fn line(&self) -> String {
        let (key, value) = self.entry();
        match self {
            Self::Version(_) => format!("{CRATE} = {value}"),
            Self::Workspace => format!("{CRATE}.{key} = {value}"),
            Self::Clone(_) | Self::Git(_) => format!("{CRATE} = {{ {key} = {value} }}"),
        }
    }

    /// The same with a feature.
    pub(crate) fn line_with(&self, feature: &str) -> String {
        let (key, value) = self.entry();
        format!("{CRATE} = {{ {key} = {value}, features = [\"{feature}\"] }}")
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The known sources of the crate.
pub(crate) struct Origins<'a> {
    pub(crate) args: &'a OriginArgs,
}

impl Origins<'_> {
    /// The source from the command line; else the clone that this program was built from.
    ///
    /// # Errors
    /// There is no clone at the expected place.
    pub(crate) fn find(&self) -> Result<Origin, Failure> {
        match self.args {
            OriginArgs { git: Some(url), .. } => Ok(Origin::Git(url.clone())),
            OriginArgs { version: Some(version), .. } => Ok(Origin::Version(version.clone())),
            OriginArgs { clone: Some(folder), .. } => clone(folder).ok_or_else(|| {
                Failure::usage(format_args!("{} is not a clone of TurboWish", folder.display()))
            }),
            _ => clone(Path::new(BUILT_IN)).ok_or_else(|| {
                Failure::Local(format!(
                    "cannot find {CRATE}: {}, from which this program was built, no longer exists; add --clone FOLDER or --git URL",
                    shown(&parent(Path::new(env!("CARGO_MANIFEST_DIR"))))
                ))
            }),
        }
    }
}

fn parent(folder: &Path) -> PathBuf {
    folder.parent().unwrap_or(folder).to_owned()
}

/// The clone in a folder, if there is one.
fn clone(folder: &Path) -> Option<Origin> {
    let folder = folder.canonicalize().ok()?;
    let manifest = read(&folder.join(MANIFEST)).ok()?;
    let is_ours = manifest.string(&["package", "name"]) == Some(CRATE);
    is_ours.then(|| folder.to_str().map(str::to_owned).map(Origin::Clone))?
}
