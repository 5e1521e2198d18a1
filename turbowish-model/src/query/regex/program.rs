//! From the tree of an expression to the steps of a machine that reads a text.

use alloc::vec::Vec;

use super::class::Class;
use super::syntax::Tree;

/// Maximum size of the steps in bytes: `a{1000}` is short, but expensive to match.
const MAX_SIZE: usize = 256 << 10;
/// What a step, or a part of its class, takes at most: in the program, and in the sets of steps.
const STEP_SIZE: usize = 64;

/// Number of a step.
pub(super) type At = u16;

/// A step of the machine. It goes on with the next one, unless it says otherwise.
pub(super) enum MachineStep {
    /// Reads a character of the class with this number.
    Letter(At),
    Start,
    End,
    /// Goes on at both of them.
    Fork(At, At),
    Match,
}

/// The expression is too large.
pub(super) struct TooLarge;

struct Compiler<'c> {
    steps: Vec<MachineStep>,
    classes: &'c [Class],
    size: usize,
}

/// The steps of an expression, the last of which is [`MachineStep::Match`].
pub(super) fn compile(tree: &Tree, classes: &[Class]) -> Result<Vec<MachineStep>, TooLarge> {
    // Also those that `{0}` leaves out.
    if classes.iter().map(Class::size).sum::<usize>() > MAX_SIZE / STEP_SIZE {
        return Err(TooLarge);
    }
    let mut compiler = Compiler {
        steps: Vec::new(),
        classes,
        size: 0,
    };
    compiler.tree(tree)?;
    compiler.add(MachineStep::Match)?;
    Ok(compiler.steps)
}

impl Compiler<'_> {
    /// Where the next step will be.
    const fn next(&self) -> At {
        self.steps.len() as At
    }

    fn add(&mut self, step: MachineStep) -> Result<At, TooLarge> {
        let parts = match step {
            MachineStep::Letter(class) => {
                self.classes.get(usize::from(class)).map_or(1, Class::size)
            }
            _ => 1,
        };
        self.size += parts * STEP_SIZE;
        if self.size > MAX_SIZE {
            return Err(TooLarge);
        }
        self.steps.push(step);
        Ok(self.next() - 1)
    }

    /// Adds a fork to the step after it, and to one that is set later.
    fn fork(&mut self) -> Result<At, TooLarge> {
        let next = self.next() + 1;
        self.add(MachineStep::Fork(next, next))
    }

    /// Sets the other end of a fork.
    fn set(&mut self, fork: At, to: At) {
        if let Some(MachineStep::Fork(_, other)) = self.steps.get_mut(usize::from(fork)) {
            *other = to;
        }
    }

    fn tree(&mut self, tree: &Tree) -> Result<(), TooLarge> {
        match tree {
            Tree::Empty => {}
            // More classes than steps fit in do not get here: each takes a step.
            Tree::Letter(class) => {
                let class = At::try_from(*class).map_err(|_| TooLarge)?;
                self.add(MachineStep::Letter(class))?;
            }
            Tree::Start => {
                self.add(MachineStep::Start)?;
            }
            Tree::End => {
                self.add(MachineStep::End)?;
            }
            Tree::All(all) => {
                for tree in all {
                    self.tree(tree)?;
                }
            }
            Tree::Any(all) => self.any(all)?,
            Tree::Repeat(tree, least, None) => self.endless(tree, *least)?,
            Tree::Repeat(tree, least, Some(most)) => {
                self.copies(tree, *least)?;
                let mut forks = Vec::new();
                for _ in *least..*most {
                    forks.push(self.fork()?);
                    self.tree(tree)?;
                }
                self.set_all(&forks);
            }
        }
        Ok(())
    }

    fn set_all(&mut self, forks: &[At]) {
        let next = self.next();
        for fork in forks {
            self.set(*fork, next);
        }
    }

    fn any(&mut self, all: &[Tree]) -> Result<(), TooLarge> {
        let Some((last, others)) = all.split_last() else {
            return Ok(());
        };
        let mut ends = Vec::new();
        for tree in others {
            let fork = self.fork()?;
            self.tree(tree)?;
            let end = self.add(MachineStep::Fork(0, 0))?;
            ends.push(end);
            self.set(fork, end + 1);
        }
        self.tree(last)?;
        let next = self.next();
        for end in ends {
            self.steps[usize::from(end)] = MachineStep::Fork(next, next);
        }
        Ok(())
    }

    /// A tree so many times. One without steps takes none.
    fn copies(&mut self, tree: &Tree, count: u32) -> Result<(), TooLarge> {
        for _ in 0..count {
            let before = self.steps.len();
            self.tree(tree)?;
            if self.steps.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// A tree at least so many times: the last of them loops.
    fn endless(&mut self, tree: &Tree, least: u32) -> Result<(), TooLarge> {
        self.copies(tree, least.saturating_sub(1))?;
        let begin = self.next();
        if least == 0 {
            let fork = self.fork()?;
            self.tree(tree)?;
            self.add(MachineStep::Fork(begin, begin))?;
            self.set(fork, self.next());
        } else {
            self.tree(tree)?;
            self.add(MachineStep::Fork(begin, self.next() + 1))?;
        }
        Ok(())
    }
}
