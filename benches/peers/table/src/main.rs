//! Makes the tables of docs/performance.md of what `compare.sh` wrote down, and puts them between
//! their markers.
//!
//! `peer-table RESULTS DOCUMENT [BUILD]`: BUILD is a word of the markers, of a build with other
//! settings. A line of the results is `variant NAME LABEL`, `machine TEXT`, or
//! `figure ROUND VARIANT WORKLOAD NUMBER`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;

const PLAIN: &str = "plain";

/// What a figure is told as.
enum Told {
    /// Nanoseconds, to a tenth; over plain as a difference.
    Nanoseconds,
    /// Whole bytes; over plain as a difference.
    Bytes,
    /// Nanoseconds; over plain as a ratio.
    Ratio,
    /// Whole instructions; over plain as a difference.
    Instructions,
}

/// Name in the results, column, how it is told.
const WORKLOADS: &[(&str, &str, Told)] = &[
    ("call", "call, never yields", Told::Nanoseconds),
    ("call-5", "call, yields 5×", Told::Nanoseconds),
    ("yield", "yield, per poll", Told::Nanoseconds),
    ("chain-1", "chain of 1", Told::Nanoseconds),
    ("chain-4", "4", Told::Nanoseconds),
    ("chain-8", "8", Told::Nanoseconds),
    ("chain-16", "16", Told::Nanoseconds),
    ("chain-64", "64", Told::Nanoseconds),
    ("repolls-16", "16, repolls", Told::Nanoseconds),
    ("repolls-64", "64, repolls", Told::Nanoseconds),
    ("join-3", "join of 3, per poll and call", Told::Nanoseconds),
    ("tasks", "1,000 tasks, per poll", Told::Nanoseconds),
    ("parked-100000", "parked, 100,000", Told::Bytes),
    ("parked-1000000", "parked, 1,000,000", Told::Bytes),
    ("http", "HTTP, per request", Told::Ratio),
    ("http-instructions", "HTTP, instructions", Told::Instructions),
];

/// Variant, workload, the most that it may be over plain.
const GOALS: &[(&str, &str, f64)] = &[
    ("armed", "call", 40.0),
    ("armed", "yield", 45.0),
    ("armed", "chain-16", 12.0),
    ("armed", "chain-64", 10.0),
    ("armed", "repolls-16", 5.0),
    ("armed", "repolls-64", 4.0),
    ("armed", "join-3", 40.0),
    ("armed", "parked-100000", 260.0),
    ("armed", "parked-1000000", 260.0),
    ("armed", "http", 1.08),
    ("attached", "http", 1.09),
    ("disarmed", "call", 2.0),
    ("disarmed", "yield", 2.0),
    ("disarmed", "chain-16", 2.0),
    ("disarmed", "chain-64", 2.0),
    ("disarmed", "http", 1.01),
];

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Default)]
struct Results {
    machine: Vec<String>,
    variants: Vec<(String, String)>,
    /// By variant and workload: by round.
    figures: BTreeMap<(String, String), BTreeMap<u32, f64>>,
}

impl Results {
    fn read(text: &str) -> Outcome<Self> {
        let mut results = Self::default();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').ok_or("a line of one word")?;
            match kind {
                "machine" => results.machine.push(rest.to_owned()),
                "variant" => {
                    let (name, label) = rest.split_once(' ').ok_or("a variant without label")?;
                    results.variants.push((name.to_owned(), label.to_owned()));
                }
                "figure" => {
                    let [round, variant, workload, number] =
                        rest.split(' ').collect::<Vec<_>>()[..]
                    else {
                        return Err(format!("no figure: {rest}").into());
                    };
                    let key = (variant.to_owned(), workload.to_owned());
                    results
                        .figures
                        .entry(key)
                        .or_default()
                        .insert(round.parse()?, number.parse()?);
                }
                _ => return Err(format!("unknown line: {line}").into()),
            }
        }
        Ok(results)
    }

    fn rounds(&self, variant: &str, workload: &str) -> Option<&BTreeMap<u32, f64>> {
        self.figures.get(&(variant.to_owned(), workload.to_owned()))
    }

    /// The median of the rounds' figures.
    fn alone(&self, variant: &str, workload: &str) -> Option<f64> {
        median(self.rounds(variant, workload)?.values().copied())
    }

    /// The median of the rounds' figures over plain's of the same round.
    fn over_plain(&self, variant: &str, workload: &str, told: &Told) -> Option<f64> {
        let plain = self.rounds(PLAIN, workload)?;
        let rounds = self.rounds(variant, workload)?.iter();
        median(rounds.filter_map(|(round, figure)| {
            let plain = plain.get(round)?;
            Some(match told {
                Told::Ratio => figure / plain,
                Told::Nanoseconds | Told::Bytes | Told::Instructions => figure - plain,
            })
        }))
    }

    fn cell(&self, variant: &str, workload: &str, told: &Told) -> String {
        let text = if variant == PLAIN {
            self.alone(variant, workload)
                .map(|figure| told.alone(figure))
        } else {
            self.over_plain(variant, workload, told)
                .map(|figure| told.over(figure))
        };
        text.unwrap_or_else(|| "–".to_owned())
    }

    fn comparison(&self) -> Outcome<String> {
        let mut text = String::from("| |");
        for (_, column, _) in WORKLOADS {
            write!(text, " {column} |")?;
        }
        text.push_str("\n|---|");
        text.push_str(&"--:|".repeat(WORKLOADS.len()));
        text.push('\n');
        for (variant, label) in &self.variants {
            write!(text, "| {label} |")?;
            for (workload, _, told) in WORKLOADS {
                write!(text, " {} |", self.cell(variant, workload, told))?;
            }
            text.push('\n');
        }
        Ok(text)
    }

    fn goals(&self) -> Outcome<String> {
        let mut text = String::from("| | workload | goal | measured | |\n|---|---|--:|--:|---|\n");
        for (variant, workload, goal) in GOALS {
            let Some((_, column, told)) = WORKLOADS.iter().find(|row| row.0 == *workload) else {
                return Err(format!("no workload {workload}").into());
            };
            let is_chain = workload.starts_with("chain-") || workload.starts_with("repolls-");
            let chain = if is_chain && !column.starts_with("chain") {
                "chain of "
            } else {
                ""
            };
            let Some(figure) = self.over_plain(variant, workload, told) else {
                continue;
            };
            let met = if figure <= *goal { "met" } else { "**missed**" };
            writeln!(
                text,
                "| {variant} | {chain}{column} | {} | {} | {met} |",
                told.over(*goal),
                told.over(figure)
            )?;
        }
        Ok(text)
    }

    fn text(&self) -> Outcome<String> {
        let rounds = self.rounds(PLAIN, "call").map_or(0, BTreeMap::len);
        let mut text = String::new();
        for line in &self.machine {
            writeln!(text, "{line}")?;
        }
        writeln!(
            text,
            "Medians of {rounds} rounds.\n\n{}\n{}",
            self.comparison()?,
            self.goals()?
        )?;
        Ok(text)
    }
}

impl Told {
    fn alone(&self, figure: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{figure:.1} ns"),
            Self::Bytes => format!("{figure:.0} B"),
            Self::Ratio => format!("{:.1} µs", figure / 1_000.0),
            Self::Instructions => format!("{figure:.0}"),
        }
    }

    fn over(&self, figure: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{figure:+.1}"),
            Self::Bytes | Self::Instructions => format!("{figure:+.0}"),
            Self::Ratio => format!("{figure:.3} ×"),
        }
    }
}

/// The middle one, or the mean of the two in the middle.
fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let last = figures.len().checked_sub(1)?;
    Some((figures[last / 2] + figures[last.div_ceil(2)]) / 2.0)
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (results, document, build) = match &words[..] {
        [results, document] => (results, document, String::new()),
        [results, document, build] => (results, document, format!(", {build}")),
        _ => return Err("peer-table RESULTS DOCUMENT [BUILD]".into()),
    };
    let [begin, end] =
        ["from", "to"].map(|side| format!("<!-- compare.sh{build}: {side} here -->\n"));
    let results = Results::read(&std::fs::read_to_string(results)?)?;
    let text = std::fs::read_to_string(document)?;
    let (head, rest) = text
        .split_once(&begin)
        .ok_or("the document has no marker to begin at")?;
    let (_, tail) = rest
        .split_once(&end)
        .ok_or("the document has no marker to end at")?;
    let tables = results.text()?;
    std::fs::write(
        document,
        format!("{head}{begin}\n{}\n\n{end}{tail}", tables.trim_end()),
    )?;
    Ok(())
}
