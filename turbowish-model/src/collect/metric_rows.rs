//! Rows of counters and gauges: all sites with the same name and kind in the same proc form one
//! row.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::account::metrics::MetricStats;
use crate::collect::assemble::{Assembly, Names};
use crate::ordered::Map;
use crate::snapshot::{CounterRow, MetricKind, Spot};

/// Maximum length of a metric's name, in bytes; longer names are cut.
pub const METRIC_NAME_BYTES: usize = 128;

/// A metric as written at its site.
#[derive(Clone, Copy, Debug)]
pub struct MetricName<'a> {
    /// Name given by the program.
    pub name: &'a str,
    /// Whether the number is a counter or a gauge.
    pub kind: MetricKind,
    /// Source file, as the compiler names it.
    pub file: &'a str,
    /// Line of the site, from 1.
    pub line: u32,
    /// Column of the site, from 1.
    pub column: u32,
}

impl MetricName<'_> {
    /// The displayed name: at most [`METRIC_NAME_BYTES`] long and never empty.
    pub(crate) fn shown(&self) -> String {
        if self.name.is_empty() {
            return format!("{}@{}", self.kind.word(), self.line);
        }
        let mut end = self.name.len().min(METRIC_NAME_BYTES);
        while !self.name.is_char_boundary(end) {
            end -= 1;
        }
        self.name[..end].to_string()
    }
}

/// The sums of a row under construction.
#[derive(Default)]
struct Sums {
    at: Spot,
    /// Updates within the window.
    recent: MetricStats,
    /// Since the start of accounting.
    all: MetricStats,
}

impl<N: Names> Assembly<'_, N> {
    /// Returns a row for each counter and gauge in each proc, by name.
    #[must_use]
    pub fn counters(&self) -> Vec<CounterRow> {
        let mut rows: Map<(String, MetricKind, Option<String>), Sums> = Map::new();
        for (&key, stats) in &self.now.aggregate.metrics {
            let Some(metric) = self.names.metric(key.site) else {
                continue;
            };
            let named = (metric.shown(), metric.kind, self.owner(key.proc));
            let sums = rows.entry(named).or_insert_with(|| Sums {
                at: Spot {
                    file: metric.file.to_string(),
                    line: metric.line,
                    column: metric.column,
                },
                ..Sums::default()
            });
            sums.all.merge(stats);
            if let Some(recent) = self.window.aggregate.metrics.get(&key) {
                sums.recent.merge(recent);
            }
        }
        let row = |((name, kind, proc), sums): ((String, MetricKind, Option<String>), Sums)| {
            let gauge = sums.all.gauge.filter(|_| kind == MetricKind::Gauge);
            let counts = kind == MetricKind::Counter;
            CounterRow {
                name,
                kind,
                proc,
                at: sums.at,
                updates: sums.recent.updates,
                added: counts.then_some(sums.recent.total),
                total: counts.then_some(sums.all.total),
                value: gauge.map(|gauge| gauge.last),
                min: gauge.map(|gauge| gauge.least),
                max: gauge.map(|gauge| gauge.most),
            }
        };
        rows.into_iter().map(row).collect()
    }

    fn owner(&self, proc: u32) -> Option<String> {
        let proc = self.names.proc(proc.checked_sub(1)?)?;
        Some(proc.path.to_string())
    }
}
