//! The user's editor: its choice, and its syntax for opening a file at a line.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use turbowish_model::snapshot::Spot;

use crate::detail::problem::source::{self, Roots};

/// Syntax by which an editor opens a file at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineSyntax {
    /// `+LINE FILE`
    Plus,
    /// `FILE:LINE:COLUMN`
    Colon,
    /// `--goto FILE:LINE:COLUMN`
    Goto,
    /// `--line LINE FILE`
    Line,
    /// `FILE` alone: the syntax for a line is not known.
    Bare,
}

/// Programs by their names.
const EDITORS: [(LineSyntax, &[&str]); 4] = [
    (
        LineSyntax::Plus,
        &[
            "vi",
            "vim",
            "nvim",
            "view",
            "gvim",
            "elvis",
            "vis",
            "emacs",
            "emacsclient",
            "mg",
            "nano",
            "pico",
            "micro",
            "kak",
            "joe",
            "jed",
            "ne",
            "mcedit",
            "gedit",
            "ex",
        ],
    ),
    (
        LineSyntax::Colon,
        &[
            "hx",
            "helix",
            "subl",
            "sublime_text",
            "zed",
            "zeditor",
            "zed-editor",
            "atom",
            "lapce",
        ],
    ),
    (
        LineSyntax::Goto,
        &[
            "code",
            "code-insiders",
            "codium",
            "vscodium",
            "cursor",
            "windsurf",
        ],
    ),
    (
        LineSyntax::Line,
        &["kate", "kwrite", "idea", "rustrover", "clion", "geany"],
    ),
];

/// An editor to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The user's setting in the environment, possibly with options.
    editor: String,
    args: Vec<String>,
}

impl Call {
    /// The editor on the first of these locations that is found.
    ///
    /// # Errors
    /// No location is found, or no editor is set: the message names the remedy.
    pub(super) fn of(
        spots: &[Spot],
        roots: Roots<'_>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let place = |spot: &Spot| format!("{}:{}", spot.file, spot.line);
        let Some(first) = spots.first() else {
            return Err("the source location is unknown".to_owned());
        };
        let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(variable);
        let Some(editor) = { chosen }.find(|name| !name.trim().is_empty()) else {
            return Err(format!("no editor: set VISUAL or EDITOR; {}", place(first)));
        };
        let mut found = spots.iter();
        let found = found.find_map(|spot| Some((spot, source::path(&spot.file, roots)?)));
        let Some((spot, path)) = found else {
            let place = place(first);
            return Err(format!(
                "{place} exists neither here nor where the process runs; try --source DIR"
            ));
        };
        let args = args(form(&editor), &path, spot);
        Ok(Self { editor, args })
    }

    /// The command that runs the editor.
    pub(super) fn command(&self) -> Command {
        // The variable may contain options and quotes: a shell parses it, as with git.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{} \"$@\"", self.editor));
        shell.arg(&self.editor).args(&self.args);
        shell
    }

    /// The message after the editor's end.
    ///
    /// # Errors
    /// It cannot be started, or has failed: which one, and how.
    pub(super) fn outcome(&self, ended: io::Result<ExitStatus>) -> Result<(), String> {
        let name = program(&self.editor);
        let status = ended.map_err(|fault| format!("{name} cannot be run: {fault}"))?;
        match status.code() {
            Some(0) => Ok(()),
            // Exit codes of shells for a program that is not found, or cannot be run.
            Some(127) => Err(format!(
                "{name} is not installed or not in PATH: set VISUAL or EDITOR"
            )),
            Some(126) => Err(format!("{name} cannot be run: set VISUAL or EDITOR")),
            _ => Err(format!("{name} exited with {status}")),
        }
    }
}

/// The program without its folder and options.
fn program(editor: &str) -> &str {
    let first = editor.split_whitespace().next().unwrap_or(editor);
    let first = first.trim_matches(['"', '\'']);
    first.rsplit('/').next().unwrap_or(first)
}

fn form(editor: &str) -> LineSyntax {
    let name = program(editor);
    let known = EDITORS.iter().find(|(_, names)| names.contains(&name));
    known.map_or(LineSyntax::Bare, |(form, _)| *form)
}

fn args(form: LineSyntax, path: &Path, spot: &Spot) -> Vec<String> {
    let file = path.display().to_string();
    let Spot { line, column, .. } = spot;
    match form {
        LineSyntax::Plus => vec![format!("+{line}"), file],
        LineSyntax::Colon => vec![format!("{file}:{line}:{column}")],
        LineSyntax::Goto => vec!["--goto".to_owned(), format!("{file}:{line}:{column}")],
        LineSyntax::Line => vec!["--line".to_owned(), line.to_string(), file],
        LineSyntax::Bare => vec![file],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(file: &str) -> Spot {
        Spot {
            file: file.to_owned(),
            line: 12,
            column: 5,
        }
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_way() {
        let check = |editor: &str, expected: &[&str]| {
            let args = args(form(editor), Path::new("/src/a b.rs"), &spot("a b.rs"));
            assert_eq!(args, expected, "{editor}");
        };
        check("vi", &["+12", "/src/a b.rs"]);
        check("/usr/bin/nvim -p", &["+12", "/src/a b.rs"]);
        check("emacsclient -t", &["+12", "/src/a b.rs"]);
        check("hx", &["/src/a b.rs:12:5"]);
        check("'/opt/zed/zed' --wait", &["/src/a b.rs:12:5"]);
        check("code --wait", &["--goto", "/src/a b.rs:12:5"]);
        check("kate", &["--line", "12", "/src/a b.rs"]);
        check("ed", &["/src/a b.rs"]);
    }

    #[test]
    fn without_editor_or_file_it_is_said_what_to_do() {
        let check = |spots: &[Spot], variables: &[(&str, &str)], expected: &str| {
            let variable = |name: &str| {
                let mut known = variables.iter();
                let found = known.find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let told = match Call::of(spots, Roots::default(), variable) {
                Ok(call) => format!("{} {}", call.editor, call.args[0]),
                Err(fault) => fault,
            };
            assert_eq!(told, expected);
        };
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs");
        check(
            &[spot("src/no/such.rs")],
            &[("VISUAL", " ")],
            "no editor: set VISUAL or EDITOR; src/no/such.rs:12",
        );
        check(
            &[spot("src/no/such.rs")],
            &[("EDITOR", "vi")],
            "src/no/such.rs:12 exists neither here nor where the process runs; try --source DIR",
        );
        check(
            &[spot("src/no/such.rs"), spot(here)],
            &[("EDITOR", "vi"), ("VISUAL", "vim -n")],
            "vim -n +12",
        );
        check(&[], &[("EDITOR", "vi")], "the source location is unknown");
    }

    #[test]
    fn an_editor_that_is_missing_is_named_with_what_to_do() {
        let check = |editor: &str, expected: Result<(), &str>| {
            let call = Call {
                editor: editor.to_owned(),
                args: vec!["/dev/null".to_owned()],
            };
            let mut command = call.command();
            let ended = command.stderr(std::process::Stdio::null()).status();
            assert_eq!(call.outcome(ended), expected.map_err(str::to_owned));
        };
        check("true", Ok(()));
        check("false", Err("false exited with exit status: 1"));
        check(
            "no-such-editor -n",
            Err("no-such-editor is not installed or not in PATH: set VISUAL or EDITOR"),
        );
        check("/dev/null", Err("null cannot be run: set VISUAL or EDITOR"));
    }
}
