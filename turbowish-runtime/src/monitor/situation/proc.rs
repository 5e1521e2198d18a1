//! Procs in a situation: what their calls did, which parts are large, and what was interrupted.

use turbowish_model::account::aggregate::ProcStats;
use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::account::histogram::bucket_of;
use turbowish_model::diagnose::situation::{ForcedYields, Proc, awaits_a_resource};
use turbowish_model::snapshot::Spot;

use super::{SituationBuilder, await_text};
use crate::hot::call::OWN_BYTES;
use crate::hot::{forced_yield, never_polled};
use turbowish_model::ordered::Map;
use turbowish_model::sorting;

/// State of procs kept from one situation to the next.
#[derive(Debug, Default)]
pub(super) struct PollPaces(Vec<PollPace>);

/// Polls of a proc that changed nothing.
#[derive(Clone, Copy, Debug, Default)]
struct PollPace {
    unchanged: u64,
    nested: u64,
    /// Those that are more than a `select!` explains.
    spurious: u64,
}

/// Polls of a call per poll of its task that a `select!` over a few futures explains.
const FEW: f64 = 8.0;
/// Bytes: an operand adds less than this to the call in it.
const SMALL: u64 = 1_024;
/// Maximum depth of callers that are followed.
const DEPTH: u32 = 32;

/// Polls of a call of a proc per poll of its task, by proc, as far as computed.
type Fans = Map<u32, f64>;

impl SituationBuilder<'_> {
    pub(super) fn procs(&self, paces: &mut PollPaces) -> Vec<Proc> {
        let all_stats = &self.assembly.now.aggregate.procs;
        paces.0.resize(all_stats.len(), PollPace::default());
        let races = self.races();
        let mut sites = self.sites();
        let mut forced = self.forced_yields();
        let mut fans = Fans::new();
        let mut rows = Vec::new();
        for (id, stats) in all_stats.iter().enumerate() {
            let number = id as u32;
            let spurious = paces.0[id].turn(self, number, stats, &mut fans);
            let Some(known) = self.assembly.names.0.get(id) else {
                continue;
            };
            let (polls, never_polled) = (stats.sum(Sum::Polls), stats.sum(Sum::NeverPolled));
            if polls == 0 && never_polled == 0 {
                continue;
            }
            let (lost, mistakes) = races.get(&number).copied().unwrap_or_default();
            // If calls of this proc are polled at other times, a drop may be a change of mind. The
            // exception is a drop by the call's creator, in the same poll: it has forgotten the
            // call.
            let lost = if polls == 0 {
                lost
            } else {
                never_polled.saturating_sub(mistakes)
            };
            rows.push(Proc {
                path: known.path.to_string(),
                spot: Spot {
                    file: known.file.to_owned(),
                    line: known.line,
                    column: 1,
                },
                never_polled,
                lost_races: Some(lost.min(never_polled)),
                polls,
                spurious: Some(spurious),
                slow: self.slow(number, stats),
                forced: forced.remove(&number).unwrap_or_default(),
                longest_ns: self.ns(stats.recent_longest),
                future_bytes: stats.future_bytes,
                parts: self.parts(number, stats),
                sites: sites.remove(&number).unwrap_or_default(),
            });
        }
        rows
    }

    /// Polls that tokio made end, by the proc of the task's root.
    fn forced_yields(&self) -> Map<u32, ForcedYields> {
        let mut roots: Map<u32, (ForcedYields, u64)> = Map::new();
        for (place, times) in forced_yield::all() {
            let (forced, most) = roots.entry(place.root).or_default();
            forced.times += times;
            if times > *most {
                *most = times;
                forced.proc = self.path(place.proc).unwrap_or_default();
                forced.place = self.place(place.proc, place.site);
            }
        }
        let roots = roots.into_iter();
        Map::from_iter(roots.map(|(root, (forced, _))| (root, forced)))
    }

    fn slow(&self, proc: u32, stats: &ProcStats) -> u64 {
        let running = &stats.populations[Population::PollRunning as usize];
        // A bucket counts if all of it is above the limit.
        let limit = bucket_of(self.assembly.scale.ticks(self.long_ns));
        let held = bucket_of(self.assembly.scale.ticks(self.held_ns));
        let (mut slow, mut holding) = (0, 0);
        for (bucket, count) in running.iter() {
            match usize::from(bucket) {
                bucket if bucket <= limit => {}
                bucket if bucket < held => slow += count,
                _ => holding += count,
            }
        }
        // Each of these is an alert of its own, except those that no look could tell.
        slow += holding.saturating_sub(self.looks.told(proc));
        in_polls(stats, slow)
    }

    /// By proc: calls dropped unpolled by a race that another branch won, and calls dropped
    /// elsewhere by their creator.
    fn races(&self) -> Map<u32, (u64, u64)> {
        let mut races: Map<u32, (u64, u64)> = Map::new();
        for (drop, times) in never_polled::all() {
            let place = self.place(drop.by.0, drop.by.1);
            let is_race = place.is_some_and(|place| await_text::is_race(&place.expr));
            let (lost, mistakes) = races.entry(drop.proc).or_default();
            if is_race {
                *lost += times;
            } else if drop.by_maker {
                *mistakes += times;
            }
        }
        races
    }

    /// Large operands awaited by a proc, largest first.
    fn parts(&self, proc: u32, stats: &ProcStats) -> Vec<(String, u64)> {
        let sites = (0..).zip(&stats.sites).filter(|(_, site)| site.operand > 0);
        let parts = sites.filter_map(|(site, stats)| {
            let expr = self.place(proc, site)?.expr;
            let bytes = stats.operand;
            Some((self.callee(proc, bytes).unwrap_or(expr), bytes))
        });
        let mut parts: Vec<(String, u64)> = parts.collect();
        sorting::by(&mut parts, |one, other| {
            other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0))
        });
        parts.dedup();
        parts
    }

    /// The only proc that `caller` polls whose calls have nearly all of these bytes.
    fn callee(&self, caller: u32, bytes: u64) -> Option<String> {
        let all_stats = (0..).zip(&self.assembly.now.aggregate.procs);
        let mut fitting = all_stats.filter(|(_, stats)| {
            let own = bytes.saturating_sub(stats.future_bytes);
            let fits = (OWN_BYTES..OWN_BYTES + SMALL).contains(&own);
            fits && stats.future_bytes > SMALL && stats.edges.contains_key(&caller)
        });
        let (id, _) = fitting.next()?;
        fitting.next().is_none().then(|| self.path(id)).flatten()
    }

    /// Polls of a call of a proc per poll of its task, as far as that is known.
    fn fan(&self, proc: u32, depth: u32, fans: &mut Fans) -> f64 {
        if let Some(&known) = fans.get(&proc) {
            return known;
        }
        // Until it is known: a recursive proc counts once.
        fans.insert(proc, 1.0);
        let all_stats = &self.assembly.now.aggregate.procs;
        let edges = all_stats.get(proc as usize).map(|stats| &stats.edges);
        let mut fan = 1.0;
        for (&by, edge) in edges.into_iter().flatten() {
            let Some(caller) = all_stats.get(by as usize).filter(|_| edge.polls > 0) else {
                continue;
            };
            let above = match depth {
                0 => 1.0,
                depth => self.fan(by, depth - 1, fans),
            };
            let each = edge.polls as f64 / caller.sum(Sum::Polls).max(1) as f64;
            fan = f64::max(fan, each * above);
        }
        fans.insert(proc, fan);
        fan
    }
}

impl PollPace {
    /// Number of polls that changed nothing and had no reason.
    fn turn(
        &mut self,
        stage: &SituationBuilder<'_>,
        proc: u32,
        stats: &ProcStats,
        fans: &mut Fans,
    ) -> u64 {
        let sites = (0..)
            .zip(&stats.sites)
            .filter(|(_, site)| site.spurious > 0);
        let waits = sites.filter(|&(site, _)| {
            let place = stage.place(proc, site);
            place.is_some_and(|place| awaits_a_resource(&place.expr))
        });
        let unchanged: u64 = waits.map(|(_, site)| site.spurious).sum();
        let nested: u64 = stats.edges.values().map(|edge| edge.polls).sum();
        let grown = unchanged.saturating_sub(self.unchanged);
        if grown > 0 {
            self.spurious += if stage.fan(proc, DEPTH, fans) >= FEW {
                grown
            } else {
                // If the call is its task's root, the task was polled without reason.
                grown.saturating_sub(nested.saturating_sub(self.nested))
            };
        }
        (self.unchanged, self.nested) = (unchanged, nested);
        self.spurious
    }
}

/// Minimum number of a proc's `slow` polls that kept a worker from other tasks. A plain function
/// has no future, and may have run on a thread of its own: its polls count only if they were called
/// by a call that was polled.
fn in_polls(stats: &ProcStats, slow: u64) -> u64 {
    if stats.future_bytes > 0 {
        return slow;
    }
    let nested = stats.edges.values().map(|edge| edge.polls).sum();
    slow.min(nested)
}
