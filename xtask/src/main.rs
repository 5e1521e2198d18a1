//! The project's own chores, each one command: `cargo xtask codegen` and `cargo xtask tidy`.

mod codegen;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen | tidy
  codegen  write turbowish-wire/src/generated/ from its .proto file
  tidy     check the house rules that compilers do not check";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let outcome = match command.as_str() {
        "codegen" => codegen::write(&root()),
        "tidy" => tidy::run(&root()),
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

/// The workspace: the folder above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
