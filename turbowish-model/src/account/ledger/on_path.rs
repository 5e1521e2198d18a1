//! The paths of calls: who polls a call, as far as its thread knows.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{Frame, REPATHED, Start};
use crate::account::call::{Call, DIRECT, SITE};
use crate::account::paths::{NOBODY, PathId, PathKey, PathKind, Paths};

impl Ledger {
    /// Gives a call in its first poll its path.
    #[inline(always)]
    pub(super) fn enter_path(&self, call: &mut Call, proc: u32, caller: Option<&Frame>) -> PathId {
        let path = self.first_path(call, proc, caller);
        call.set_unit(path);
        path
    }

    #[inline(always)]
    fn first_path(&self, call: &mut Call, proc: u32, caller: Option<&Frame>) -> PathId {
        let creator = call.unit();
        let Some(caller) = caller else {
            return self.path_of_root(proc, self.proc_on(creator));
        };
        let (place, above) = (caller.place.load(Relaxed), caller.path.load(Relaxed));
        let (mut kind, mut site) = (PathKind::Inner, 0);
        if place & DIRECT != 0 {
            call.fuse();
            (kind, site) = (PathKind::Direct, place & SITE);
        }
        let known = (creator == above)
            .then(|| self.paths.intern(PathKey::new(above, proc, site, kind)))
            .flatten();
        match known {
            Some(path) => path,
            None => self.path_below(caller, proc, self.proc_on(creator), site, kind),
        }
    }

    /// The path of a task's root that was created by a call of `maker`.
    pub(super) fn path_of_root(&self, proc: u32, maker: Option<u32>) -> u32 {
        let root = Paths::root(proc);
        let Some(maker) = maker else { return root };
        let creator = self
            .paths
            .intern(PathKey::new(0, maker, 0, PathKind::Creator));
        let path = creator.and_then(|creator| {
            let key = PathKey::new(creator, proc, 0, PathKind::Root);
            self.paths.intern(key)
        });
        path.unwrap_or(root)
    }

    /// The path of a call that `caller` polls.
    #[inline(never)]
    fn path_below(
        &self,
        caller: &Frame,
        proc: u32,
        maker: Option<u32>,
        site: u32,
        kind: PathKind,
    ) -> u32 {
        let above = caller.path.load(Relaxed);
        let polled_by = self.paths.key(above).proc();
        let parent = if maker == Some(polled_by) {
            Some(above)
        } else {
            self.creator_below(above, maker)
        };
        let path = parent.and_then(|parent| {
            let key = PathKey::new(parent, proc, site, kind);
            self.paths.intern(key)
        });
        path.unwrap_or_else(|| self.path_without_entry(proc))
    }

    fn creator_below(&self, above: u32, maker: Option<u32>) -> Option<u32> {
        let maker = maker.unwrap_or(NOBODY);
        self.paths
            .intern(PathKey::new(above, maker, 0, PathKind::Creator))
    }

    #[cold]
    fn path_without_entry(&self, proc: u32) -> u32 {
        let segment = self.base.load(Relaxed)..self.depth();
        let mut paths = segment.map(|depth| self.frames.at(depth as usize).path.load(Relaxed));
        let again = paths.any(|path| self.paths.has(path, proc));
        self.paths.without_entry(proc, again)
    }

    /// Finds the path of a call that was polled before. Also returns [`REPATHED`] if another call
    /// polls it now, otherwise 0.
    #[inline]
    pub(super) fn stay_on_path(
        &self,
        call: &Call,
        proc: u32,
        caller: Option<&Frame>,
        start: &Start,
    ) -> (PathId, u32) {
        let path = self.paths.polled_by(call.unit());
        if start.straight {
            return (path, 0);
        }
        let above = caller.map_or(0, |caller| caller.path.load(Relaxed));
        if self.paths.key(path).parent() == above {
            return (path, 0);
        }
        let now = self.change_path(path, proc, caller, above);
        (now, if now == path { 0 } else { REPATHED })
    }

    #[inline(never)]
    fn change_path(
        &self,
        path: PathId,
        proc: u32,
        caller: Option<&Frame>,
        above: PathId,
    ) -> PathId {
        let key = self.paths.key(path);
        if self.paths.caller(path) == above && key.is(PathKind::Root) == caller.is_none() {
            return path;
        }
        let maker = self.paths.creator(path);
        match caller {
            None => self.path_of_root(proc, maker),
            Some(caller) if key.is(PathKind::Direct) => {
                self.path_below(caller, proc, maker, key.site(), PathKind::Direct)
            }
            Some(caller) => self.path_below(caller, proc, maker, 0, PathKind::Inner),
        }
    }
}
