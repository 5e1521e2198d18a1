//! Interrupted calls and lock orders without instrumented resources: none are known.

use std::collections::BTreeMap;

use turbowish_model::diagnose::situation::{LockOrder, Site};

use super::SituationBuilder;

impl SituationBuilder<'_> {
    /// Always empty.
    pub(super) const fn sites(&self) -> BTreeMap<u32, Vec<Site>> {
        BTreeMap::new()
    }

    /// Always empty.
    pub(super) const fn orders(&self) -> Vec<LockOrder> {
        Vec::new()
    }
}
