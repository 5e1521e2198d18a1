//! Name patterns for files and functions. A pattern also matches everything inside the matched
//! item.

/// The patterns of `--include` and `--exclude` combined.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Filter {
    pub(crate) fn new(include: &[Pattern], exclude: &[Pattern]) -> Self {
        Self {
            include: include.to_vec(),
            exclude: exclude.to_vec(),
        }
    }

    /// Whether the patterns select the function `path` (`crate::module::Type::name`; the crate is
    /// omitted if unknown) of `file` (`src/module.rs`, relative to its package).
    pub(crate) fn admits(&self, file: &str, path: &[String]) -> bool {
        let named = |pattern: &Pattern| pattern.names(file, path);
        (self.include.is_empty() || self.include.iter().any(named))
            && !self.exclude.iter().any(named)
    }
}

/// Segments of a file's or a function's path. In a segment, `*` is any text and `?` any character;
/// the segment `**` is any number of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    segments: Vec<String>,
    of: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Contains `/`: a file, or a folder with its contents, relative to the package's folder.
    File,
    /// Contains `::`: a function, or a module or type with its contents, from the crate on, with or
    /// without the crate's name.
    Function,
    /// A single segment: any item of that name, anywhere.
    Any,
}

impl Pattern {
    /// Parses a pattern for the command line.
    ///
    /// # Errors
    /// A message that describes the mistake.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (separator, of) = match (text.contains("::"), text.contains('/')) {
            (true, true) => return Err("either a file path or a function path".to_owned()),
            (true, false) => ("::", Scope::Function),
            (false, true) => ("/", Scope::File),
            (false, false) => ("/", Scope::Any),
        };
        let text = text.strip_prefix("./").unwrap_or(text);
        let text = text.strip_suffix(separator).unwrap_or(text);
        let segments: Vec<String> = text.split(separator).map(str::to_owned).collect();
        if segments.iter().any(String::is_empty) {
            return Err("a name is missing".to_owned());
        }
        Ok(Self { segments, of })
    }

    fn names(&self, file: &str, path: &[String]) -> bool {
        let file: Vec<&str> = file.split('/').collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match self.of {
            Scope::File => begins(&self.segments, &file),
            Scope::Function => {
                begins(&self.segments, &path)
                    || path
                        .split_first()
                        .is_some_and(|(_, inside)| begins(&self.segments, inside))
            }
            Scope::Any => {
                let all = || file.iter().chain(&path);
                self.segments
                    .iter()
                    .all(|segment| segment == "**" || all().any(|name| matches(segment, name)))
            }
        }
    }
}

/// Whether `pattern` matches a prefix of `path`.
fn begins(pattern: &[String], path: &[&str]) -> bool {
    let segments = pattern.iter().map(|segment| match segment.as_str() {
        "**" => Sign::Any,
        segment => Sign::One(segment),
    });
    // Also matches everything inside.
    let pattern: Vec<Sign<&str>> = segments.chain([Sign::Any]).collect();
    fits(&pattern, path, |segment, name| matches(segment, name))
}

/// Whether `pattern` matches a whole segment.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let signs = pattern.chars().map(|sign| match sign {
        '*' => Sign::Any,
        sign => Sign::One(sign),
    });
    let pattern: Vec<Sign<char>> = signs.collect();
    let name: Vec<char> = name.chars().collect();
    fits(&pattern, &name, |sign, c| *sign == '?' || sign == c)
}

/// A part of a pattern.
enum Sign<T> {
    /// Any number of parts, including none.
    Any,
    One(T),
}

/// Whether `pattern` matches the whole `text`, in at most as many steps as the product of their
/// lengths: only the last [`Sign::Any`] is ever extended, because everything before it has been
/// matched as early as possible.
fn fits<P, T>(pattern: &[Sign<P>], text: &[T], same: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut done) = (0, 0);
    let mut last_any = None;
    while done < text.len() {
        match (pattern.get(at), last_any) {
            (Some(Sign::Any), _) => {
                at += 1;
                last_any = Some((at, done));
            }
            (Some(Sign::One(part)), _) if same(part, &text[done]) => {
                at += 1;
                done += 1;
            }
            (_, Some((behind, taken))) => {
                (at, done) = (behind, taken + 1);
                last_any = Some((behind, taken + 1));
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|part| matches!(part, Sign::Any))
}

#[cfg(test)]
mod tests {
    use super::{Pattern, begins, matches};

    const FILE: &str = "src/net/conn.rs";

    fn check(pattern: &str, expected: bool) {
        let path = ["kv", "net", "conn", "Conn", "read_frame"].map(str::to_owned);
        let found = Pattern::parse(pattern)
            .unwrap_or_else(|text| panic!("{pattern}: {text}"))
            .names(FILE, &path);
        assert_eq!(found, expected, "{pattern}");
    }

    #[test]
    fn files_are_named_from_the_package_on() {
        check("src/net/conn.rs", true);
        check("./src/net/conn.rs", true);
        check("src/net", true);
        check("src/net/", true);
        check("src/*/conn.rs", true);
        check("src/**/conn.rs", true);
        check("**/conn.rs", true);
        check("src/**", true);
        check("net/conn.rs", false);
        check("src/ne", false);
        check("src/*.rs", false);
        check("src/net/conn.rs/more", false);
    }

    #[test]
    fn functions_are_named_from_the_crate_on() {
        check("net::conn::Conn::read_frame", true);
        check("kv::net::conn::Conn::read_frame", true);
        check("net::conn", true);
        check("net::", true);
        check("net::*::Conn", true);
        check("**::read_*", true);
        check("**::Conn::read_?rame", true);
        check("conn::Conn", false);
        check("net::conn::Conn::read", false);
    }

    #[test]
    fn a_single_name_is_found_anywhere() {
        check("read_frame", true);
        check("read_*", true);
        check("Conn", true);
        check("net", true);
        check("conn.rs", true);
        check("*.rs", true);
        check("**", true);
        check("*", true);
        check("frame", false);
        check("Con", false);
    }

    #[test]
    fn signs_stand_for_text() {
        for (pattern, name, expected) in [
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("*é", "caffé", true),
            ("?", "é", true),
            ("?", "", false),
            ("", "", true),
            ("", "a", false),
            ("**", "a", true),
            ("*a*", "bab", true),
            ("a?*c", "abcdc", true),
            ("a?*c", "ac", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// With backtracking over all wildcards, these would not finish in an acceptable time.
    #[test]
    fn many_signs_take_few_steps() {
        let name = "a".repeat(10_000);
        assert!(!matches(&"a*".repeat(40).replace("a*", "*a*"), "b"));
        assert!(!matches(&format!("{}b", "a*".repeat(40)), &name));
        let path = vec!["a"; 1_000];
        let pattern = format!("{}b", "**/a/".repeat(40));
        let pattern: Vec<String> = pattern.split('/').map(str::to_owned).collect();
        assert!(!begins(&pattern, &path));
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in ["", "a::/b", "a::::b", "src//a.rs", "/src"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
