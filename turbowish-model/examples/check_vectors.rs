//! Checks a file of occupancy vectors against the ledger and the histograms of the live process.

use std::io::{self, Write};
use std::process::ExitCode;

use turbowish_testing::check::{self, Checked};

const HELP: &str = "\
Runs the occupancy vectors of FILE through the ledger and the histograms of the live process.

Usage: check_vectors FILE

Prints a line for every number that differs (vector, field, expected, got, and the name of the
vector's trap if one of the two is the trap's), then `N vectors, M mismatches`.

FILE is JSON: {\"format\": \"turbowish-occupancy-vectors/1\", \"vectors\": [{\"name\", \"events\", \"expect\",
and, if need be, \"now\", \"traps\", \"chroprof_oracle\"}]}. Times are unsigned 64-bit integers. Of \"expect\"
(\"procs\", \"calls\", \"busy\", \"edges\", \"anomalies\") what is left out is not compared. Percentiles may be up
to 3.2 % above the exact value and never below; all else is compared to the unit.

Exit code: 0 no mismatch, 1 mismatches, 2 FILE cannot be read or is not in the format.

Example:
  cargo run -p turbowish-model --example check_vectors -- turbowish-model/tests/occupancy-vectors.json
";
const TRY_HELP: &str = "try `check_vectors --help`";

const MISMATCHES: u8 = 1;
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [file] = &arguments[..] else {
        let given = arguments.len();
        return refuse(&format!(
            "one FILE is needed, {given} were given; {TRY_HELP}"
        ));
    };
    if file == "--help" || file == "-h" {
        return match io::stdout().write_all(HELP.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(UNUSABLE),
        };
    }
    if file.to_string_lossy().starts_with('-') {
        let option = file.display();
        return refuse(&format!("{option}: there is no such option; {TRY_HELP}"));
    }
    let checked = match std::fs::read_to_string(file) {
        Ok(text) => check::check_text(&text),
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(checked) => print(&checked),
        Err(error) => refuse(&format!("{}: {error}", file.display())),
    }
}

fn refuse(error: &str) -> ExitCode {
    eprintln!("check_vectors: {error}");
    ExitCode::from(UNUSABLE)
}

fn print(checked: &Checked) -> ExitCode {
    let mut lines: Vec<String> = checked.mismatches.iter().map(ToString::to_string).collect();
    let mismatches = lines.len();
    lines.push(format!(
        "{} vectors, {mismatches} mismatches\n",
        checked.vectors
    ));
    // The reader of stdout may have closed it: the exit code says it all the same.
    _ = io::stdout().write_all(lines.join("\n").as_bytes());
    if mismatches > 0 {
        ExitCode::from(MISMATCHES)
    } else {
        ExitCode::SUCCESS
    }
}
