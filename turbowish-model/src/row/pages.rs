//! All rows of a thread: found by two loads, made at a proc's first event there.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use super::Row;

/// The rows of one thread by proc id, in pages, each row allocated at the proc's first event there.
pub(crate) struct Rows {
    pages: [OnceBox<Page>; PAGES],
}

const PAGES: usize = 256;
const PAGE: usize = 64;
/// Procs with an id from here on cannot be accounted.
pub const PROC_LIMIT: u32 = (PAGES * PAGE) as u32;

struct Page([OnceBox<Row>; PAGE]);

impl Default for Page {
    fn default() -> Self {
        Self([const { OnceBox::new() }; PAGE])
    }
}

impl Rows {
    pub(crate) const fn new() -> Self {
        Self {
            pages: [const { OnceBox::new() }; PAGES],
        }
    }

    /// The row of a proc; `proc` must be below [`PROC_LIMIT`].
    #[inline]
    pub(crate) fn at(&self, proc: u32) -> &Row {
        match self.get(proc) {
            Some(row) => row,
            None => self.make(proc),
        }
    }

    #[inline]
    fn get(&self, proc: u32) -> Option<&Row> {
        let index = proc as usize;
        self.pages.get(index / PAGE)?.get()?.0[index % PAGE].get()
    }

    #[cold]
    fn make(&self, proc: u32) -> &Row {
        let index = proc as usize;
        let page = self.pages[index / PAGE].get_or_init(Box::default);
        page.0[index % PAGE].get_or_init(Box::default)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Row)> {
        self.pages
            .iter()
            .enumerate()
            .filter_map(|(at, page)| Some((at, page.get()?)))
            .flat_map(|(at, page)| {
                page.0
                    .iter()
                    .enumerate()
                    .filter_map(move |(slot, row)| Some(((at * PAGE + slot) as u32, row.get()?)))
            })
    }
}
