//! Tests of metrics: a counter is the sum over threads, a gauge has the value set last on any
//! thread.

use crate::ordered::Map;
use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{GaugeStats, MetricKey, MetricStats, Metrics, PROC_LIMIT, SITE_LIMIT};
use crate::account::time::Scale;
use crate::collect::assemble::{Assembly, Names, ProcName};
use crate::collect::history::{History, Totals, Trend};
use crate::collect::metric_rows::{METRIC_NAME_BYTES, MetricName};
use crate::snapshot::{CounterRow, MetricKind, Place};

fn key(site: u32, proc: u32) -> MetricKey {
    MetricKey { site, proc }
}

fn read<'a>(threads: impl IntoIterator<Item = &'a Metrics>) -> Map<MetricKey, MetricStats> {
    let mut all = Map::new();
    for thread in threads {
        thread.read(&mut all, &mut || ());
    }
    all
}

fn gauge(last: i64, at: u64, least: i64, most: i64) -> Option<GaugeStats> {
    Some(GaugeStats {
        last,
        at,
        least,
        most,
    })
}

#[test]
fn each_site_has_a_cell_in_each_proc() {
    let (one, two) = (Metrics::default(), Metrics::default());
    assert!(one.count(key(3, 0), 5) && one.count(key(3, 7), 1) && one.count(key(3, 0), u64::MAX));
    assert!(two.count(key(3, 7), 2));
    assert!(one.set(key(4, 7), -9, 30) && two.set(key(4, 7), 8, 20) && two.set(key(4, 7), 2, 21));
    let all = read([&one, &two]);
    let counted = |updates, total| MetricStats {
        updates,
        total,
        gauge: None,
    };
    let expected = [
        (key(3, 0), counted(2, u64::MAX)),
        (key(3, 7), counted(2, 3)),
        (
            key(4, 7),
            MetricStats {
                updates: 3,
                total: 0,
                gauge: gauge(-9, 30, -9, 8),
            },
        ),
    ];
    assert_eq!(all.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn there_is_an_end_to_it() {
    let metrics = Metrics::default();
    assert!(!metrics.count(key(SITE_LIMIT, 0), 1) && !metrics.set(key(u32::MAX, 0), 1, 1));
    assert!(metrics.count(key(SITE_LIMIT - 1, 0), 1));
    for proc in 1..PROC_LIMIT as u32 {
        assert!(metrics.count(key(SITE_LIMIT - 1, proc), 1), "{proc}");
    }
    assert!(!metrics.count(key(SITE_LIMIT - 1, PROC_LIMIT as u32), 1));
    assert!(metrics.count(key(SITE_LIMIT - 1, 5), 1));
    assert_eq!(read([&metrics]).len(), PROC_LIMIT);
}

#[derive(Clone, Debug)]
enum Said {
    Count(u64),
    Set(i64),
}

proptest! {
    /// Random updates by random threads: the sums equal those of a plain list of all updates.
    #[test]
    fn nothing_is_lost(
        said in prop::collection::vec(
            (0..3_usize, 0..4_u32, 0..3_u32, prop_oneof![
                any::<u64>().prop_map(Said::Count),
                any::<i64>().prop_map(Said::Set),
            ]),
            0..200,
        ),
    ) {
        let threads: [Metrics; 3] = Default::default();
        let mut expected: Map<MetricKey, MetricStats> = Map::new();
        for (at, (thread, site, proc, what)) in said.into_iter().enumerate() {
            // A site is either a counter or a gauge.
            let stats = match what {
                Said::Count(by) => {
                    threads[thread].count(key(site, proc), by);
                    let stats = expected.entry(key(site, proc)).or_default();
                    stats.total = stats.total.saturating_add(by);
                    stats
                }
                Said::Set(value) => {
                    let t = at as u64 + 1;
                    threads[thread].set(key(site + 10, proc), value, t);
                    let stats = expected.entry(key(site + 10, proc)).or_default();
                    let before = stats.gauge.unwrap_or(GaugeStats { least: value, most: value, ..GaugeStats::default() });
                    stats.gauge = gauge(value, t, before.least.min(value), before.most.max(value));
                    stats
                }
            };
            stats.updates += 1;
        }
        prop_assert_eq!(read(&threads), expected);
    }
}

/// Sites 0 and 1 are one counter in two places, 2 is a gauge; the names of the others are nonsense.
struct Names3;

impl Names for Names3 {
    fn proc(&self, id: u32) -> Option<ProcName<'_>> {
        (id == 0).then_some(ProcName {
            path: "app::serve",
            file: "src/main.rs",
            line: 1,
        })
    }

    fn place(&self, _proc: u32, _site: u16) -> Option<Place> {
        None
    }

    fn metric(&self, site: u32) -> Option<MetricName<'_>> {
        let (name, kind) = match site {
            0 | 1 => ("requests", MetricKind::Counter),
            2 => ("queue", MetricKind::Gauge),
            3 => ("", MetricKind::Gauge),
            _ => return None,
        };
        Some(MetricName {
            name,
            kind,
            file: "src/main.rs",
            line: site + 10,
            column: 5,
        })
    }
}

fn totals(at: u64, metrics: &Metrics) -> Totals {
    let mut totals = Totals {
        at,
        ..Totals::default()
    };
    metrics.read(&mut totals.aggregate.metrics, &mut || ());
    totals
}

#[test]
fn rows_are_those_of_one_name_in_one_proc() {
    let metrics = Metrics::default();
    let mut history = History::new(0);
    for (key, by) in [
        (key(0, 1), 5),
        (key(1, 1), 7),
        (key(0, 0), 1),
        (key(9, 0), 1),
    ] {
        assert!(metrics.count(key, by));
    }
    assert!(metrics.set(key(2, 1), 40, 3));
    history.tick(totals(250, &metrics));
    assert!(
        metrics.count(key(0, 1), 3)
            && metrics.set(key(2, 1), -4, 300)
            && metrics.set(key(3, 0), 0, 1)
    );
    let now = totals(500, &metrics);
    let window = history.window(&now, Some(250));
    let assembly = Assembly {
        window: &window,
        trend: &Trend::default(),
        now: &now,
        names: &Names3,
        scale: Scale::new(1, 0),
    };
    let text = |row: &CounterRow| {
        let proc = row.proc.as_deref().unwrap_or("-");
        let (name, line) = (&row.name, row.at.line);
        let counted = (row.updates, row.added, row.total);
        let set = (row.value, row.min, row.max);
        alloc::format!("{name} in {proc}:{line} {counted:?} {set:?}")
    };
    let rows: Vec<_> = assembly.counters().iter().map(text).collect();
    let expected = [
        "gauge@13 in -:13 (1, None, None) (Some(0), Some(0), Some(0))",
        "queue in app::serve:12 (1, None, None) (Some(-4), Some(-4), Some(40))",
        "requests in -:10 (0, Some(0), Some(1)) (None, None, None)",
        "requests in app::serve:10 (1, Some(3), Some(15)) (None, None, None)",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn names_are_cut_between_letters() {
    let check = |name: &str, expected: &str| {
        let metric = MetricName {
            name,
            kind: MetricKind::Counter,
            file: "",
            line: 7,
            column: 1,
        };
        assert_eq!(metric.shown(), expected);
    };
    check("", "counter@7");
    check("a\u{1b}b", "a\u{1b}b");
    check(&"x".repeat(500), &"x".repeat(METRIC_NAME_BYTES));
    check(
        &("x".to_string() + &"é".repeat(100)),
        &("x".to_string() + &"é".repeat(63)),
    );
}
