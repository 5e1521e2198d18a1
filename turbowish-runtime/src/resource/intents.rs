//! Intents of a resource, as the calls that have them keep them: each refers to its slot in the
//! list of the resource's record.

mod list;

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use turbowish_model::account::resource::{
    AGAIN, CurrentCall, Intent, PROVEN, Role, SAID, Strength, WILL,
};

pub(super) use self::list::{Declared, Intended};
use super::Resource;
use super::ends::End;
use super::record::Record;

/// The resource that an intent names, or none if it is not observed.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRef<'a> {
    resource: Option<&'a Resource>,
    end: Option<&'a End>,
    /// Short-lived: not worth a record, unless an author's intent names it.
    brief: bool,
}

impl ResourceRef<'_> {
    pub(crate) const NOTHING: Self = Self {
        resource: None,
        end: None,
        brief: false,
    };

    /// Records an intent of `who` to use it, which refers to the `next` one.
    pub(crate) fn link(
        self,
        who: CurrentCall,
        role: Role,
        how: u8,
        next: Option<Link>,
    ) -> Option<Link> {
        let said = how & SAID != 0;
        let record = self
            .resource
            .and_then(|resource| match self.brief && !said {
                true => resource.known(),
                false => resource.record(),
            });
        let Some(record) = record else {
            return next;
        };
        let intent = Intent {
            ticket: 0,
            who,
            role,
            strength: match how & WILL {
                0 => Strength::May,
                _ => Strength::Will,
            },
            proven: how & PROVEN != 0,
            end: self.end.map(End::number),
        };
        let declared = Declared {
            again: how & AGAIN != 0,
            said,
        };
        record.intend(intent, declared, next)
    }
}

impl Resource {
    /// The reference for intents.
    pub(crate) const fn resource_ref(&self) -> ResourceRef<'_> {
        ResourceRef {
            resource: Some(self),
            end: None,
            brief: false,
        }
    }

    /// The same for a resource that is mostly gone before it is looked at.
    pub(crate) const fn meant_briefly(&self) -> ResourceRef<'_> {
        ResourceRef {
            resource: Some(self),
            end: None,
            brief: true,
        }
    }

    /// The same for one end of it.
    pub(crate) const fn meant_by<'a>(&'a self, end: &'a End) -> ResourceRef<'a> {
        ResourceRef {
            resource: Some(self),
            end: Some(end),
            brief: false,
        }
    }

    /// Records that the current task has done an operation that it may have intended.
    #[inline]
    pub(crate) fn met(&self, role: Role) {
        if let Some(record) = self.known() {
            record.met(role);
        }
    }
}

/// A recorded intent. Dropping it ends it, and the one it refers to.
#[derive(Debug)]
pub struct Link {
    record: Arc<Record>,
    slot: u32,
}

// It gives access to nothing that an unwinding call could have left inconsistent.
impl UnwindSafe for Link {}
impl RefUnwindSafe for Link {}

impl Link {
    pub(super) const fn new(record: Arc<Record>, slot: u32) -> Self {
        Self { record, slot }
    }

    /// Turns a `may` into a `will`.
    pub(crate) fn will(&self) {
        self.record.will(self.slot);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.record.give_up(self.slot));
    }
}
