//! Which calls are dropped before they have returned, and by whom: the async stack at each drop.
//! `TURBOWISH_RECORD=calls`, or `turbowish record PROCESS --events calls --out x.tw`; then
//! `cargo run -p turbowish-recording --example who_drops -- x.tw`

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, Write};

use turbowish_model::collect::call_events::{AsyncStacks, CallItem, LiveCall};
use turbowish_model::event::CallEvent;
use turbowish_recording::{Names, Reader};

fn main() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::args().nth(1) else {
        return Err("usage: who_drops FILE.tw".into());
    };
    let mut reader = Reader::open(File::open(path)?)?;
    let (names, _) = reader.names()?;
    let (calls, _) = reader.recorded_calls()?;
    let mut stacks = AsyncStacks::default();
    let mut drops: BTreeMap<String, u64> = BTreeMap::new();
    for item in calls {
        if let CallItem::Event { event, .. } = item
            && let Some((id, CallEvent::Drop)) = event.call()
        {
            let dropped = stacks.call(id).unwrap_or_default();
            let by: Vec<String> = stacks
                .polled(event.thread)
                .rev()
                .map(|call| standing(&names, call))
                .collect();
            let by = match by.is_empty() {
                true => "outside of all calls".to_owned(),
                false => by.join(" < "),
            };
            let line = format!("{} dropped in {by}", standing(&names, dropped));
            *drops.entry(line).or_default() += 1;
        }
        stacks.item(&item);
    }
    let mut drops: Vec<(u64, String)> = drops.into_iter().map(|(line, n)| (n, line)).collect();
    drops.sort_by_key(|drops| std::cmp::Reverse(drops.0));
    for (times, line) in drops {
        writeln!(io::stdout(), "{times:>8} {line}")?;
    }
    Ok(())
}

/// `app::work timeout(LIMIT, push(&mut jobs)) app.rs:28`: a function, and where it stands.
fn standing(names: &Names, call: LiveCall) -> String {
    let Some(proc) = call.proc.and_then(|proc| names.proc(proc)) else {
        return "a call of before".to_owned();
    };
    match call
        .site
        .checked_sub(1)
        .and_then(|site| proc.await_point(site))
    {
        Some(place) => format!(
            "{} {} {}:{}",
            proc.path, place.expression, proc.file, place.line
        ),
        None => proc.path.clone(),
    }
}
