//! Names of procs, await points and counters, as the model asks for them.

use turbowish_model::collect::assemble::{Names, ProcName};
use turbowish_model::collect::metric_rows::MetricName;
use turbowish_model::snapshot::Place;

use crate::hot::proc::Registered;
use crate::metrics;

/// Names of this process's procs, for the model.
pub(super) struct Registry(pub(super) Vec<Registered>);

impl Registry {
    /// Paths of all procs, by number.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|known| &*known.path)
    }

    /// Numbers of the procs with these paths.
    pub(super) fn ids<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<u32> {
        let all = || (0..).zip(self.paths());
        let ids = paths.flat_map(|path| all().filter(move |(_, known)| *known == path));
        ids.map(|(id, _)| id).collect()
    }
}

impl Names for Registry {
    fn proc(&self, id: u32) -> Option<ProcName<'_>> {
        let known = self.0.get(id as usize)?;
        Some(ProcName {
            path: &known.path,
            file: known.file,
            line: known.line,
        })
    }

    fn place(&self, proc: u32, site: u16) -> Option<Place> {
        let known = self.0.get(proc as usize)?;
        let site = known.sites.get(usize::from(site))?.as_ref()?;
        Some(Place {
            file: known.file.to_owned(),
            line: site.line,
            column: site.column,
            end_line: site.end_line,
            end_column: site.end_column,
            expr: site.expr.to_owned(),
        })
    }

    fn attributes(&self, proc: u32) -> &[(String, String)] {
        self.0
            .get(proc as usize)
            .map_or(&[], |known| &known.attributes)
    }

    fn metric(&self, site: u32) -> Option<MetricName<'_>> {
        metrics::name(site)
    }
}
