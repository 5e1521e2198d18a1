//! Names of the ids in events: events refer to procs and texts by id.

/// Names of the ids in a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of procs.
    pub procs: NameTable,
    /// Names and values of the program's own data.
    pub texts: NameTable,
}

/// Names by id: an id is the position of the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable(Vec<String>);

impl NameTable {
    /// The table in which the id of each name is its position.
    #[must_use]
    pub fn new(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// Returns the id of a name; adds the name if it is new.
    pub fn id(&mut self, name: &str) -> u32 {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        }) as u32
    }

    /// The name with this id; `?` if there is none.
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        self.0.get(id as usize).map_or("?", String::as_str)
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
