//! What is said about a run: a line for each file and manifest, totals, what was left out and why, and the next step.

use std::fmt::{self, Write};

use super::decide::{Decision, LeftOut};
use super::manifest::{self, Section};
use super::package::shown;
use super::work::{Read, Work};

/// The answer of `--check`.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// Why the exit code is not 0.
    pub(crate) complaint: Option<String>,
}

/// What [`Work::insert`] has decided.
pub(crate) struct Inserted<'a> {
    pub(crate) decisions: &'a [Decision],
    pub(crate) manifests: Vec<String>,
}

/// What [`Work::remove`] has decided.
#[derive(Default)]
pub(crate) struct Removed {
    /// By file.
    pub(crate) attributes: Vec<usize>,
    pub(crate) manifests: Vec<String>,
}

/// A word that is counted.
#[derive(Clone, Copy)]
pub(crate) enum Plural {
    AsyncFn,
    Attribute,
    File,
    Use,
}

/// `1 file`, `2 files`
pub(crate) fn plural(count: usize, word: Plural) -> String {
    let word = match word {
        Plural::AsyncFn => "async fn",
        Plural::Attribute => "attribute",
        Plural::File => "file",
        Plural::Use => "use",
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {word}{s}")
}

pub(crate) fn inserted(work: &Work, inserted: &Inserted<'_>) -> String {
    let mut text = Text::default();
    let (mut fns, mut attributes, mut files, mut covered) = (0, 0, 0, 0);
    for (read, decision) in work.files.iter().zip(inserted.decisions) {
        covered += decision.covered;
        if decision.anchors.is_empty() {
            continue;
        }
        let (new, places) = (decision.uncovered.len(), decision.anchors.len());
        fns += new;
        attributes += places;
        files += 1;
        let by = by_attributes(new, places);
        let path = shown(&work.file(read).path);
        text.line(format_args!("{path}: {}{by}", plural(new, Plural::AsyncFn)));
    }
    for said in &inserted.manifests {
        text.line(said);
    }
    let before = match covered {
        0 => String::new(),
        covered => format!("; {covered} covered before"),
    };
    let by = by_attributes(fns, attributes);
    let (fns_said, files_said) = (plural(fns, Plural::AsyncFn), plural(files, Plural::File));
    if fns == 0 && covered == 0 {
        let files = plural(work.files.len(), Plural::File);
        text.line(format_args!("no async fn to annotate in {files}"));
    } else if fns == 0 {
        let covered = plural(covered, Plural::AsyncFn);
        text.line(format_args!("nothing to do: {covered} covered"));
    } else {
        text.line(format_args!(
            "annotated {fns_said} in {files_said}{by}{before}"
        ));
    }
    text.left_out(inserted.decisions);
    text.hidden(work);
    if fns > 0 {
        next_step(work, &mut text);
    }
    text.0
}

/// ` by 2 attributes`, where it is not one for each.
fn by_attributes(fns: usize, attributes: usize) -> String {
    if fns == attributes {
        String::new()
    } else {
        format!(" by {}", plural(attributes, Plural::Attribute))
    }
}

/// What the program needs beside attributes.
fn next_step(work: &Work, text: &mut Text) {
    let starts = |read: &Read| read.source.text().contains("turbowish::init");
    if work.files.iter().any(starts) {
        text.line("next: run it; while it runs: turbowish");
        return;
    }
    let main = work.files.iter().find_map(|read| {
        let file = work.file(read);
        if file.section() == Section::Dev || work.found.module(file).len() > 1 {
            return None;
        }
        let main = read.tree.nodes.iter().find(|node| node.path == ["main"]);
        let place = main.map(|main| place(work, read, main.name_at));
        place.or_else(|| (file.inner == "src/main.rs").then(|| shown(&file.path)))
    });
    let (main, manifest) = match main {
        Some(place) => (format!("begin main, {place}, with"), "Cargo.toml"),
        None => (
            "in the program that uses this, begin main with".to_owned(),
            "its Cargo.toml",
        ),
    };
    let version = manifest::version();
    text.line(format_args!(
        "\
next: {main}
        let _turbowish = turbowish::init();
      and let a console attach, in {manifest}:
        turbowish = {{ version = \"{version}\", features = [\"server\"] }}
      while it runs: turbowish"
    ));
}

pub(crate) fn removed(work: &Work, removed: &Removed) -> String {
    let mut text = Text::default();
    let mut files = 0;
    for (read, count) in work.files.iter().zip(&removed.attributes) {
        if *count > 0 {
            files += 1;
            let path = shown(&work.file(read).path);
            text.line(format_args!(
                "{path}: {}",
                plural(*count, Plural::Attribute)
            ));
        }
    }
    for said in &removed.manifests {
        text.line(said);
    }
    let attributes = plural(removed.attributes.iter().sum(), Plural::Attribute);
    let files = plural(files, Plural::File);
    text.line(format_args!("removed {attributes} from {files}"));
    text.0
}

pub(crate) fn checked(work: &Work, decisions: &[Decision]) -> Answer {
    let mut text = Text::default();
    let (mut covered, mut uncovered, mut twins) = (0, 0, 0);
    for (read, decision) in work.files.iter().zip(decisions) {
        covered += decision.covered;
        uncovered += decision.uncovered.len();
        twins += read.tree.twins.len();
        let mut lines: Vec<(usize, String)> = decision
            .uncovered
            .iter()
            .map(|(at, path)| (*at, format!("async fn {path} is not covered")))
            .collect();
        lines.extend(read.tree.twins.iter().map(|found| {
            let says = format!("{} has an instrumented twin: {}", found.path, found.twin);
            (found.at, says)
        }));
        lines.sort();
        for (at, says) in lines {
            text.line(format_args!("{}: {says}", place(work, read, at)));
        }
    }
    text.left_out(decisions);
    text.hidden(work);
    let all = covered + uncovered;
    let mut complaints = Vec::new();
    if uncovered > 0 {
        let fns = plural(all, Plural::AsyncFn);
        let are = if uncovered == 1 { "is" } else { "are" };
        complaints.push(format!("{uncovered} of {fns} {are} not covered"));
    }
    if twins > 0 {
        let uses = plural(twins, Plural::Use);
        complaints.push(format!("{uses} of a type that has an instrumented twin"));
    }
    if complaints.is_empty() {
        let fns = plural(all, Plural::AsyncFn);
        let files = plural(work.files.len(), Plural::File);
        text.line(format_args!("{fns} in {files}, none uncovered"));
    }
    Answer {
        text: text.0,
        complaint: (!complaints.is_empty()).then(|| complaints.join("; ")),
    }
}

/// `src/main.rs:76:10`
fn place(work: &Work, read: &Read, at: usize) -> String {
    let (line, column) = read.source.place(at);
    format!("{}:{line}:{column}", shown(&work.file(read).path))
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: impl fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn left_out(&mut self, decisions: &[Decision]) {
        let sum = |count: fn(&LeftOut) -> usize| {
            let each = decisions.iter().map(|decision| count(&decision.left_out));
            each.sum::<usize>()
        };
        let reasons: Vec<String> = [
            (sum(|left| left.skipped), "marked skip"),
            (sum(|left| left.filtered), "by --include and --exclude"),
            (sum(|left| left.constant), "const"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
        if !reasons.is_empty() {
            self.line(format_args!("left out: {}", reasons.join(", ")));
        }
    }

    fn hidden(&mut self, work: &Work) {
        for read in &work.files {
            for hidden in &read.tree.hidden {
                let fns = plural(hidden.count, Plural::AsyncFn);
                let within = &hidden.within;
                let place = place(work, read, hidden.at);
                self.line(format_args!("{place}: out of reach: {fns} inside {within}"));
            }
        }
    }
}
