//! Without resources of ours nobody knows what is lost, or which lock is held.

use std::collections::BTreeMap;

use turbowish_model::diagnose::situation::{LockOrder, Site};

use super::SituationBuilder;

impl SituationBuilder<'_> {
    /// None is known.
    pub(super) const fn sites(&self) -> BTreeMap<u32, Vec<Site>> {
        BTreeMap::new()
    }

    /// None is known.
    pub(super) const fn orders(&self) -> Vec<LockOrder> {
        Vec::new()
    }
}
