//! Compiled out, the attribute leaves nothing: neither an instruction nor a crate.

use std::path::{Path, PathBuf};
use std::process::Command;

const ANNOTATED: &str = include_str!("compiled-out/annotated.rs");
const ATTRIBUTES: [&str; 2] = [
    "#[turbowish::instrument]",
    "#[turbowish::instrument(name = \"a step\")]",
];

/// A library with one dependency, the facade with its default features off.
struct Library {
    folder: PathBuf,
}

impl Library {
    fn create(name: &str) -> Library {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let facade = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::create_dir_all(folder.join("src")).expect("a folder for the library");
        let manifest = format!(
            "[package]\nname = \"library\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [dependencies]\nturbowish = {{ path = {facade:?}, default-features = false }}\n[workspace]\n"
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        std::fs::copy(facade.join("Cargo.lock"), folder.join("Cargo.lock"))
            .expect("the versions of this workspace");
        let library = Library { folder };
        library.write(ANNOTATED);
        library
    }

    fn cargo(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {arguments:?}: {error}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn write(&self, source: &str) {
        std::fs::write(self.folder.join("src/lib.rs"), source).expect("the source");
    }

    /// The assembly of `source`, optimised and in one piece.
    fn assembly(&self, source: &str) -> String {
        let asm = self.folder.join("lib.s");
        self.write(source);
        std::fs::remove_file(&asm).ok();
        let emit = format!("--emit=asm={}", asm.display());
        let options = ["-Ccodegen-units=1", "-Copt-level=3", &emit];
        self.cargo(
            &[
                &["rustc", "--quiet", "--release", "--lib", "--"],
                &options[..],
            ]
            .concat(),
        );
        std::fs::read_to_string(asm).expect("the assembly")
    }
}

/// What names symbols apart is a hash of the source as it was written.
const HASHES: [(&str, usize); 2] = [("17h", 16), (".Lanon.", 32)];

fn without_hashes(assembly: &str) -> Vec<String> {
    let without = |line: &str| {
        HASHES
            .iter()
            .fold(line.to_owned(), |line, &(before, digits)| {
                let mut pieces = line.split(before);
                let first = pieces.next().unwrap_or_default().to_owned();
                pieces.fold(first, |kept, piece| {
                    let hash = piece
                        .chars()
                        .take(digits)
                        .all(|each| each.is_ascii_hexdigit());
                    let rest = if hash { piece.get(digits..) } else { None };
                    kept + before + rest.unwrap_or(piece)
                })
            })
    };
    assembly.lines().map(without).collect()
}

/// The same source without the attributes; every other token stays in its line and column.
fn plain() -> String {
    ATTRIBUTES
        .iter()
        .fold(ANNOTATED.to_owned(), |source, each| {
            assert!(source.contains(each));
            source.replace(each, &" ".repeat(each.len()))
        })
}

#[test]
fn assembly_is_that_of_the_plain_functions() {
    let library = Library::create("compiled-out-assembly");
    let plain = without_hashes(&library.assembly(&plain()));
    let annotated = without_hashes(&library.assembly(ANNOTATED));
    let polls = plain.iter().filter(|line| line.contains("closure")).count();
    assert!(polls > 0, "some future is compiled");
    let different = plain.iter().zip(&annotated).find(|(a, b)| a != b);
    assert_eq!(different, None);
    assert_eq!(plain.len(), annotated.len());
    assert!(!annotated.iter().any(|line| line.contains("turbowish")));
}

#[test]
fn dependencies_are_the_macro_crate_alone() {
    let library = Library::create("compiled-out-tree");
    let tree = library.cargo(&["tree", "--quiet", "--prefix=none", "--format={p}"]);
    let names: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, ["library", "turbowish", "turbowish-macros"]);
}
