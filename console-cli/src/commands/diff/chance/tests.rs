//! False alarms and detection on generated samples, with fixed seeds.

use turbowish_model::snapshot::quantile::{Distribution, Percentile};

use super::{Chance, Growth, Values};

/// Comparisons of a usual run: twenty procs, three percentiles.
const COMPARISONS: usize = 60;

const PERCENTILES: [u8; 3] = [50, 90, 99];

/// A splitmix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0, below 1.
    fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// How the times of calls are distributed, in nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A fixed amount of work.
    Steady,
    /// Work that depends on its input.
    Varied,
    /// A queue.
    Exponential,
    /// Spread over decades.
    Wide,
    /// Hits and misses of a cache.
    TwoPaths,
}

const SHAPES: [Shape; 5] = [
    Shape::Steady,
    Shape::Varied,
    Shape::Exponential,
    Shape::Wide,
    Shape::TwoPaths,
];

impl Shape {
    fn draw(self, random: &mut Random) -> f64 {
        let log_normal = |random: &mut Random, sigma: f64| 1e6 * (sigma * random.normal()).exp();
        match self {
            Self::Steady => log_normal(random, 0.05),
            Self::Varied => log_normal(random, 0.3),
            Self::Exponential => -1e6 * random.unit().ln(),
            Self::Wide => log_normal(random, 1.5),
            Self::TwoPaths if random.unit() < 0.8 => 0.01 * log_normal(random, 0.1),
            Self::TwoPaths => log_normal(random, 0.1),
        }
    }
}

/// What a machine does to a window.
#[derive(Clone, Copy, Debug, Default)]
struct Noise {
    /// So many neighbours are alike.
    alike: u64,
    /// This share of the values is delayed by milliseconds.
    delayed: f64,
    /// All values are longer by this share: another clock frequency.
    slower: f64,
}

fn window(random: &mut Random, shape: Shape, n: u64, slower: f64, noise: Noise) -> Distribution {
    let mut values = Vec::new();
    let mut value = 0.0;
    for nth in 0..n {
        if nth % noise.alike.max(1) == 0 {
            value = shape.draw(random);
        }
        let delay = if random.unit() < noise.delayed {
            4e6
        } else {
            0.0
        };
        values.push((value * (1.0 + slower) * (1.0 + noise.slower) + delay) as u64);
    }
    distribution(&mut values)
}

/// In the buckets of accounting: 32 for each power of two.
fn distribution(values: &mut [u64]) -> Distribution {
    values.sort_unstable();
    let upper = |value: u64| {
        let step = 1u64 << value.max(32).ilog2().saturating_sub(5);
        (value / step + 1) * step - 1
    };
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for value in values.iter().map(|value| upper(*value)) {
        match buckets.last_mut() {
            Some(last) if last.0 == value => last.1 += 1,
            _ => buckets.push((value, 1)),
        }
    }
    let max_ns = values.last().copied().unwrap_or_default();
    let sum_ns = values.iter().sum();
    Distribution::of_buckets(values.len() as u64, sum_ns, max_ns, buckets).expect("ascending")
}

fn growth(before: &Distribution, after: &Distribution, percent: u8) -> Growth {
    let values = |of| Values {
        of,
        exact: true,
        behind: None,
    };
    let percentile = Percentile::whole(percent);
    Chance::of(COMPARISONS).percentile(values(before), values(after), percentile)
}

/// Whether a percentile fails, as with the default limits of 10 %.
fn fails(before: &Distribution, after: &Distribution, percent: u8) -> bool {
    let value = |of: &Distribution| of.percentile(Percentile::whole(percent)).unwrap_or(0) as f64;
    value(after) > value(before) * 1.1 && growth(before, after, percent).at_least > 1.0
}

/// The share of pairs of windows in which a percentile fails; `slower` is the second's true growth.
fn failing(shape: Shape, n: u64, pairs: u64, slower: f64, noise: [Noise; 2]) -> [f64; 3] {
    let mut random = Random(n ^ 7);
    let mut failed = [0u64; 3];
    for _ in 0..pairs {
        let before = window(&mut random, shape, n, 0.0, noise[0]);
        let after = window(&mut random, shape, n, slower, noise[1]);
        for (failed, percent) in failed.iter_mut().zip(PERCENTILES) {
            *failed += u64::from(fails(&before, &after, percent));
        }
    }
    failed.map(|failed| failed as f64 / pairs as f64)
}

#[test]
fn the_same_distribution_does_not_fail() {
    let mut all = 0;
    for shape in SHAPES {
        for (n, pairs) in [
            (20, 600),
            (60, 600),
            (300, 400),
            (1_000, 150),
            (5_000, 40),
            (20_000, 8),
        ] {
            let failed = failing(shape, n, pairs, 0.0, [Noise::default(); 2]);
            assert_eq!(failed, [0.0; 3], "{shape:?} {n}");
            all += pairs;
        }
    }
    assert!(all >= 8_000, "{all}");
}

#[test]
fn what_a_machine_does_to_a_window_does_not_fail() {
    let calm = Noise {
        alike: 4,
        ..Noise::default()
    };
    let busy = Noise {
        alike: 4,
        delayed: 0.004,
        slower: 0.04,
    };
    for shape in SHAPES {
        for (n, pairs) in [
            (60, 300),
            (300, 200),
            (1_000, 100),
            (5_000, 20),
            (20_000, 5),
        ] {
            for noise in [[calm, busy], [busy, calm], [busy, busy]] {
                let failed = failing(shape, n, pairs, 0.0, noise);
                assert_eq!(failed, [0.0; 3], "{shape:?} {n} {noise:?}");
            }
        }
    }
}

/// Times in the queue of a server that is busy 60 % of the time: who comes behind a long queue
/// waits long, too.
fn queue(random: &mut Random, n: u64, service: f64) -> Distribution {
    let mut wait: f64 = 0.0;
    let mut values = Vec::new();
    for _ in 0..n {
        let pause = -service / 0.6 * random.unit().ln();
        wait = (wait + service - pause).max(0.0);
        values.push((wait + service) as u64);
    }
    distribution(&mut values)
}

/// The growth of times that include waits.
fn growth_of_waits(before: &Distribution, after: &Distribution, percent: u8) -> Growth {
    growth_behind((before, 0.0), (after, 0.0), percent)
}

/// The same, where a share of the values may include a wait behind one event.
fn growth_behind(before: (&Distribution, f64), after: (&Distribution, f64), percent: u8) -> Growth {
    let values = |(of, behind)| Values {
        of,
        exact: true,
        behind: Some(behind),
    };
    let percentile = Percentile::whole(percent);
    Chance::of(COMPARISONS).percentile(values(before), values(after), percentile)
}

/// A worker is blocked for 1.5 s every 20 s. Of 200 calls a second, those of that time wait behind
/// it, and as many again behind these: of two windows of 10 s, one has it. Calls that wait ten
/// times as long for another reason are told.
#[test]
fn what_waits_behind_one_event_does_not_fail() {
    let mut random = Random(5);
    let mut window = |blocked_ms: u64, factor: f64| {
        let waits = (0..2_000).map(|nth| {
            let blocked = (blocked_ms * 1_000_000).saturating_sub(nth * 2_500_000);
            blocked + ((5.0 + random.unit()) * factor * 1e6) as u64
        });
        distribution(&mut waits.collect::<Vec<u64>>())
    };
    let (calm, stall, slow) = (window(0, 1.0), window(1_500, 1.0), window(1_500, 10.0));
    let share = 2.0 * 1.5 / 10.0;
    for percent in PERCENTILES {
        let growth = growth_behind((&calm, 0.0), (&stall, share), percent);
        assert!(growth.at_least <= 1.0, "p{percent} {growth:?}");
        let growth = growth_behind((&stall, share), (&calm, 0.0), percent);
        assert!(growth.at_most >= 1.0, "p{percent} {growth:?}");
        let growth = growth_behind((&calm, 0.0), (&slow, share), percent);
        assert_eq!(growth.at_least > 1.0, percent < 99, "p{percent} {growth:?}");
    }
    assert!(growth_of_waits(&calm, &stall, 90).at_least > 1.0);
}

#[test]
fn waits_in_a_queue_of_the_same_load_do_not_fail() {
    let mut random = Random(3);
    for (n, pairs) in [
        (60, 400),
        (300, 200),
        (1_000, 100),
        (5_000, 40),
        (20_000, 10),
    ] {
        for _ in 0..pairs {
            let [before, after] = [(); 2].map(|()| queue(&mut random, n, 1e6));
            for percent in PERCENTILES {
                let growth = growth_of_waits(&before, &after, percent);
                assert!(growth.at_least <= 1.0, "{n} p{percent} {growth:?}");
            }
        }
    }
}

#[test]
fn waits_that_are_much_longer_fail() {
    let mut random = Random(4);
    for (n, percent, factor, expected) in [
        (49, 50, 200.0, false),
        (200, 50, 200.0, true),
        (5_000, 90, 200.0, true),
        (5_000, 50, 2.0, true),
    ] {
        let before = queue(&mut random, n, 1e6);
        let after = queue(&mut random, n, 1e6 * factor);
        let growth = growth_of_waits(&before, &after, percent);
        assert_eq!(growth.at_least > 1.0, expected, "{n} p{percent} {growth:?}");
    }
}

/// Checks in which share of the windows of `n` calls 20 % more time of each call is a failure.
fn check(shape: Shape, n: u64, pairs: u64, expected: [f64; 3]) {
    let failed = failing(shape, n, pairs, 0.2, [Noise::default(); 2]);
    for (failed, expected) in failed.iter().zip(expected) {
        assert!(
            *failed >= expected,
            "{shape:?} {n}: {failed:?}, not {expected:?}"
        );
    }
}

#[test]
fn a_fifth_more_time_is_found() {
    check(Shape::Steady, 60, 100, [0.99, 0.0, 0.0]);
    check(Shape::Steady, 300, 50, [0.99, 0.99, 0.0]);
    check(Shape::Steady, 20_000, 2, [0.99, 0.99, 0.99]);
    check(Shape::Varied, 1_000, 40, [0.3, 0.0, 0.0]);
    check(Shape::Varied, 5_000, 20, [0.99, 0.99, 0.0]);
    check(Shape::TwoPaths, 300, 50, [0.9, 0.0, 0.0]);
    check(Shape::TwoPaths, 5_000, 10, [0.99, 0.99, 0.0]);
    check(Shape::Exponential, 50_000, 2, [0.99, 0.0, 0.0]);
    // What is spread over decades has percentiles that hardly notice a fifth.
}

/// A bound of the growth must be below the true growth, in nearly all windows.
#[test]
fn the_bounds_of_the_growth_hold() {
    let mut random = Random(1);
    for shape in SHAPES {
        for (n, pairs) in [(60, 200), (1_000, 60), (10_000, 6)] {
            for _ in 0..pairs {
                let before = window(&mut random, shape, n, 0.0, Noise::default());
                let after = window(&mut random, shape, n, 0.2, Noise::default());
                for percent in PERCENTILES {
                    let growth = growth(&before, &after, percent);
                    let bounds = growth.at_least..=growth.at_most;
                    assert!(bounds.contains(&1.2), "{shape:?} {n} p{percent} {growth:?}");
                }
            }
        }
    }
}

#[test]
fn failures_are_compared_by_call() {
    let chance = Chance::of(COMPARISONS);
    for (before, after, expected) in [
        // One more, and none before: chance.
        ((0.0, 1_000.0), (1.0, 1_000.0), false),
        ((3.0, 1_000.0), (9.0, 1_000.0), false),
        ((100.0, 1_000.0), (120.0, 1_000.0), false),
        ((0.0, 1_000.0), (100.0, 1_000.0), true),
        ((100.0, 1_000.0), (300.0, 1_000.0), true),
        // Twice the traffic.
        ((100.0, 1_000.0), (200.0, 2_000.0), false),
        ((0.0, 0.0), (0.0, 0.0), false),
    ] {
        let growth = chance.rate(before, after);
        assert_eq!(
            growth.at_least > 1.0,
            expected,
            "{before:?} {after:?} {growth:?}"
        );
        assert!(growth.at_least <= growth.at_most, "{growth:?}");
    }
}

#[test]
fn a_mean_of_unknown_values_must_grow_a_lot() {
    let chance = Chance::of(COMPARISONS);
    for (before, after, expected) in [
        ((1_000.0, 49), (90_000.0, 49), false),
        ((1_000.0, 5_000), (1_200.0, 5_000), false),
        ((1_000.0, 50_000), (2_000.0, 50_000), true),
        ((1_000.0, 50_000), (2_000.0, 49), false),
    ] {
        let growth = chance.mean(before, after);
        assert_eq!(
            growth.at_least > 1.0,
            expected,
            "{before:?} {after:?} {growth:?}"
        );
    }
}

/// Without buckets, the value can be anything between two known percentiles.
#[test]
fn a_file_without_buckets_tells_only_gross_changes() {
    let known = |factor: u64| {
        let known = [("50", 10), ("90", 20), ("99", 30), ("99.9", 40)];
        let known = known.map(|(q, v)| (Percentile::parse(q).expect(q), v * 1_000 * factor));
        Distribution::of_percentiles(20_000, 0, 50_000 * factor, &known)
    };
    for (factor, percent, expected) in [(1, 90, false), (2, 90, false), (4, 90, true)] {
        let (before, after) = (known(1), known(factor));
        let values = |of| Values {
            of,
            exact: false,
            behind: None,
        };
        let percentile = Percentile::whole(percent);
        let chance = Chance::of(COMPARISONS);
        let growth = chance.percentile(values(&before), values(&after), percentile);
        assert_eq!(growth.at_least > 1.0, expected, "{factor} {growth:?}");
    }
}
