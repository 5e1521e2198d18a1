//! Maintenance commands of the project: `cargo xtask codegen`, `cargo xtask tidy`, `cargo xtask
//! corpus`.

mod codegen;
mod corpus;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen | tidy | corpus [OPTION]... [CRATE]...
  codegen  write turbowish-wire/src/generated/ from its .proto file
  tidy     check the house rules that compilers do not check
  corpus   annotate published crates, and compare their warnings and tests with the plain ones";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", [].as_slice()),
    };
    let outcome = match command {
        "codegen" => codegen::write(&root()),
        "tidy" => tidy::run(&root()),
        "corpus" => corpus::run(&root(), rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace: the folder above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
