//! CSV output: a cell is one line without control characters, and a spreadsheet does not interpret
//! it as a formula.

use std::iter::once;

use turbowish_model::snapshot::sanitize;

use crate::failure::Failure;

/// The characters that begin a formula, including their full-width forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The CSV document of these rows, the header first.
///
/// # Errors
/// The rows do not have the same length.
pub(crate) fn csv<R>(rows: impl IntoIterator<Item = R>) -> Result<String, Failure>
where
    R: IntoIterator<Item = String>,
{
    let failed = |fault: String| Failure::Local(format!("cannot write CSV: {fault}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let cells = row.into_iter().map(|cell| inert(&cell));
        writer
            .write_record(cells)
            .map_err(|fault| failed(fault.to_string()))?;
    }
    let bytes = writer.into_inner();
    let bytes = bytes.map_err(|fault| failed(fault.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The cell on one line; a leading quote turns a formula into text. Numbers do not change.
fn inert(cell: &str) -> String {
    let line = sanitize::line(cell);
    if line.starts_with(FORMULA) && !is_number(&line) {
        return once('\'').chain(line.chars()).collect();
    }
    line.into_owned()
}

fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    all(whole) && all(fraction)
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        let check = |cell, expected| assert_eq!(inert(cell), expected);
        check("kv::db::get", "kv::db::get");
        check("", "");
        check("-120", "-120");
        check("+1.5", "+1.5");
        check("-", "'-");
        check("-1.", "'-1.");
        check("-2+3", "'-2+3");
        check("=1+1", "'=1+1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("＝1", "'＝1");
        check("\t=1", "\\t=1");
        check("\r=1", "\\r=1");
        check("a\n=1", "a\\n=1");
    }
}
