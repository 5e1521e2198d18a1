//! Manifests, read as lines in the style of this workspace, which is a subset of TOML.

use super::tree::{Fault, File, Tree};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// A line of a manifest: its section, its number from 1, key and value.
pub(super) struct Entry<'a> {
    pub(super) section: &'a str,
    pub(super) line: usize,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
}

/// The entries of a manifest, in order. A value that goes over several lines is its first line.
pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.trim_matches(['[', ']']);
        } else if !line.starts_with(['#', ' ', '\t'])
            && let Some((key, value)) = line.split_once('=')
        {
            let (key, value) = (key.trim(), value.trim());
            entries.push(Entry {
                section,
                line: index + 1,
                key,
                value,
            });
        }
    }
    entries
}

/// The text of a package's key, without quotes.
pub(super) fn package<'a>(file: &'a File, key: &str) -> Option<&'a str> {
    let all = entries(&file.text);
    let entry = all
        .iter()
        .find(|entry| entry.section == "package" && entry.key == key)?;
    Some(entry.value.trim_matches('"'))
}

/// Packages that may be unsafe have lints of their own, which ask for the reason of each block: the
/// one that is published, and programs for tests that call `fork`.
const UNSAFE: [&str; 2] = ["turbowish-unsafe/Cargo.toml", "examples/forks/Cargo.toml"];

/// Each package inherits the lints; each one to be published holds its licences.
pub(super) fn packages(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.manifests() {
        let all = entries(&file.text);
        let says = |section: &str, key: &str, value: &str| {
            all.iter()
                .any(|e| e.section == section && e.key == key && e.value == value)
        };
        if !says("lints", "workspace", "true") && !UNSAFE.contains(&&*file.path) {
            faults.push(Fault::new(
                file,
                0,
                "does not inherit the workspace's lints",
            ));
        }
        if says("package", "publish", "false") {
            continue;
        }
        let folder = file.path.strip_suffix("Cargo.toml").unwrap_or_default();
        for licence in LICENCES {
            if !file.text.contains(&format!("\"/{licence}\"")) {
                faults.push(Fault::new(
                    file,
                    0,
                    format!("`include` leaves out {licence}"),
                ));
            }
            if tree.get(&format!("{folder}{licence}")).is_none() {
                faults.push(Fault::new(
                    file,
                    0,
                    format!("{licence} is missing beside it"),
                ));
            }
        }
    }
    faults
}

/// Each dependency from outside is named in ARCHITECTURE.md, where its reason stands.
pub(super) fn reasons(tree: &Tree) -> Vec<Fault> {
    let Some(root) = tree.get("Cargo.toml") else {
        return Vec::new();
    };
    let reasons = tree.get(ARCHITECTURE).map_or("", |file| file.text.as_str());
    let all = entries(&root.text);
    let outside = all
        .iter()
        .filter(|e| e.section == "workspace.dependencies" && !e.value.contains("path ="));
    outside
        .filter(|entry| !reasons.contains(&format!("`{}`", entry.key)))
        .map(|entry| {
            Fault::new(
                root,
                entry.line,
                format!("`{}` has no reason in {ARCHITECTURE}", entry.key),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Fault, Tree, packages, reasons};

    fn check(rule: fn(&Tree) -> Vec<Fault>, files: &[(&str, &str)], expected: &[&str]) {
        let faults: Vec<String> = rule(&Tree::of(files))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn packages_inherit_and_carry() {
        let good = "[package]\ninclude = [\"/LICENSE-MIT\", \"/LICENSE-APACHE\"]\n[lints]\nworkspace = true\n";
        let licences = [("a/LICENSE-MIT", ""), ("a/LICENSE-APACHE", "")];
        let with = |manifest| [&[("a/Cargo.toml", manifest)], &licences[..]].concat();
        check(packages, &with(good), &[]);
        check(
            packages,
            &[(
                "a/Cargo.toml",
                "[package]\npublish = false\n[lints]\nworkspace = true\n",
            )],
            &[],
        );
        check(
            packages,
            &with("[package]\ninclude = [\"/LICENSE-MIT\"]\n"),
            &[
                "a/Cargo.toml: does not inherit the workspace's lints",
                "a/Cargo.toml: `include` leaves out LICENSE-APACHE",
            ],
        );
        check(
            packages,
            &[("Cargo.toml", good), ("LICENSE-MIT", "")],
            &["Cargo.toml: LICENSE-APACHE is missing beside it"],
        );
    }

    #[test]
    fn dependencies_have_reasons() {
        let manifest =
            "[workspace.dependencies]\nown = { path = \"own\" }\nsyn = \"3\"\nquote = \"1\"\n";
        check(
            reasons,
            &[
                ("Cargo.toml", manifest),
                ("ARCHITECTURE.md", "| `syn` | reads |"),
            ],
            &["Cargo.toml:4: `quote` has no reason in ARCHITECTURE.md"],
        );
        check(
            reasons,
            &[
                ("Cargo.toml", manifest),
                ("ARCHITECTURE.md", "`syn` `quote`"),
            ],
            &[],
        );
    }
}
