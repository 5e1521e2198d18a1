//! Source excerpts in a record, read from disk if the file still matches the compiled source.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use turbowish_model::snapshot::Place;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::report::one_line;

use crate::text;

/// Maximal number of lines; more would hide the rest.
const LINES: usize = 4;
/// Lines searched for a proc's name: a proc's line may be that of an attribute above its name.
const SIGNATURE: usize = 6;
/// Maximal size of a file in bytes; a larger one is not handwritten source.
const LONGEST: u64 = 4 << 20;

/// Where source files with relative names are searched: in the folders that the user names, then in
/// the current folder; if the process runs on this host, also in its folder and in those above its
/// executable, where cargo builds it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roots<'a> {
    /// The folders of `--source`.
    pub(crate) named: &'a [PathBuf],
    /// The process, if it runs on this host.
    pub(crate) pid: Option<u32>,
}

impl Roots<'_> {
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = self.named.to_vec();
        folders.push(PathBuf::new());
        let Some(pid) = self.pid else { return folders };
        folders.push(PathBuf::from(format!("/proc/{pid}/cwd")));
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        // Not the root of all folders: a name relative to it is a name in any program.
        let above = program.ancestors().skip(1);
        folders.extend(
            above
                .filter(|path| path.parent().is_some())
                .map(PathBuf::from),
        );
        folders
    }
}

/// `conn.rs:88 |  self.repl.send(cmd).await?;`, a line for each location that can be read.
pub(crate) fn lines(alert: &Alert, roots: Roots<'_>) -> Vec<String> {
    let folders = roots.folders();
    let found: Vec<(String, String)> = places(alert)
        .into_iter()
        .filter_map(|place| Some((name(place), line(place, &folders)?)))
        .collect();
    let width = found.iter().map(|(name, _)| text::width(name)).max();
    let told = |(name, line): &(String, String)| {
        format!("{} |  {line}", text::left(name, width.unwrap_or(0)))
    };
    found.iter().map(told).collect()
}

/// The await point and the line before it, with its columns marked; a line that says so if the
/// source has changed.
pub(crate) fn around(place: &Place, roots: Roots<'_>) -> Vec<String> {
    let Some(source) = found(&place.file, &roots.folders()) else {
        return Vec::new();
    };
    excerpt(place, &source).unwrap_or_else(|| {
        vec![format!(
            "  source differs: {} is no longer at {}",
            one_line(&place.expr),
            name(place)
        )]
    })
}

fn excerpt(place: &Place, source: &str) -> Option<Vec<String>> {
    stands(place, source)?;
    let at = place.line.checked_sub(1)? as usize;
    let mut lines = source.lines().skip(at.saturating_sub(1));
    let mut told = Vec::new();
    let width = place.line.to_string().len();
    let numbered = |mark: &str, number: u32, line: &str| {
        let line = printable(line);
        format!("  {mark} {number:>width$} | {line}")
            .trim_end()
            .to_owned()
    };
    if at > 0 {
        told.push(numbered(" ", place.line - 1, lines.next()?));
    }
    let line = lines.next()?;
    told.push(numbered(">", place.line, line));
    let column = place.column.checked_sub(1)? as usize;
    let end = match place.end_line == place.line {
        true => place.end_column as usize,
        false => line.chars().count(),
    };
    // Columns count characters; a tab is one of them, and is printed as one blank.
    let letters: String = line.chars().take(column).collect();
    let marked: String = line.chars().take(end).skip(column).collect();
    let blanks = " ".repeat(text::width(&printable(&letters)));
    let marks = "^".repeat(text::width(&printable(&marked)));
    told.push(format!("    {:>width$} | {blanks}{marks}", ""));
    Some(told)
}

/// `async fn write(&self, id: usize) -> io::Result<()>`, the first line of a proc's signature.
pub(crate) fn signature(proc: &str, file: &str, line: u32, roots: Roots<'_>) -> Vec<String> {
    let Some(source) = found(file, &roots.folders()) else {
        return Vec::new();
    };
    let own = proc.rsplit("::").next().unwrap_or(proc);
    let there = source
        .lines()
        .skip(line.saturating_sub(1) as usize)
        .take(SIGNATURE);
    let signature = there.map(str::trim).find(|line| is_signature(line, own));
    let told = signature.map(|line| format!("  {}", printable(line.trim_end_matches(['{', ' ']))));
    told.into_iter().collect()
}

/// Whether only attributes and keywords precede the name, and no other letter.
fn is_signature(line: &str, name: &str) -> bool {
    line.split_once("fn ").is_some_and(|(before, rest)| {
        let end = rest.strip_prefix(name);
        let ends =
            end.is_some_and(|end| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        ends && !before.contains('"')
    })
}

/// A line of an untrusted file for printing: no control characters, and each tab as a blank.
fn printable(line: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    line.chars().map(shown).collect()
}

/// The source file on this host.
pub(crate) fn path(file: &str, roots: Roots<'_>) -> Option<PathBuf> {
    let folders = roots.folders().into_iter();
    let there = folders.map(|folder| folder.join(file));
    let path = { there }.find(|path| is_source(path))?;
    // The canonical name, if it is the same file: a process may see other folders than the console.
    let real = fs::canonicalize(&path).ok();
    let same = real.filter(|real| id(real).is_some() && id(real) == id(&path));
    Some(same.unwrap_or(path))
}

/// The identity of a file, independent of its name.
fn id(path: &Path) -> Option<(u64, u64)> {
    let there = fs::metadata(path).ok()?;
    Some((there.dev(), there.ino()))
}

fn found(file: &str, folders: &[PathBuf]) -> Option<String> {
    folders.iter().find_map(|folder| read(&folder.join(file)))
}

/// The source locations of an alert's waits, each line once.
fn places(alert: &Alert) -> Vec<&Place> {
    let steps = alert.steps.iter().map(|step| &step.point);
    let points = alert.at.iter().chain(steps);
    let mut places: Vec<&Place> = Vec::new();
    for place in points.filter_map(|point| point.place.as_ref()) {
        let known = |other: &&Place| (&other.file, other.line) == (&place.file, place.line);
        if places.len() < LINES && !places.iter().any(known) {
            places.push(place);
        }
    }
    places
}

/// `conn.rs:88`
fn name(place: &Place) -> String {
    let file = place.file.rsplit(['/', '\\']).next();
    format!("{}:{}", file.unwrap_or_default(), place.line)
}

/// The first line of the expression, if it still matches the compiled source.
fn line(place: &Place, folders: &[PathBuf]) -> Option<String> {
    stands(place, &found(&place.file, folders)?).map(printable)
}

fn stands<'a>(place: &Place, source: &'a str) -> Option<&'a str> {
    let (first, last) = (place.line.checked_sub(1)?, place.end_line);
    let count = usize::try_from(last.checked_sub(first)?).ok()?;
    let lines = source.lines().skip(usize::try_from(first).ok()?);
    let there: String = lines.clone().take(count).collect();
    // The content of a macro is abbreviated.
    let ends = ["{..}", "(..)", "[..]"];
    let expr = ends.iter().find_map(|end| place.expr.strip_suffix(end));
    let expr = bare(expr.unwrap_or(&place.expr));
    let same = bare(&there).contains(&expr) && !expr.is_empty();
    lines.map(str::trim).next().filter(|_| same)
}

/// The text without white space, so that line breaks do not matter.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Reads regular files with Rust source only: a pipe or a device could block the console.
fn read(path: &Path) -> Option<String> {
    is_source(path).then(|| fs::read_to_string(path).ok())?
}

fn is_source(path: &Path) -> bool {
    let is_rust = path.extension().is_some_and(|end| end == "rs");
    let sane = |there: fs::Metadata| there.is_file() && there.len() <= LONGEST;
    is_rust && fs::metadata(path).is_ok_and(sane)
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::Place;

    use super::{Roots, excerpt, is_signature, lines, path, stands};

    const SOURCE: &str =
        "fn a() {\n    self.db\n        .lock()\n        .await;\n    x.await\n}\n";

    fn check(lines: (u32, u32), expr: &str, expected: Option<&str>) {
        let place = Place {
            line: lines.0,
            end_line: lines.1,
            expr: expr.to_owned(),
            ..Place::default()
        };
        assert_eq!(stands(&place, SOURCE), expected, "{lines:?} {expr}");
    }

    #[test]
    fn a_line_is_told_if_the_expression_stands_there() {
        check((5, 5), "x", Some("x.await"));
        check((2, 4), "self. {..}", Some("self.db"));
        check((2, 4), "self.db.lock()", Some("self.db"));
        check((2, 4), "self.db\n   .lock()", Some("self.db"));
        check((2, 2), "self.db.lock()", None);
        check((5, 5), "y", None);
        check((5, 5), "", None);
        check((9, 9), "x", None);
        check((0, 0), "x", None);
        check((4, 2), "x", None);
    }

    #[test]
    fn an_await_is_shown_with_the_line_before_it() {
        let at = |line, columns: (u32, u32), expr: &str| Place {
            line,
            end_line: line,
            column: columns.0,
            end_column: columns.1,
            expr: expr.to_owned(),
            ..Place::default()
        };
        let told = |place: &Place| excerpt(place, "fn a() {\n\tlet x = y().await;\n}\n");
        let expected = [
            "    1 | fn a() {",
            "  > 2 |  let x = y().await;",
            "      |          ^^^",
        ];
        let lines = told(&at(2, (10, 12), "y()")).unwrap();
        assert_eq!(lines, expected);
        assert_eq!(told(&at(2, (10, 12), "z()")), None);
        assert_eq!(told(&at(9, (1, 2), "y()")), None);
    }

    #[test]
    fn a_signature_is_found_below_its_attributes() {
        assert!(is_signature("pub async fn write(&self) {", "write"));
        assert!(is_signature("fn write<T>()", "write"));
        assert!(!is_signature("async fn write_all()", "write"));
        assert!(!is_signature("write()", "write"));
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        use turbowish_model::snapshot::alert::{Alert, Point};
        let at = |file: &str| Alert {
            at: Some(Point {
                proc: String::new(),
                place: Some(Place {
                    file: file.to_owned(),
                    line: 1,
                    end_line: 1,
                    expr: "Source excerpts in a record".to_owned(),
                    ..Place::default()
                }),
            }),
            ..Alert::default()
        };
        let own = Roots {
            pid: Some(std::process::id()),
            ..Roots::default()
        };
        let this = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detail/problem/source.rs");
        let [told] = &lines(&at(this), Roots::default())[..] else {
            panic!("the first line of this file");
        };
        assert!(
            told.starts_with("source.rs:1 |  //! Source excerpts in a record"),
            "{told}"
        );
        assert!(lines(&at("/dev/zero"), Roots::default()).is_empty());
        assert!(lines(&at("src/no/such.rs"), own).is_empty());
    }

    #[test]
    fn named_folders_are_searched_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let file = folder.path().join("src/lib.rs");
        std::fs::write(&file, "fn other() {}\n").unwrap();
        let named = [folder.path().to_owned()];
        let roots = Roots {
            named: &named,
            pid: None,
        };
        // The package of this test has such a file, too.
        assert_eq!(path("src/lib.rs", roots), file.canonicalize().ok());
        assert_ne!(
            path("src/lib.rs", Roots::default()),
            file.canonicalize().ok()
        );
        assert_eq!(path("src/no/such.rs", roots), None);
    }
}
