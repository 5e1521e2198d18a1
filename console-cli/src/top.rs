//! `turbowish top` and `turbowish demo`: the console on a terminal, one plain snapshot elsewhere.

use std::io::{IsTerminal, stdin, stdout};
#[cfg(feature = "demo")]
use std::time::Duration;

use turbowish_model::query::{Query, Rows, Selection};
use turbowish_model::snapshot::Table;
#[cfg(feature = "demo")]
use turbowish_wire::client::Target;

#[cfg(feature = "demo")]
use crate::args::DemoArgs;
use crate::args::{TopArgs, ViewArgs};
use crate::failure::{Failure, note, print};
use crate::recording::{Moment, Recording};
#[cfg(feature = "demo")]
use crate::signals::Signals;
use crate::source::Origin;
use crate::{columns, plain_text, source, tui};

/// Runs `turbowish top`.
///
/// # Errors
/// A mistake in filter or sort; a target that cannot be reached; a terminal that cannot be used.
pub(crate) fn run(args: &TopArgs, token: Option<&str>) -> Result<(), Failure> {
    let query = checked(&args.view)?;
    let origin = source::origin(args.target.as_deref(), &args.past, token)?;
    if !has_screen() {
        return source::runtime()?.block_on(page(&args.view, origin, &query));
    }
    // A mistyped process is reported here; from then on the console waits until it comes back.
    let subject = match origin {
        Some(Origin::Process(target)) => {
            let target = source::runtime()?.block_on(source::watchable(target))?;
            Some(tui::Subject::Process(target))
        }
        Some(Origin::Recorded(file, moment)) => {
            Some(recorded(Recording::open(&file)?, moment, &query)?)
        }
        Some(Origin::Kept(target, moment)) => {
            let kept = source::runtime()?.block_on(source::kept(target.as_ref(), 0))?;
            Some(recorded(kept, Some(moment), &query)?)
        }
        None => None,
    };
    console(&args.view, subject, None)
}

/// A recording, at an instant of it.
fn recorded(
    recording: Recording,
    moment: Option<Moment>,
    query: &Query,
) -> Result<tui::Subject, Failure> {
    recording.has_window(query)?;
    let nth = recording.nth(moment.unwrap_or(Moment::END))?;
    Ok(tui::Subject::Recorded(recording, nth))
}

/// Time that the demo runs before its plain snapshot.
#[cfg(feature = "demo")]
const WARM_UP: Duration = Duration::from_secs(2);

/// What the alert line says of a demo with troubles until it has alerts.
#[cfg(feature = "demo")]
pub(crate) const TROUBLES: &str =
    "soon: a slow lock, a blocked worker, a task leak; ! opens the worst";

/// Runs `turbowish demo`: the console on a server inside this process.
///
/// # Errors
/// The server or its load cannot be started; as [`run`].
#[cfg(feature = "demo")]
pub(crate) fn demo(args: &DemoArgs) -> Result<(), Failure> {
    let view = &args.view;
    let query = checked(view)?;
    let runtime = source::runtime()?;
    // Installed before the demo creates anything that a signal would leave behind.
    let signals = runtime.block_on(async { Signals::new() });
    let mut signals = signals.map_err(|cause| Failure::local("cannot start", &cause))?;
    let demo = crate::demo::start(args.calm).map_err(Failure::Local)?;
    let target = Target::Pid(std::process::id());
    let shown = if has_screen() {
        console(
            view,
            Some(tui::Subject::Process(target)),
            (!args.calm).then_some(TROUBLES),
        )
    } else {
        runtime.block_on(async {
            tokio::select! {
                shown = warm_page(view, Origin::Process(target), &query) => shown,
                signal = signals.first() => Err(Failure::signal(signal)),
            }
        })
    };
    let stopped = demo.stop().map_err(Failure::Local);
    shown.and(stopped.map(drop))
}

#[cfg(feature = "demo")]
async fn warm_page(view: &ViewArgs, origin: Origin, query: &Query) -> Result<(), Failure> {
    tokio::time::sleep(WARM_UP).await;
    page(view, Some(origin), query).await
}

/// The query of the first view; a mistake in it is reported before anything starts.
fn checked(view: &ViewArgs) -> Result<Query, Failure> {
    let rows = Rows {
        filter: view.rows.filter.clone(),
        sort: sort(view),
        invert: false,
        limit: view.limit,
        ..Rows::default()
    };
    let query = plain_text::query(view.window().0, rows);
    Selection::parse(&query)?;
    Ok(query)
}

/// The key of the column that the procs are sorted by.
fn sort(view: &ViewArgs) -> String {
    columns::key(Table::Procs, &view.rows.sort)
}

/// Whether there is a terminal with cursor addressing; any other gets the plain page.
fn has_screen() -> bool {
    if !(stdin().is_terminal() && stdout().is_terminal()) {
        return false;
    }
    let term = std::env::var("TERM");
    if term.as_deref() == Ok("dumb") {
        note(
            "TERM is dumb, and the console needs a terminal with cursor control: this is one plain page",
        );
        return false;
    }
    true
}

fn console(
    view: &ViewArgs,
    subject: Option<tui::Subject>,
    forecast: Option<&'static str>,
) -> Result<(), Failure> {
    let options = tui::Options {
        subject,
        window: view.window,
        interval: view.interval,
        sort: sort(view),
        filter: view.rows.filter.clone(),
        glyphs: view.ascii.then_some(tui::GlyphSet::Ascii),
        theme: view.theme.map(Into::into),
        keeps: !view.no_state,
        sources: view.source.source.clone(),
        forecast,
    };
    match tui::run(options) {
        Ok(None) => Ok(()),
        Ok(Some(signal)) => Err(Failure::signal(signal)),
        Err(cause) => Err(Failure::local("cannot use the terminal", &cause)),
    }
}

async fn page(view: &ViewArgs, origin: Option<Origin>, query: &Query) -> Result<(), Failure> {
    let snapshot = source::snapshot(origin, query).await?;
    print(&plain_text::text(
        &snapshot,
        &sort(view),
        plain_text::width(),
    ))
}
