//! Cycles among stuck waits: the shortest cycle of each strongly connected component, and the tasks
//! that wait because of it.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::fixpoint::Solver;
use super::graph::{Arc, Graph, Vertex};
use super::{Cycle, CycleStep};
use crate::ordered::Set;
use crate::sorting;

/// Maximum number of starts from which a component's shortest cycle is searched. Components are
/// usually small, but nothing bounds them.
const STARTS: usize = 64;

/// Returns the cycles of a solver that has settled.
pub(super) fn find(solver: &Solver<'_>) -> Vec<Cycle> {
    let graph = Graph::of(solver);
    let parts = parts(&graph);
    let mut cycles = Vec::new();
    for part in &parts {
        let Some(path) = shortest(&graph, part) else {
            continue;
        };
        let path = widened(&graph, part, path);
        let mut steps = steps(&graph, &path);
        for at in 0..steps.len() {
            let owner = steps[(at + 1) % steps.len()].task;
            steps[at].candidate = solver.candidate(&steps[at], owner);
        }
        if !steps.is_empty() {
            cycles.push((path[0].0, steps, part));
        }
    }
    sorting::by_key(&mut cycles, |(first, ..)| *first);
    let sets: Vec<&Set<usize>> = cycles.iter().map(|(_, _, part)| *part).collect();
    let owners = owners(&graph, &sets);
    cycles
        .iter()
        .enumerate()
        .map(|(nth, (_, steps, _))| {
            let mine = |vertex: &usize| owners[*vertex] == Some(nth);
            let vertices: Vec<usize> = (0..owners.len()).filter(mine).collect();
            cycle(solver, &graph, steps.clone(), &vertices)
        })
        .collect()
}

/// Builds a cycle. `vertices` are those that belong to it or wait for it.
fn cycle(solver: &Solver<'_>, graph: &Graph, steps: Vec<CycleStep>, vertices: &[usize]) -> Cycle {
    let members = Set::from_iter(steps.iter().map(|step| step.task));
    let mut behind = Set::new();
    let mut resources = Set::from_iter(steps.iter().map(|step| step.resource));
    for &vertex in vertices {
        match graph.vertices[vertex] {
            Vertex::Leaf { task, .. } if !members.contains(&task) => {
                behind.insert(task);
            }
            Vertex::Leaf { .. } => {}
            Vertex::Each(needs) => {
                resources.insert(needs.resource);
            }
            Vertex::Any { resource, .. } | Vertex::Senders { resource, .. } => {
                resources.insert(resource);
            }
        }
    }
    let tasks = &solver.situation.tasks;
    let mut behind: Vec<usize> = behind.into_iter().collect();
    sorting::by_key(&mut behind, |&at| (&tasks[at].name, tasks[at].id));
    let unlisted = resources.iter().map(|&r| {
        let resource = &solver.situation.resources[r];
        let listed = resource.waiters.len() as u64;
        resource.waiting.saturating_sub(listed)
    });
    Cycle {
        unlisted: unlisted.sum(),
        behind,
        steps,
    }
}

/// Strongly connected components that contain a cycle. Iterative, because chains may be long.
fn parts(graph: &Graph) -> Vec<Set<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; graph.vertices.len()];
    for start in 0..seen.len() {
        if core::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((vertex, next)) = path.last_mut() {
            match graph.arcs[*vertex].get(*next) {
                Some(arc) => {
                    *next += 1;
                    if !core::mem::replace(&mut seen[arc.to], true) {
                        path.push((arc.to, 0));
                    }
                }
                None => {
                    order.push(*vertex);
                    path.pop();
                }
            }
        }
    }
    let back = reversed(graph);
    let mut taken = vec![false; seen.len()];
    let mut parts = Vec::new();
    for &start in order.iter().rev() {
        if core::mem::replace(&mut taken[start], true) {
            continue;
        }
        let mut part = Set::from([start]);
        let mut next = vec![start];
        while let Some(vertex) = next.pop() {
            for &from in &back[vertex] {
                if !core::mem::replace(&mut taken[from], true) {
                    part.insert(from);
                    next.push(from);
                }
            }
        }
        let itself = || graph.arcs[start].iter().any(|arc| arc.to == start);
        if part.len() > 1 || itself() {
            parts.push(part);
        }
    }
    parts
}

fn reversed(graph: &Graph) -> Vec<Vec<usize>> {
    let mut back = vec![Vec::new(); graph.vertices.len()];
    for (from, arcs) in graph.arcs.iter().enumerate() {
        for arc in arcs {
            back[arc.to].push(from);
        }
    }
    back
}

/// The shortest cycle of a component; of equally short ones the one with the smallest vertex. Each
/// vertex comes with the arc that leaves it.
fn shortest(graph: &Graph, part: &Set<usize>) -> Option<Vec<(usize, Arc)>> {
    let starts = part.iter().take(STARTS);
    starts
        .filter_map(|&start| around(graph, part, start))
        .reduce(|best, other| {
            if other.len() < best.len() {
                other
            } else {
                best
            }
        })
}

/// The shortest path from a vertex back to itself.
fn around(graph: &Graph, part: &Set<usize>, start: usize) -> Option<Vec<(usize, Arc)>> {
    let mut from: Vec<Option<(usize, Arc)>> = vec![None; graph.vertices.len()];
    let mut next = VecDeque::from([start]);
    'found: while let Some(vertex) = next.pop_front() {
        for arc in graph.arcs[vertex]
            .iter()
            .filter(|arc| part.contains(&arc.to))
        {
            if from[arc.to].is_none() {
                from[arc.to] = Some((vertex, *arc));
                next.push_back(arc.to);
            }
            if arc.to == start {
                break 'found;
            }
        }
    }
    let mut path = Vec::new();
    let mut at = start;
    loop {
        let (before, arc) = from[at]?;
        path.push((before, arc));
        at = before;
        if at == start {
            break;
        }
    }
    path.reverse();
    Some(path)
}

/// Widens a path through `Any` vertices: if any one of several blockers could end a wait, and none
/// can because all wait for the same, all of them are part of the cycle, not just two.
fn widened(graph: &Graph, part: &Set<usize>, mut path: Vec<(usize, Arc)>) -> Vec<(usize, Arc)> {
    let any = |vertex: usize| matches!(graph.vertices[vertex], Vertex::Any { .. });
    let task = |vertex: usize| match graph.vertices[vertex] {
        Vertex::Leaf { task, .. } => Some(task),
        _ => None,
    };
    let arc = |from: usize, to: usize| graph.arcs[from].iter().find(|arc| arc.to == to);
    for &leaf in part {
        let known = |(vertex, _): &(usize, Arc)| task(*vertex) == task(leaf);
        if path.len() >= 2 * STARTS || task(leaf).is_none() || path.iter().any(known) {
            continue;
        }
        let place = (0..path.len()).rev().find_map(|at| {
            let (side, next) = path[at];
            let into = arc(side, leaf).filter(|_| any(side))?;
            let mut out = graph.arcs[leaf].iter().filter(|out| any(out.to));
            out.find_map(|out| Some((at, *into, *out, *arc(out.to, next.to)?)))
        });
        if let Some((at, into, out, next)) = place {
            path[at].1 = into;
            path.splice(at + 1..at + 1, [(leaf, out), (out.to, next)]);
        }
    }
    path
}

/// The waits on a path, each with its link to the next.
fn steps(graph: &Graph, path: &[(usize, Arc)]) -> Vec<CycleStep> {
    let mut steps = Vec::new();
    for (nth, (vertex, arc)) in path.iter().enumerate() {
        let Vertex::Leaf { task, node } = graph.vertices[*vertex] else {
            continue;
        };
        // The arc leads to a leaf directly, or by way of the resource's side.
        let link = arc.link.or_else(|| path[(nth + 1) % path.len()].1.link);
        if let (Some((resource, waiter)), Some(link)) = (arc.wait, link) {
            steps.push(CycleStep {
                task,
                node,
                resource,
                waiter,
                link,
                candidate: None,
            });
        }
    }
    steps
}

/// For each vertex the first component that it waits for, directly or indirectly.
fn owners(graph: &Graph, parts: &[&Set<usize>]) -> Vec<Option<usize>> {
    let back = reversed(graph);
    let mut owners = vec![None; graph.vertices.len()];
    for (nth, part) in parts.iter().enumerate() {
        for &vertex in *part {
            owners[vertex] = Some(nth);
        }
    }
    for (nth, part) in parts.iter().enumerate() {
        let mut next: Vec<usize> = part.iter().copied().collect();
        while let Some(vertex) = next.pop() {
            for &from in &back[vertex] {
                if owners[from].is_none() {
                    owners[from] = Some(nth);
                    next.push(from);
                }
            }
        }
    }
    owners
}
