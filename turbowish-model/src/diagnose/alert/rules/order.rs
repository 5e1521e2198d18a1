//! Rule for lock order inversions: locks acquired in both orders, a deadlock that has not happened
//! yet.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::diagnose::alert::finding::{Finding, Scan, leaf};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::tense::tense;
use crate::diagnose::alert::words;
use crate::diagnose::situation::{Resource, Situation};
use crate::ordered::{Map, Set};
use crate::snapshot::Spot;
use crate::snapshot::alert::{Party, PartyKind};
use crate::snapshot::pitfall::Pitfall;
use crate::sorting;

pub(in crate::diagnose::alert) const LOCK_ORDER_INVERSION: PitfallRule = PitfallRule {
    why: "If {one} has {a} while {other} has {b}, each would wait for the other forever. It [has|had] not happened yet.",
    fixes: &[
        "take {a} and {b} in the same order everywhere: {at_one} or {at_other}",
        "or drop the first guard before the second lock",
        "or put both behind one lock",
    ],
    limits: &[Limit::Clear],
    ..PitfallRule::new(Pitfall::LockOrderInversion)
};

/// Maximum number of orders kept.
const KEPT: usize = 4_096;
/// Maximum number of tasks kept per order.
const TASKS: usize = 4;

/// The orders in which pairs of live locks were acquired.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose::alert) struct Orders(Map<(u64, u64), Seen>);

/// One lock was requested while another was held.
#[derive(Clone, Debug)]
struct Seen {
    tasks: Vec<OrderedBy>,
    /// Roles in which the first lock was held and the second requested, over all observations.
    roles: Set<(Role, Role)>,
    /// Locks that were held before both in every observation.
    gates: Set<u64>,
    first: u64,
}

/// A task that took the locks in this order.
#[derive(Clone, Debug)]
struct OrderedBy {
    id: u64,
    name: String,
    /// Where it requested the second lock.
    spot: Option<Spot>,
}

/// Two locks that were taken in this order.
struct Edge<'a> {
    pair: (u64, u64),
    task: (u64, &'a str),
    roles: (Role, Role),
    spot: Option<&'a Spot>,
    gates: Set<u64>,
}

impl Orders {
    /// Records the orders in a situation.
    pub(in crate::diagnose::alert) fn record(&mut self, situation: &Situation) {
        let edges: Vec<Edge<'_>> = counted(situation)
            .into_iter()
            .chain(shown(situation))
            .collect();
        if edges.is_empty() && self.0.is_empty() {
            return;
        }
        let locks = situation
            .resources
            .iter()
            .filter(|resource| is_lock(resource));
        let locks = Set::from_iter(locks.map(|resource| resource.id));
        self.0
            .retain(|(a, b), _| locks.contains(a) && locks.contains(b));
        for edge in edges {
            let (a, b) = edge.pair;
            if a != b && locks.contains(&a) && locks.contains(&b) {
                self.add(situation.now, edge);
            }
        }
    }

    fn add(&mut self, now: u64, edge: Edge<'_>) {
        if self.0.len() >= KEPT && !self.0.contains_key(&edge.pair) {
            return;
        }
        let seen = self.0.entry(edge.pair).or_insert_with(|| Seen {
            tasks: Vec::new(),
            roles: Set::new(),
            gates: edge.gates.clone(),
            first: now,
        });
        seen.gates.retain(|gate| edge.gates.contains(gate));
        seen.roles.insert(edge.roles);
        let (id, name) = edge.task;
        if seen.tasks.len() < TASKS && !seen.tasks.iter().any(|known| known.id == id) {
            seen.tasks.push(OrderedBy {
                id,
                name: name.into(),
                spot: edge.spot.cloned(),
            });
        }
    }
}

fn is_lock(resource: &Resource) -> bool {
    match resource.kind {
        Kind::Mutex | Kind::RwLock => true,
        Kind::Semaphore => resource.capacity == Some(1),
        _ => false,
    }
}

/// The orders that the runtime counted.
fn counted(situation: &Situation) -> Vec<Edge<'_>> {
    let orders = situation.orders.iter().map(|order| Edge {
        pair: (order.first.resource, order.second.resource),
        task: (order.task, &order.name),
        roles: (
            order.first.role.unwrap_or(Role::Lock),
            order.second.role.unwrap_or(Role::Lock),
        ),
        spot: order.second.spot.as_ref(),
        gates: order.gates.iter().copied().collect(),
    });
    orders.collect()
}

/// A lock that a task holds or waits for: instant, resource, role, source location, and whether it
/// holds the lock.
type OrderClaim<'a> = (u64, u64, Role, Option<&'a Spot>, bool);

/// The orders that the situation itself shows: tasks that hold two locks, or hold one and wait for
/// another.
fn shown(situation: &Situation) -> Vec<Edge<'_>> {
    let mut claims: Map<u64, Vec<OrderClaim<'_>>> = Map::new();
    for resource in situation
        .resources
        .iter()
        .filter(|resource| is_lock(resource))
    {
        for holder in &resource.holders {
            let claim = (
                holder.since,
                resource.id,
                holder.role,
                holder.spot.as_ref(),
                true,
            );
            claims
                .entry(holder.task.unwrap_or(0))
                .or_default()
                .push(claim);
        }
        for waiter in &resource.waiters {
            let claim = (waiter.since, resource.id, waiter.role, None, false);
            claims
                .entry(waiter.task.unwrap_or(0))
                .or_default()
                .push(claim);
        }
    }
    let mut edges = Vec::new();
    for task in &situation.tasks {
        let Some(claims) = claims.get_mut(&task.id) else {
            continue;
        };
        // In a task with branches, one branch may hold a lock that another does not wait for.
        if claims.len() < 2 || leaf(task).is_none() {
            continue;
        }
        sorting::by_key(claims, |claim| (claim.0, claim.1));
        for (nth, second) in claims.iter().enumerate() {
            for (before, first) in claims[..nth].iter().enumerate() {
                // Two waits belong to branches: neither lock is held while the other is requested.
                if first.4 && first.0 < second.0 {
                    let gates = claims[..before]
                        .iter()
                        .filter(|gate| gate.4)
                        .map(|gate| gate.1);
                    edges.push(Edge {
                        pair: (first.1, second.1),
                        task: (task.id, &task.name),
                        roles: (first.2, second.2),
                        spot: second.3,
                        gates: gates.collect(),
                    });
                }
            }
        }
    }
    edges
}

/// Pairs of locks that different tasks acquired in both orders.
pub(in crate::diagnose::alert) fn inversions(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let orders = &scan.memory.orders.0;
    for (&(a, b), seen) in orders.iter().filter(|((a, b), _)| a < b) {
        let Some(back) = orders.get(&(b, a)) else {
            continue;
        };
        if seen.gates.is_disjoint(&back.gates) && conflicts(seen, back) {
            found.extend(inversion(scan, a, b, seen, back));
        }
    }
}

/// Whether both orders can block each other: no lock of the pair is only read by both.
fn conflicts(one: &Seen, other: &Seen) -> bool {
    let both_read = |a: Role, b: Role| a == Role::Read && b == Role::Read;
    one.roles.iter().any(|(held, wanted)| {
        let mut others = other.roles.iter();
        others.any(|(held_there, wanted_there)| {
            !both_read(*held, *wanted_there) && !both_read(*wanted, *held_there)
        })
    })
}

fn inversion(scan: &Scan<'_>, a: u64, b: u64, seen: &Seen, back: &Seen) -> Option<Finding> {
    let resource = |id| {
        scan.situation
            .resources
            .iter()
            .find(|resource| resource.id == id)
    };
    let (a, b) = (resource(a)?, resource(b)?);
    let (one, other) = seen
        .tasks
        .iter()
        .flat_map(|one| back.tasks.iter().map(move |other| (one, other)))
        .find(|(one, other)| one.id != other.id)?;
    let mut finding = Finding::new(Pitfall::LockOrderInversion, seen.first.max(back.first));
    finding = finding.of_resource(a).of_resource(b);
    for task in [one, other] {
        finding.alert.parties.push(Party {
            kind: PartyKind::Task,
            id: task.id,
            name: task.name.clone(),
        });
    }
    let at = |task: &OrderedBy| match &task.spot {
        Some(spot) => words::line(&spot.file, spot.line),
        None => task.name.clone(),
    };
    let title = format!(
        "lock order: {} {} {} then {}, {} the other way round",
        one.name,
        tense("takes", "took"),
        a.name,
        b.name,
        other.name
    );
    let values = [
        ("one", one.name.as_str()),
        ("other", other.name.as_str()),
        ("a", a.name.as_str()),
        ("b", b.name.as_str()),
        ("at_one", &at(one)),
        ("at_other", &at(other)),
    ];
    Some(
        finding
            .titled(title)
            .summed("two locks [are|were] taken in both orders")
            .explained(&values),
    )
}
