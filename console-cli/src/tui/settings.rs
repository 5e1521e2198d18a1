//! Settings kept between consoles: columns, order, window, theme, mouse. Filters and selections are
//! not kept.

use serde_json::{Map, Value, json};
use turbowish_model::query::LONGEST_WINDOW_NS;
use turbowish_model::snapshot::units;

use super::rows::Order;
use super::state::{State, View, Window};
use crate::args;
use crate::theme::Theme;

/// Version of the document: it changes if an older console would misread it.
const VERSION: u64 = 1;

/// The settings to keep; those that the user has not changed are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) window: Option<Window>,
    pub(crate) theme: Option<Theme>,
    pub(crate) mouse: Option<bool>,
    /// In the order of the views.
    tables: [TableSettings; View::ALL.len()],
}

/// An error in a file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) text: String,
    /// A newer console has written the file, and can use it.
    pub(crate) newer: bool,
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self { text, newer: false }
    }
}

/// The settings of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TableSettings {
    /// By key, in order, without the first column.
    columns: Option<Vec<String>>,
    order: Option<Order>,
}

impl Settings {
    /// The settings of a console as it is now, without those that equal the default.
    pub(crate) fn of(state: &State) -> Self {
        let kept = |view: View| {
            let table = state.tables.of(view);
            let columns = table.picked();
            TableSettings {
                columns: columns.map(|keys| keys.iter().map(|&key| key.to_owned()).collect()),
                order: Some(table.order().clone()).filter(|order| *order != table.first_order()),
            }
        };
        Self {
            window: Some(state.window),
            theme: state.look.theme,
            mouse: Some(state.look.mouse),
            tables: View::ALL.map(kept),
        }
    }

    /// The settings that have changed since `begin`, and the kept ones for the rest.
    pub(crate) fn over(&self, begin: &Self, kept: &Self) -> Self {
        fn changed<T: Clone + PartialEq>(now: &T, begin: &T, kept: &T) -> T {
            if now == begin { kept } else { now }.clone()
        }
        let mut tables = kept.tables.clone();
        for (at, table) in tables.iter_mut().enumerate() {
            let (now, begin) = (&self.tables[at], &begin.tables[at]);
            table.columns = changed(&now.columns, &begin.columns, &table.columns);
            table.order = changed(&now.order, &begin.order, &table.order);
        }
        Self {
            window: changed(&self.window, &begin.window, &kept.window),
            theme: changed(&self.theme, &begin.theme, &kept.theme),
            mouse: changed(&self.mouse, &begin.mouse, &kept.mouse),
            tables,
        }
    }

    /// Applies the settings to a console.
    pub(crate) fn apply(&self, state: &mut State) {
        if let Some(window) = self.window {
            state.look.kept_window = Some(window).filter(|kept| *kept != state.window);
            state.window = window;
        }
        if let Some(mouse) = self.mouse {
            state.look.mouse = mouse;
        }
        state.look.theme = self.theme;
        self.apply_tables(state);
    }

    /// Applies the settings of the tables; columns that a table lacks are omitted.
    pub(crate) fn apply_tables(&self, state: &mut State) {
        let context = state.context();
        for (view, kept) in View::ALL.into_iter().zip(&self.tables) {
            let table = state.tables.of_mut(view);
            if let Some(keys) = &kept.columns {
                let faces = table.faces();
                let face = |key: &String| faces.iter().find(|face| face.key == key);
                let keys = keys.iter().filter_map(|key| face(key).map(|face| face.key));
                table.pick(Some(keys.collect()));
            }
            if let Some(order) = &kept.order {
                table.sort(order.clone(), &context);
            }
        }
    }

    /// Whether the settings can be applied to a console.
    ///
    /// # Errors
    /// A table has no such column.
    pub(crate) fn check(&self, state: &State) -> Result<(), String> {
        for (view, kept) in View::ALL.into_iter().zip(&self.tables) {
            let table = state.tables.of(view);
            let sort = kept.order.iter().map(|order| &order.key);
            for key in kept.columns.iter().flatten().chain(sort) {
                table.check_sort(key)?;
            }
        }
        Ok(())
    }
}

impl Settings {
    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut tables = Map::new();
        for (view, kept) in View::ALL.into_iter().zip(&self.tables) {
            let mut table = Map::new();
            if let Some(columns) = &kept.columns {
                table.insert("columns".to_owned(), json!(columns));
            }
            if let Some(Order { key, invert }) = &kept.order {
                table.insert("sort".to_owned(), json!(key));
                table.insert("invert".to_owned(), json!(invert));
            }
            if !table.is_empty() {
                tables.insert(view.name().to_owned(), Value::Object(table));
            }
        }
        let mut document = json!({ "version": VERSION, "tables": tables });
        if let Some(window) = self.window {
            document["window"] = json!(window_text(window));
        }
        if let Some(theme) = self.theme {
            document["theme"] = json!(theme.word());
        }
        if let Some(mouse) = self.mouse {
            document["mouse"] = json!(mouse);
        }
        format!("{document:#}\n")
    }

    /// Parses the output of [`Self::text`].
    ///
    /// # Errors
    /// A description of the error.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let document: Value = serde_json::from_str(text).map_err(|fault| fault.to_string())?;
        match document.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                return Err(Fault {
                    text: format!("version {other}, and this turbowish knows {VERSION}"),
                    newer: other > VERSION,
                });
            }
            None => return Err("it has no version".to_owned().into()),
        }
        let wrong = |name: &str| format!("{name} has an invalid value");
        let word = |name: &str| match document.get(name) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word.as_str())),
            Some(_) => Err(Fault::from(wrong(name))),
        };
        let mut settings = Self::default();
        if let Some(text) = word("window")? {
            // An earlier version kept windows longer than the possible uptime.
            let is_too_long = units::parse_duration(text).is_some_and(|ns| ns > LONGEST_WINDOW_NS);
            settings.window = match args::window(text) {
                Ok(window) => Some(window),
                Err(_) if is_too_long => Some(Window(Some(LONGEST_WINDOW_NS))),
                Err(_) => return Err(wrong("window").into()),
            };
        }
        if let Some(name) = word("theme")? {
            settings.theme = Some(Theme::named(name).ok_or_else(|| wrong("theme"))?);
        }
        if let Some(mouse) = document.get("mouse") {
            settings.mouse = Some(mouse.as_bool().ok_or_else(|| wrong("mouse"))?);
        }
        if let Some(tables) = document.get("tables") {
            let tables = tables.as_object().ok_or_else(|| wrong("tables"))?;
            for (view, kept) in View::ALL.into_iter().zip(&mut settings.tables) {
                let name = view.name();
                if let Some(table) = tables.get(name) {
                    *kept = TableSettings::parse(table)
                        .ok_or_else(|| wrong(&format!("tables.{name}")))?;
                }
            }
        }
        Ok(settings)
    }
}

impl TableSettings {
    fn parse(table: &Value) -> Option<Self> {
        let table = table.as_object()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let columns = match table.get("columns") {
            None => None,
            Some(columns) => Some(
                columns
                    .as_array()?
                    .iter()
                    .map(text)
                    .collect::<Option<_>>()?,
            ),
        };
        let order = match (table.get("sort"), table.get("invert")) {
            (None, _) => None,
            (Some(key), None) => Some((text(key)?, false)),
            (Some(key), Some(invert)) => Some((text(key)?, invert.as_bool()?)),
        };
        let order = order.map(|(key, invert)| Order { key, invert });
        Some(Self { columns, order })
    }
}

/// `1500ms`, `60s`, `start`: what [`args::window`] reads, without loss.
fn window_text(window: Window) -> String {
    match window.0 {
        None => "start".to_owned(),
        Some(ns) if ns % units::SECOND == 0 => format!("{}s", ns / units::SECOND),
        Some(ns) => format!("{ns}ns"),
    }
}
