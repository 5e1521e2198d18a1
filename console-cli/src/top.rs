//! `turbowish top`: the console on a terminal, one plain snapshot elsewhere.

use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use turbowish_model::query::{Rows, Selection};

use crate::args::TopArgs;
use crate::failure::{Failure, print};
use crate::{plain, source, tui};

/// Runs the command.
///
/// # Errors
/// A mistake in filter or sort; without a terminal, a target that cannot be reached; a terminal
/// that cannot be used.
pub(crate) fn run(args: &TopArgs, token: Option<&str>) -> Result<(), Failure> {
    let rows = Rows {
        filter: args.rows.filter.clone(),
        sort: args.rows.sort.clone(),
        invert: false,
        limit: args.limit,
    };
    let query = plain::query(args.window.0, rows);
    Selection::parse(&query)?;
    let target = source::target(args.target.as_deref(), token)?;
    if !(stdin().is_terminal() && stdout().is_terminal()) {
        let snapshot = source::runtime()?.block_on(source::snapshot(target, &query))?;
        return print(&plain::text(&snapshot, &args.rows.sort, plain::width()));
    }
    let options = tui::Options {
        target,
        window: args.window.0.map(Duration::from_nanos),
        interval: args.interval,
        sort: args.rows.sort.clone(),
        filter: args.rows.filter.clone(),
        glyphs: args.ascii.then_some(tui::GlyphSet::Ascii),
        theme: args.theme.map(Into::into),
    };
    tui::run(options).map_err(|cause| Failure::local("cannot use the terminal", &cause))
}
