//! Allowed dependencies. A crate depends only on the crates that the design allows; inside a crate,
//! a lower folder does not name an upper one.

use super::manifest::{entries, package};
use super::tree::{Fault, Tree};

/// The dependencies that a package may have. If `outside` is `None`, any external crate is allowed.
struct Arrows {
    package: &'static str,
    ours: &'static [&'static str],
    /// Also allowed, but only behind a feature.
    optional: &'static [&'static str],
    outside: Option<&'static [&'static str]>,
}

const fn arrows(package: &'static str, ours: &'static [&'static str]) -> Arrows {
    Arrows {
        package,
        ours,
        optional: &[],
        outside: None,
    }
}

/// The crate graph of the design. Dev-dependencies are not restricted: tests link
/// `turbowish-testing`, and the runtime's documentation tests name the facade, as users do.
const GRAPH: &[Arrows] = &[
    // The tree of an annotated library: nothing that adds trait impls on std's types.
    Arrows {
        package: "turbowish",
        ours: &["turbowish-macros", "turbowish-runtime"],
        optional: &[],
        // Only with its feature, for users who compile the runtime out: the drop-in wrappers of
        // tokio's types are tokio's own types then.
        outside: Some(&["tokio"]),
    },
    Arrows {
        package: "turbowish-macros",
        ours: &[],
        optional: &[],
        outside: Some(&["proc-macro2", "quote", "syn"]),
    },
    // Pure: no clock, thread, file, socket.
    Arrows {
        package: "turbowish-model",
        ours: &[],
        optional: &[],
        outside: Some(&["once_cell", "regex-lite"]),
    },
    // Only tests link it.
    Arrows {
        package: "turbowish-testing",
        ours: &["turbowish-model"],
        optional: &[],
        outside: Some(&["proptest", "serde_json"]),
    },
    arrows("turbowish-wire", &["turbowish-model"]),
    arrows("turbowish-unsafe", &[]),
    arrows(
        "turbowish-recording",
        &["turbowish-model", "turbowish-wire"],
    ),
    arrows(
        "turbowish-runtime",
        &[
            "turbowish-model",
            "turbowish-recording",
            "turbowish-unsafe",
            "turbowish-wire",
        ],
    ),
    arrows("cargo-turbowish", &["turbowish-model"]),
    Arrows {
        package: "turbowish-cli",
        ours: &[
            "cargo-turbowish",
            "turbowish-model",
            "turbowish-recording",
            "turbowish-wire",
        ],
        // The demo embeds a server that is watched.
        optional: &["turbowish", "turbowish-kv"],
        outside: None,
    },
    arrows(
        "turbowish-forks",
        &["turbowish", "turbowish-model", "turbowish-wire"],
    ),
    arrows(
        "turbowish-fuzz",
        &[
            "cargo-turbowish",
            "turbowish-cli",
            "turbowish-model",
            "turbowish-recording",
            "turbowish-wire",
        ],
    ),
    arrows("turbowish-kv", &["turbowish"]),
    arrows(
        "turbowish-pitfalls",
        &[
            "turbowish",
            "turbowish-kv",
            "turbowish-model",
            "turbowish-wire",
        ],
    ),
    arrows("turbowish-ui-tests", &["turbowish"]),
    arrows("turbowish-ui-2018", &["turbowish"]),
    arrows("turbowish-ui-2021", &["turbowish"]),
    arrows("turbowish-ui-2024", &["turbowish"]),
    arrows("turbowish-ui-core", &[]),
    arrows("turbowish-ui-no-std", &["turbowish"]),
    arrows("turbowish-ui-shadowed", &["turbowish", "turbowish-ui-core"]),
    arrows("turbowish-ui-strict", &["turbowish"]),
    arrows("xtask", &[]),
];

/// `(folder, what its files may not name, why)`.
const FOLDERS: &[(&str, &str, &str)] = &[
    (
        "turbowish-runtime/src/server/",
        "crate::",
        "the server knows its Source only",
    ),
    (
        "turbowish-runtime/src/hot",
        "crate::monitor",
        "the path of a poll does not know who reads it",
    ),
    (
        "turbowish-runtime/src/hot",
        "crate::server",
        "the path of a poll does not know who serves it",
    ),
    (
        "turbowish-runtime/src/hot",
        "crate::exit",
        "the path of a poll does not know who reports it",
    ),
    (
        "turbowish-runtime/src/hot",
        "crate::resource",
        "the path of a poll tells others through hot/events.rs",
    ),
    (
        "turbowish-wire/src/convert",
        "crate::client",
        "messages do not know who sends them",
    ),
    (
        "turbowish-wire/src/convert",
        "crate::discovery",
        "messages do not know who sends them",
    ),
    (
        "turbowish-wire/src/discovery",
        "crate::client",
        "the server uses discovery as well",
    ),
    (
        "turbowish-model/src/",
        "std::",
        "the model is no_std: no clock, thread, file or socket",
    ),
];

/// Checks that each manifest names only dependencies that the graph allows.
pub(super) fn between_crates(tree: &Tree) -> Vec<Fault> {
    let names: Vec<&str> = tree
        .manifests()
        .filter_map(|file| package(file, "name"))
        .collect();
    let mut faults = Vec::new();
    for file in tree.manifests() {
        let Some(name) = package(file, "name") else {
            continue;
        };
        let Some(allowed) = GRAPH.iter().find(|arrows| arrows.package == name) else {
            faults.push(Fault::new(
                file,
                0,
                format!("{name} is not in the crate graph"),
            ));
            continue;
        };
        for entry in entries(&file.text)
            .iter()
            .filter(|entry| is_dependency(entry.section))
        {
            let on = entry.key.split('.').next().unwrap_or(entry.key);
            let sound = if names.contains(&on) {
                let optional = entry.value.contains("optional = true");
                allowed.ours.contains(&on) || optional && allowed.optional.contains(&on)
            } else {
                allowed.outside.is_none_or(|outside| outside.contains(&on))
            };
            if !sound {
                faults.push(Fault::new(
                    file,
                    entry.line,
                    format!("{name} must not depend on {on}"),
                ));
            }
        }
    }
    faults
}

fn is_dependency(section: &str) -> bool {
    let kinds = ["dependencies", "build-dependencies"];
    kinds.contains(&section)
        || section.starts_with("target.")
            && kinds
                .iter()
                .any(|kind| section.ends_with(&format!(".{kind}")))
}

/// Checks that no file names modules above its folder. Tests may.
pub(super) fn inside_crates(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        for (folder, name, why) in FOLDERS
            .iter()
            .filter(|(folder, ..)| file.path.starts_with(folder))
        {
            for (index, line) in file.code() {
                if names(line, name) {
                    faults.push(Fault::new(
                        file,
                        index + 1,
                        format!("`{name}` in {folder}: {why}"),
                    ));
                }
            }
        }
    }
    faults
}

/// Whether code on the line names the path; comments may speak of it.
fn names(line: &str, path: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    code.match_indices(path).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
    })
}

#[cfg(test)]
mod tests {
    use super::{Fault, Tree, between_crates, inside_crates};

    fn check(rule: fn(&Tree) -> Vec<Fault>, files: &[(&str, &str)], expected: &[&str]) {
        let faults: Vec<String> = rule(&Tree::of(files))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn crates_depend_inward() {
        let model = (
            "turbowish-model/Cargo.toml",
            "[package]\nname = \"turbowish-model\"\n",
        );
        let wire = |text| ("turbowish-wire/Cargo.toml", text);
        check(
            between_crates,
            &[
                model,
                wire(
                    "[package]\nname = \"turbowish-wire\"\n[dependencies]\nturbowish-model.workspace = true\nprost = \"1\"\n",
                ),
            ],
            &[],
        );
        check(
            between_crates,
            &[
                wire("[package]\nname = \"turbowish-wire\"\n"),
                (
                    model.0,
                    "[package]\nname = \"turbowish-model\"\n[target.'cfg(unix)'.dependencies]\nturbowish-wire = { path = \"../w\" }\nlibc = \"1\"\n[dev-dependencies]\nserde = \"1\"\n",
                ),
            ],
            &[
                "turbowish-model/Cargo.toml:4: turbowish-model must not depend on turbowish-wire",
                "turbowish-model/Cargo.toml:5: turbowish-model must not depend on libc",
            ],
        );
        let cli = |value: &str| {
            format!("[package]\nname = \"turbowish-cli\"\n[dependencies]\nturbowish = {value}\n")
        };
        let facade = ("Cargo.toml", "[package]\nname = \"turbowish\"\n");
        let path = "console-cli/Cargo.toml";
        check(
            between_crates,
            &[
                facade,
                (path, &cli("{ workspace = true, optional = true }")),
            ],
            &[],
        );
        check(
            between_crates,
            &[facade, (path, &cli("{ workspace = true }"))],
            &["console-cli/Cargo.toml:4: turbowish-cli must not depend on turbowish"],
        );
        check(
            between_crates,
            &[("new/Cargo.toml", "[package]\nname = \"new\"\n")],
            &["new/Cargo.toml: new is not in the crate graph"],
        );
    }

    #[test]
    fn folders_do_not_look_up() {
        let path = "turbowish-model/src/a.rs";
        check(
            inside_crates,
            &[(path, "use core::fmt;\n// std::fmt is not here\n")],
            &[],
        );
        check(
            inside_crates,
            &[(path, "use mystd::fmt;\n#[cfg(test)]\nuse std::fmt;\n")],
            &[],
        );
        check(
            inside_crates,
            &[(
                path,
                "#[cfg(test)]\nuse core::fmt;\nuse std::fmt;\n#[cfg(test)]\nmod tests {\nuse std::io;\n",
            )],
            &[
                "turbowish-model/src/a.rs:3: `std::` in turbowish-model/src/: the model is no_std: no clock, thread, file or socket",
            ],
        );
        check(
            inside_crates,
            &[(path, "use core::fmt;\nuse std::fmt;\n")],
            &[
                "turbowish-model/src/a.rs:2: `std::` in turbowish-model/src/: the model is no_std: no clock, thread, file or socket",
            ],
        );
        check(
            inside_crates,
            &[(
                "turbowish-runtime/src/server/watch.rs",
                "use crate::clock::now;\n",
            )],
            &[
                "turbowish-runtime/src/server/watch.rs:1: `crate::` in turbowish-runtime/src/server/: the server knows its Source only",
            ],
        );
    }
}
