//! Unique suffixes of paths: short names of tasks that differ for different root procs.

use crate::ordered::{Map, Set};

/// The suffixes that more than one path has.
#[derive(Debug, Default)]
pub struct UniqueSuffixes<'a>(Set<&'a str>);

impl<'a> UniqueSuffixes<'a> {
    /// Finds the shared suffixes of the paths of all procs.
    pub fn of(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut owners = Map::new();
        let mut shared = Set::new();
        for path in paths {
            for end in ends(path) {
                // A path may occur twice: the same block twice in one function.
                if *owners.entry(end).or_insert(path) != path {
                    shared.insert(end);
                }
            }
        }
        Self(shared)
    }

    /// The shortest suffix of a path, in whole words, that no other path has.
    #[must_use]
    pub fn shortest<'p>(&self, path: &'p str) -> &'p str {
        ends(path).find(|end| !self.0.contains(end)).unwrap_or(path)
    }
}

/// `c`, `b::c`, `a::b::c`
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.rmatch_indices("::").map(|(at, _)| at + 2);
    starts.chain([0]).map(|start| &path[start..])
}

#[cfg(test)]
mod tests {
    use super::UniqueSuffixes;

    fn check(paths: &[&str], expected: &[&str]) {
        let shared = UniqueSuffixes::of(paths.iter().copied());
        let short: alloc::vec::Vec<&str> = paths.iter().map(|path| shared.shortest(path)).collect();
        assert_eq!(short, expected);
    }

    #[test]
    fn one_word_is_enough_where_it_is_the_only_one() {
        check(&["kv::conn::serve", "kv::run"], &["serve", "run"]);
        check(&["main"], &["main"]);
        check(&[], &[]);
    }

    #[test]
    fn words_are_added_until_they_tell_procs_apart() {
        check(
            &["kv::run", "kv::snapshot::run", "kv::expiry::sweep"],
            &["kv::run", "snapshot::run", "sweep"],
        );
        check(
            &["a::db::run", "b::db::run", "b::run"],
            &["a::db::run", "b::db::run", "b::run"],
        );
        check(&["run", "a::run"], &["run", "a::run"]);
    }

    #[test]
    fn a_path_that_is_there_twice_is_one() {
        check(&["kv::run", "kv::run"], &["run", "run"]);
    }
}
