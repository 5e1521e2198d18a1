//! The output of a run: a line for each file and manifest, totals, skipped items with reasons, and
//! the next step.

use std::fmt::{self, Write};

use super::decide::{Decision, LeftOut};
use super::manifest::{CRATE, Named, Section};
use super::origin::{Origin, Origins};
use super::package::{Package, shown};
use super::plan::{Change, Plan, Read, Work};

/// The output of `--check`.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The reason why the exit code is not 0.
    pub(crate) complaint: Option<String>,
}

/// The decisions of [`Work::insert`].
pub(crate) struct Inserted<'a> {
    pub(crate) decisions: &'a [Decision],
    pub(crate) manifests: Vec<String>,
    pub(crate) origins: &'a Origins<'a>,
}

/// The decisions of [`Work::remove`].
#[derive(Default)]
pub(crate) struct Removed {
    /// Number of attributes, by file.
    pub(crate) attributes: Vec<usize>,
    /// By file: the offsets of attributes that stay, because this command did not write them.
    pub(crate) kept: Vec<Vec<usize>>,
    pub(crate) manifests: Vec<String>,
}

/// A word that is counted.
#[derive(Clone, Copy)]
pub(crate) enum Plural {
    AsyncFn,
    Attribute,
    File,
    Package,
    Use,
}

/// `1 file`, `2 files`
pub(crate) fn plural(count: usize, word: Plural) -> String {
    let word = match word {
        Plural::AsyncFn => "async fn",
        Plural::Attribute => "attribute",
        Plural::File => "file",
        Plural::Package => "package",
        Plural::Use => "use",
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {word}{s}")
}

pub(crate) fn inserted(work: &Work, inserted: &Inserted<'_>, changes: Vec<Change>) -> Plan {
    let (mut before, mut after) = (Text::default(), Text::default());
    before.packages(work);
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
        before.line(format_args!("{path}: {}{by}", plural(new, Plural::AsyncFn)));
    }
    for said in &inserted.manifests {
        before.line(said);
    }
    before.outside(work);
    let covered_before = match covered {
        0 => String::new(),
        covered => format!("; {covered} covered before"),
    };
    let by = by_attributes(fns, attributes);
    let (fns_said, files_said) = (plural(fns, Plural::AsyncFn), plural(files, Plural::File));
    if fns == 0 && covered == 0 {
        let files = plural(work.files.len(), Plural::File);
        after.line(format_args!("no async fn to annotate in {files}"));
    } else if fns == 0 {
        let covered = plural(covered, Plural::AsyncFn);
        after.line(format_args!("nothing to do: {covered} covered"));
    } else {
        after.line(format_args!(
            "annotated {fns_said} in {files_said}{by}{covered_before}"
        ));
    }
    after.left_out(inserted.decisions);
    after.hidden(work);
    if fns > 0 {
        next_step(work, inserted, &mut after);
    }
    Plan {
        changes,
        before: before.0,
        after: after.0,
    }
}

/// ` by 2 attributes`, unless each function has one.
fn by_attributes(fns: usize, attributes: usize) -> String {
    if fns == attributes {
        String::new()
    } else {
        format!(" by {}", plural(attributes, Plural::Attribute))
    }
}

/// The dependencies and calls that the program needs in addition to attributes.
fn next_step(work: &Work, inserted: &Inserted<'_>, text: &mut Text) {
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
        let place = place.or_else(|| (file.inner == "src/main.rs").then(|| shown(&file.path)));
        place.map(|place| (place, file.package))
    });
    let (main, manifest, package) = match main {
        Some((place, package)) => (
            format!("start main ({place}) with"),
            "in Cargo.toml",
            package.map(|index| &work.found.packages[index]),
        ),
        None => (
            "in the program that uses this, start main with".to_owned(),
            "in its Cargo.toml",
            None,
        ),
    };
    text.line(format_args!(
        "next: {main}\n        let _turbowish = turbowish::init();"
    ));
    match server_line(package, inserted.origins) {
        Some(line) => text.line(format_args!(
            "      and let a console attach, {manifest}:\n        {line}"
        )),
        None => text.line(format_args!(
            "      and let a console attach: the feature \"server\" of {CRATE} {manifest}"
        )),
    }
    text.line("      while it runs: turbowish");
}

/// The dependency of a program; `None` if it already has a handwritten one.
fn server_line(package: Option<&Package>, origins: &Origins<'_>) -> Option<String> {
    let named = package.and_then(|package| package.manifest.named(Section::Normal));
    match (named, package) {
        (Some(Named::Plainly | Named::Optional | Named::As(_)), _) => None,
        (None, Some(package)) if package.inherits => Some(Origin::Workspace.line_with("server")),
        (None, _) => origins.find().ok().map(|origin| origin.line_with("server")),
    }
}

/// How many places are named.
const SHOWN: usize = 3;

pub(crate) fn removed(work: &Work, removed: &Removed, changes: Vec<Change>) -> Plan {
    let (mut before, mut after) = (Text::default(), Text::default());
    before.packages(work);
    let mut files = 0;
    let mut kept = Vec::new();
    for ((read, count), left) in work
        .files
        .iter()
        .zip(&removed.attributes)
        .zip(&removed.kept)
    {
        if *count > 0 {
            files += 1;
            let path = shown(&work.file(read).path);
            before.line(format_args!(
                "{path}: {}",
                plural(*count, Plural::Attribute)
            ));
        }
        kept.extend(left.iter().map(|at| place(work, read, *at)));
    }
    for said in &removed.manifests {
        before.line(said);
    }
    before.outside(work);
    let attributes = plural(removed.attributes.iter().sum(), Plural::Attribute);
    let files = plural(files, Plural::File);
    after.line(format_args!("removed {attributes} from {files}"));
    if !kept.is_empty() {
        let more = match kept.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let attributes = plural(kept.len(), Plural::Attribute);
        let places = kept[..kept.len().min(SHOWN)].join(", ");
        after.line(format_args!(
            "kept {attributes} that annotate did not write: {places}{more}"
        ));
    }
    Plan {
        changes,
        before: before.0,
        after: after.0,
    }
}

const WRAPPERS: &str = "turbowish::sync, turbowish::time and turbowish::spawn behave like tokio's; they need the feature \"tokio\" of turbowish";

pub(crate) fn checked(work: &Work, decisions: &[Decision]) -> Answer {
    let mut text = Text::default();
    let (mut covered, mut uncovered, mut plain) = (0, 0, 0);
    for (read, decision) in work.files.iter().zip(decisions) {
        covered += decision.covered;
        uncovered += decision.uncovered.len();
        let types = work.tokio_types(read);
        plain += types.len();
        let mut lines: Vec<(usize, String)> = decision
            .uncovered
            .iter()
            .map(|(at, path)| (*at, format!("async fn {path} is not covered")))
            .collect();
        lines.extend(types.iter().map(|found| {
            let says = format!("{} is not observed; use {}", found.path, found.instead);
            (found.at, says)
        }));
        lines.sort();
        for (at, says) in lines {
            text.line(format_args!("{}: {says}", place(work, read, at)));
        }
    }
    text.outside(work);
    text.left_out(decisions);
    text.hidden(work);
    let all = covered + uncovered;
    let mut complaints = Vec::new();
    if uncovered > 0 {
        let fns = plural(all, Plural::AsyncFn);
        let are = if uncovered == 1 { "is" } else { "are" };
        complaints.push(format!("{uncovered} of {fns} {are} not covered"));
    }
    if plain > 0 {
        text.line(WRAPPERS);
        let uses = plural(plain, Plural::Use);
        complaints.push(format!("{uses} of tokio that TurboWish does not observe"));
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

    /// The selected packages.
    fn packages(&mut self, work: &Work) {
        let names: Vec<&str> = work
            .found
            .packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        match &names[..] {
            [] => {}
            [name] => self.line(format_args!("package {name}")),
            names => self.line(format_args!(
                "{}: {}",
                plural(names.len(), Plural::Package),
                names.join(", ")
            )),
        }
    }

    /// Paths that are left unchanged because of their location.
    fn outside(&mut self, work: &Work) {
        for path in &work.found.outside {
            let path = shown(path);
            self.line(format_args!("{path}: left alone, not in this repository"));
        }
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
