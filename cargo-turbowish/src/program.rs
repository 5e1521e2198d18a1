//! The program that runs a command: its messages on stderr, and its answer to a wrong command line.

use std::io::{self, Write};
use std::process::ExitCode;

use turbowish_model::snapshot::sanitize;

/// The program that runs a command.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The prefix of its messages: `cargo-turbowish`.
    pub name: &'static str,
    /// What a user types in front of a command's name: `cargo turbowish`.
    pub typed: &'static str,
}

impl Program {
    /// Prints one line on stderr; a closed stderr is not a failure.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{}: {}", self.name, sanitize::line(text));
    }

    /// Prints a line on stderr, and the lines that belong to it.
    pub fn note_lines(&self, text: &str, lines: &[String]) {
        self.note(text);
        for line in lines {
            let _ = writeln!(io::stderr(), "  {}", sanitize::line(line));
        }
    }

    /// Prints help if it was asked for; else reports the mistake on the command line.
    #[must_use]
    pub fn answer(&self, answer: &clap::Error) -> ExitCode {
        if !answer.use_stderr() {
            // A closed pipe is not a failure.
            let _ = answer.print();
            return ExitCode::SUCCESS;
        }
        let text = answer.render().to_string();
        let text = text.trim_start_matches("error: ").trim_end();
        // The usage is on separate lines.
        let _ = writeln!(io::stderr(), "{}: {}", self.name, sanitize::lines(text));
        ExitCode::from(2)
    }
}
