//! The dependency of a package on the crate. It exists as long as the package's code names the
//! crate.

use std::fs;

use proc_macro2::TokenTree;

use super::manifest::{CRATE, Named, Section};
use super::origin::{Origin, Origins};
use super::package::{Package, all_files, shown};
use super::plan::Change;
use super::source::{Source, each_token};
use crate::failure::Failure;

/// A change of a manifest, and its line in the report.
type Changed = (Option<Change>, Option<String>);

/// Adds the dependency to a package whose files gain attributes; the files are built with
/// `sections`.
///
/// # Errors
/// The package uses another name for the crate, or the location of the crate is unknown.
pub(crate) fn on_us(
    package: &Package,
    sections: &[Section],
    origins: &Origins,
) -> Result<Changed, Failure> {
    let manifest = &package.manifest;
    let section = if sections.contains(&Section::Normal) {
        Section::Normal
    } else {
        Section::Dev
    };
    // A package cannot depend on itself.
    if sections.is_empty() || manifest.string(&["package", "name"]) == Some(CRATE) {
        return Ok((None, None));
    }
    let path = shown(&manifest.path);
    let named = manifest.named(section);
    match named.or_else(|| manifest.named(Section::Normal)) {
        Some(Named::Plainly) => Ok((None, None)),
        Some(Named::Optional) => {
            let text = "is optional; the attribute needs it in every build";
            Ok((None, Some(format!("{path}: {CRATE} {text}"))))
        }
        Some(Named::As(name)) => Err(Failure::Local(format!(
            "{path} renames {CRATE} to `{name}`; use the name {CRATE}, which the attribute needs"
        ))),
        None => {
            let origin = match package.inherits {
                true => Origin::Workspace,
                false => origins.find()?,
            };
            let section_name = section.key();
            Ok(match manifest.addition(section, &origin) {
                Some((edit, line)) => {
                    let said = format!("{path}: add {line} to [{section_name}]");
                    (Some(changed(package, &[edit])), Some(said))
                }
                None => {
                    let line = origin.line();
                    let said = format!("{path}: add {line} to the {section_name} yourself");
                    (None, Some(said))
                }
            })
        }
    }
}

/// Removes a dependency that [`on_us`] has added, if no code names the crate after `changes`.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn on_nothing(package: &Package, changes: &[Change]) -> Result<Changed, Failure> {
    let edits = package.manifest.removal();
    if edits.is_empty() {
        return Ok((None, None));
    }
    let path = shown(&package.manifest.path);
    let uses = uses(package, changes)?;
    if uses.is_empty() {
        let said = format!("{path}: remove {CRATE}");
        return Ok((Some(changed(package, &edits)), Some(said)));
    }
    let more = match uses.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let uses = uses[..uses.len().min(SHOWN)].join(", ");
    let said = format!("{path}: keep {CRATE}, which is still named at {uses}{more}");
    Ok((None, Some(said)))
}

/// Maximal number of locations in a message.
const SHOWN: usize = 3;

fn changed(package: &Package, edits: &[super::source::Edit]) -> Change {
    let manifest = &package.manifest;
    Change {
        path: manifest.path.clone(),
        text: Source::new(manifest.text().to_owned()).edited(edits),
    }
}

/// The locations at which a package still names the crate.
fn uses(package: &Package, changes: &[Change]) -> Result<Vec<String>, Failure> {
    let mut uses = Vec::new();
    for path in all_files(package)? {
        let change = changes.iter().find(|change| change.path == path);
        let text = match change {
            Some(change) => change.text.clone(),
            None => fs::read_to_string(&path).unwrap_or_default(),
        };
        let source = Source::new(text);
        uses.extend(mentions(&source).into_iter().map(|at| {
            let (line, column) = source.place(at);
            format!("{}:{line}:{column}", shown(&path))
        }));
    }
    if package.manifest.features_name_it() {
        uses.push("[features]".to_owned());
    }
    Ok(uses)
}

/// The offsets at which code names the crate; comments do not count, unless the file cannot be
/// parsed.
fn mentions(source: &Source) -> Vec<usize> {
    let Some(first) = source.text().find(CRATE) else {
        return Vec::new();
    };
    let Ok((tokens, _)) = source.parse() else {
        return vec![first];
    };
    let mut found = Vec::new();
    each_token(&tokens, &mut |token| match token {
        TokenTree::Ident(ident) if ident == CRATE => found.push(source.range(ident.span()).start),
        _ => {}
    });
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}
