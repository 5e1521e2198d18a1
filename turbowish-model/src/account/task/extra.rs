//! Extra part of a task cell: what few tasks need. The owner of the cells keeps it, so that the
//! others have not even its address.

use alloc::boxed::Box;
use core::fmt::Debug;

use once_cell::race::OnceBox;

use super::TaskCell;
use super::stack::TIMES;
use super::words::{Long, More};
use crate::account::sync::AtomicU64;

/// What the owner of a cell keeps in it. It knows where the extra part is.
pub trait CellOwner {
    /// What the owner keeps in the extra part.
    type Rare: Debug + Default;

    /// The extra part, if there is one.
    fn extra(&self) -> Option<&Extra<Self::Rare>>;
    /// The same, made if necessary.
    fn make_extra(&self) -> &Extra<Self::Rare>;
}

/// The part of a cell that few tasks need. It stays when the cell is used for another task.
#[derive(Debug)]
pub struct Extra<R> {
    /// The second and the third time of an await stack.
    pub(super) times: [AtomicU64; TIMES - 1],
    pub(super) more: OnceBox<More<R>>,
}

impl<R> Default for Extra<R> {
    fn default() -> Self {
        Self {
            times: Default::default(),
            more: OnceBox::new(),
        }
    }
}

/// The owner of a single cell.
#[derive(Debug)]
pub struct Alone<R = ()>(OnceBox<Extra<R>>);

impl<R> Default for Alone<R> {
    fn default() -> Self {
        Self(OnceBox::new())
    }
}

impl<R: Debug + Default> CellOwner for Alone<R> {
    type Rare = R;

    fn extra(&self) -> Option<&Extra<R>> {
        self.0.get()
    }

    fn make_extra(&self) -> &Extra<R> {
        self.0.get_or_init(Box::default)
    }
}

impl<O: CellOwner> TaskCell<O> {
    /// What the owner keeps in the cell.
    #[inline]
    pub const fn owner(&self) -> &O {
        &self.owner
    }

    /// What the owner keeps in the extra part, if there is one.
    pub fn rare(&self) -> Option<&O::Rare> {
        self.known_more().map(|more| &more.rare)
    }

    /// The same, made if necessary.
    pub fn make_rare(&self) -> &O::Rare {
        &self.more().rare
    }

    pub(super) fn known_more(&self) -> Option<&More<O::Rare>> {
        self.owner.extra()?.more.get()
    }

    #[cold]
    pub(super) fn more(&self) -> &More<O::Rare> {
        self.owner.make_extra().more.get_or_init(Box::default)
    }

    pub(super) fn known_long(&self) -> Option<&Long> {
        self.known_more()?.long.get()
    }

    #[cold]
    pub(super) fn long(&self) -> &Long {
        self.more().long.get_or_init(Box::default)
    }
}
