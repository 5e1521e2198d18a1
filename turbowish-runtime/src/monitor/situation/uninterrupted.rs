//! Without resources of ours nobody knows what is lost, or which lock is held.

use std::collections::BTreeMap;

use turbowish_model::diagnose::situation::{Order, Site};

use super::Builder;

impl Builder<'_> {
    /// None is known.
    pub(super) const fn sites(&self) -> BTreeMap<u32, Vec<Site>> {
        BTreeMap::new()
    }

    /// None is known.
    pub(super) const fn orders(&self) -> Vec<Order> {
        Vec::new()
    }
}
