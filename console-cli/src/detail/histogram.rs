//! A population as bars: classes of 1, 2, 5 if few suffice, else one for each power of ten.

use turbowish_model::snapshot::quantile::{Distribution, Percentile};
use turbowish_model::snapshot::units::{self, Micro};

/// Maximal number of classes; more would hide the rest of a record.
const CLASSES: usize = 6;
/// Columns of the longest bar.
const BAR: u64 = 16;
const UNITS: [(u64, &str); 4] = [
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "µs"),
    (1, "ns"),
];

/// The bars of a population, and its percentiles; no line where nothing was measured.
pub(super) fn lines(population: &Distribution, full: char, micro: Micro) -> Vec<String> {
    let Some(percentiles) = percentiles(population, micro) else {
        return Vec::new();
    };
    let classes = classes(population);
    let most_often = classes
        .iter()
        .map(|(_, _, count)| *count)
        .max()
        .unwrap_or(0);
    let mut lines: Vec<String> = classes
        .into_iter()
        .map(|(from, to, count)| {
            let cells = (count * BAR).div_ceil(most_often.max(1)) as usize;
            let bar: String = std::iter::repeat_n(full, cells).collect();
            format!("{:>10} {count:>6}  {bar}", range(from, to, micro))
        })
        .collect();
    lines.push(percentiles);
    lines
}

/// `  p50 17.1ms  p99 38.4ms  max 38.4ms`; nothing where nothing was measured.
pub(super) fn percentiles(population: &Distribution, micro: Micro) -> Option<String> {
    let time = |ns| units::duration(ns, micro);
    let at = |percent| population.percentile(Percentile::whole(percent)).map(time);
    let (half, most, max) = (at(50)?, at(99)?, time(population.max_ns));
    Some(format!("  p50 {half}  p99 {most}  max {max}"))
}

/// From, to and count of each class, none left out between the first and the last.
fn classes(population: &Distribution) -> Vec<(u64, u64, u64)> {
    let fine = by_steps(population, &[1, 2, 5]);
    if fine.len() <= CLASSES {
        return fine;
    }
    let decades = by_steps(population, &[1]);
    let beyond = decades.len().saturating_sub(CLASSES);
    // The rare ones at the lower end are one class.
    let mut kept = decades;
    let low: Vec<_> = kept.drain(..=beyond).collect();
    let first = (
        low.first().map_or(0, |class| class.0),
        low.last().map_or(0, |class| class.1),
        low.iter().map(|class| class.2).sum(),
    );
    kept.insert(0, first);
    kept
}

fn by_steps(population: &Distribution, steps: &[u64]) -> Vec<(u64, u64, u64)> {
    let mut bounds = vec![0];
    let mut decade = 1u64;
    while decade <= 1_000_000_000_000 {
        bounds.extend(steps.iter().map(|step| step * decade));
        decade *= 10;
    }
    bounds.push(u64::MAX);
    let mut classes: Vec<(u64, u64, u64)> = bounds
        .windows(2)
        .map(|pair| (pair[0], pair[1], 0))
        .collect();
    for &(upper, count) in &population.buckets {
        // A bucket's bound is above its values, the last one's above the largest of all.
        let value = upper.min(population.max_ns);
        let at = classes.partition_point(|class| class.1 <= value);
        if let Some(class) = classes.get_mut(at) {
            class.2 += count;
        }
    }
    let filled = |class: &(u64, u64, u64)| class.2 > 0;
    let first = classes.iter().position(filled).unwrap_or(0);
    let last = classes.iter().rposition(filled).unwrap_or(0);
    classes.drain(first..=last).collect()
}

/// `10-20 ms`, `0.5-1 ms`
fn range(from: u64, to: u64, micro: Micro) -> String {
    if to == u64::MAX {
        return format!("> {} s", from / UNITS[0].0);
    }
    let (one, unit) = UNITS
        .into_iter()
        .find(|(one, _)| to >= *one)
        .unwrap_or(UNITS[3]);
    let unit = match (unit, micro) {
        ("µs", Micro::Ascii) => "us",
        (unit, _) => unit,
    };
    let lower = match from {
        0 => "0".to_owned(),
        from if from >= one => (from / one).to_string(),
        from if from * 1_000 < one => "0".to_owned(),
        from => {
            let thousandths = from * 1_000 / one;
            let text = format!("0.{thousandths:03}");
            text.trim_end_matches(['0', '.']).to_owned()
        }
    };
    format!("{lower}-{} {unit}", to / one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(buckets: &[(u64, u64)], expected: &[&str]) {
        let max_ns = buckets.last().map_or(0, |last| last.0);
        let population = Distribution {
            n: buckets.iter().map(|bucket| bucket.1).sum(),
            sum_ns: 0,
            max_ns,
            buckets: buckets.to_vec(),
        };
        assert_eq!(lines(&population, '#', Micro::Ascii), expected);
    }

    #[test]
    fn few_classes_are_fine_and_many_are_powers_of_ten() {
        check(&[], &[]);
        check(
            &[(7_000_000, 4), (17_100_000, 28), (38_400_000, 16)],
            &[
                "   5-10 ms      4  ###",
                "  10-20 ms     28  ################",
                "  20-50 ms     16  ##########",
                "  p50 17.1ms  p99 38.4ms  max 38.4ms",
            ],
        );
        check(
            &[(600, 1), (1_000, 2)],
            &[
                "  0.5-1 us      1  ########",
                "    1-2 us      2  ################",
                "  p50 1.00us  p99 1.00us  max 1.00us",
            ],
        );
        check(
            &[
                (3, 1),
                (40, 1),
                (100_000, 90),
                (9_000_000, 2),
                (3_000_000_000_000, 1),
            ],
            &[
                "  0-100 ms     94  ################",
                "   0.1-1 s      0  ",
                "    1-10 s      0  ",
                "  10-100 s      0  ",
                "100-1000 s      0  ",
                "  > 1000 s      1  #",
                "  p50 100us  p99 50m00s  max 50m00s",
            ],
        );
    }
}
