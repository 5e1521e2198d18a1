//! Condition that every row of a table must satisfy. A value without a sample neither satisfies nor
//! violates it.

use super::filter::Comparison;
use super::{QueryError, parse};
use crate::snapshot::column::{Column, Context, Row, Unit, Value};

/// A comparison of a column with a limit: `hold_p99 < 10ms`.
#[derive(Clone, Debug)]
pub struct Condition<R: 'static> {
    column: Column<R>,
    comparison: Comparison,
    limit: u64,
}

/// Result of a condition for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The condition is satisfied.
    Holds,
    /// The condition is violated.
    Fails,
    /// Nothing was measured, or the column does not apply to the row.
    NoSample,
    /// The value is unknown.
    Unknown,
}

impl<R: Row> Condition<R> {
    /// Parses a comparison with the syntax of filters; spaces around the operator are allowed.
    ///
    /// # Errors
    ///
    /// If the text is not exactly one comparison, names no column of this table or a text column,
    /// or compares a duration without a unit.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let (column, comparison, limit) = parse::comparison_alone(text)?;
        Ok(Self {
            column,
            comparison,
            limit,
        })
    }

    /// Returns the column that is compared.
    #[must_use]
    pub const fn column(&self) -> &Column<R> {
        &self.column
    }

    /// Returns the limit, as a value of the column.
    #[must_use]
    pub const fn limit(&self) -> Value<'static> {
        match self.column.unit {
            Unit::Duration => Value::Duration(self.limit),
            Unit::Share | Unit::Trend => Value::Share(self.limit),
            Unit::Rate => Value::Rate(self.limit),
            Unit::Average => Value::Average(self.limit),
            Unit::Bytes => Value::Bytes(self.limit),
            Unit::Count | Unit::Text | Unit::Place => Value::Count(self.limit),
        }
    }

    /// Whether large values violate the condition.
    #[must_use]
    pub const fn bounds_above(&self) -> bool {
        matches!(
            self.comparison,
            Comparison::Less | Comparison::LessOrEqual | Comparison::Equal
        )
    }

    /// Distance of a value beyond the limit: larger is worse.
    #[must_use]
    pub fn beyond(&self, value: &Value<'_>) -> u128 {
        let value = value.integer().unwrap_or_default();
        value.abs_diff(i128::from(self.limit))
    }

    /// Evaluates the condition for a row.
    #[must_use]
    pub fn judge(&self, row: &R, context: &Context) -> Verdict {
        let value = self.column.value(row, context);
        let holds = match (&value, value.number()) {
            (Value::Signed(n), _) if *n < 0 => self.comparison.holds_below_zero(),
            (_, Some(number)) => self.comparison.holds(number, self.limit),
            (Value::Unknown, None) => return Verdict::Unknown,
            (_, None) => return Verdict::NoSample,
        };
        if holds {
            Verdict::Holds
        } else {
            Verdict::Fails
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Verdict};
    use crate::snapshot::column::{Context, Style, Value};
    use crate::snapshot::quantile::Distribution;
    use crate::snapshot::units::SECOND;
    use crate::snapshot::{CounterRow, ProcRow, ResourceRow};
    use alloc::string::ToString;

    fn row() -> ProcRow {
        ProcRow {
            running_ns: SECOND / 10,
            ready: 16,
            poll_hold: Distribution {
                n: 1,
                sum_ns: 10_000_000,
                max_ns: 10_000_000,
                buckets: [(10_000_000, 1)].to_vec(),
            },
            ..ProcRow::default()
        }
    }

    fn check(text: &str, expected: Verdict) {
        let condition = Condition::<ProcRow>::parse(text).expect(text);
        let context = Context {
            window_ns: SECOND,
            ..Context::default()
        };
        assert_eq!(condition.judge(&row(), &context), expected, "{text}");
    }

    #[test]
    fn a_row_holds_fails_or_says_nothing() {
        check("hold_p99 < 10ms", Verdict::Fails);
        check("hold_p99 <= 10ms", Verdict::Holds);
        check(" hold_p99<10001us ", Verdict::Holds);
        check("hold_p99<10001µs", Verdict::Holds);
        check("hold_p99.9>1ms", Verdict::Holds);
        check("run < 10%", Verdict::Fails);
        check("run =10", Verdict::Holds);
        check("calls >= 16/s", Verdict::Holds);
        check("calls > 0.016k", Verdict::Fails);
        check("run_p99 < 1ns", Verdict::NoSample);
        check("POLp99 < 10ms", Verdict::Fails);
        check("polp99<=10ms", Verdict::Holds);
        check("RUN% < 10%", Verdict::Fails);
        check("RUN_P99 < 1ns", Verdict::NoSample);
        check("size < 1KiB", Verdict::Unknown);
    }

    #[test]
    fn the_limit_is_a_value_of_its_column() {
        let print = |text| {
            let condition = Condition::<ProcRow>::parse(text).expect(text);
            condition.limit().print(Style::default())
        };
        assert_eq!(print("hold_p99<10ms"), "10.0ms");
        assert_eq!(print("run<5%"), "5.0");
        assert_eq!(print("calls<1.5k"), "1.50k");
        assert_eq!(print("size<4KiB"), "4.0KiB");
        let fill = Condition::<ResourceRow>::parse("fill < 90%").expect("a share");
        assert_eq!(fill.limit().print(Style::default()), "90.0");
    }

    #[test]
    fn numbers_below_zero_are_numbers() {
        let row = CounterRow {
            value: Some(-5),
            ..CounterRow::default()
        };
        for (text, expected) in [
            ("value < 3", Verdict::Holds),
            ("value >= 0", Verdict::Fails),
            ("max < 3", Verdict::NoSample),
        ] {
            let condition = Condition::<CounterRow>::parse(text).expect(text);
            let context = Context {
                window_ns: SECOND,
                ..Context::default()
            };
            assert_eq!(condition.judge(&row, &context), expected, "{text}");
        }
        let condition = Condition::<CounterRow>::parse("value >= 3").expect("a number");
        assert_eq!(condition.beyond(&Value::Signed(-5)), 8);
    }

    fn refuse(text: &str, expected: &str) {
        let error = Condition::<ProcRow>::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_mistake_is_named() {
        refuse(
            "hold_p98<1ms",
            "no field hold_p98 in procs; did you mean hold_p99?",
        );
        refuse(
            "run_p99<5",
            "filter of procs: run_p99 is a duration and needs a unit: ns us ms s m h",
        );
        refuse(
            "Zzz < 5ms",
            "no field Zzz in procs; turbowish query procs --columns lists them",
        );
        refuse("proc<5", "filter of procs: proc is text; write proc:WORD");
        for text in ["run", "", "run 5", "run:5"] {
            refuse(
                text,
                "filter of procs: a column is compared with a number: < <= > >= =",
            );
        }
        refuse(
            "run<5 calls>1",
            "filter of procs: write one number and its unit, without a blank, not \"calls>1\"",
        );
        refuse(
            "run<",
            "filter of procs: run is compared with a number, not \"\"",
        );
    }
}
