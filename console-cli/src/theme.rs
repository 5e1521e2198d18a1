//! Themes. Colour is never the only sign: every coloured role also has a letter, a word or an
//! attribute.

use ratatui::style::{Color, Modifier, Style};

/// Colours for a dark or light background, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Light text on a dark background.
    Dark,
    /// Dark text on a light background.
    Light,
    /// Attributes only.
    Mono,
}

impl Theme {
    const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Mono];

    /// The name of the theme in settings and on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Mono => "mono",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.word() == word)
    }
}

/// Number of colours that the terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Sixteen,
    Indexed,
    True,
}

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Ordinary text.
    Plain,
    /// Unknown, ended or stale.
    Dim,
    /// Title, header, the open tab.
    Title,
    /// Header of the sort column.
    Sorted,
    /// Live, polling.
    Live,
    /// A warning; the text says so too.
    Warning,
    /// An alert or error; the text says so too.
    Alert,
    /// Paused; the text says so too.
    Paused,
    /// A link to another record.
    Link,
    Bar,
    /// A bar over 100 %.
    BarOver,
    /// The badge while the display is frozen and nothing is wrong.
    BadgeCalm,
    /// The badge while data are missing or accounting is off.
    BadgeWarning,
}

/// Turns roles into styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Palette {
    theme: Theme,
    depth: Depth,
}

/// One colour: of 16, of 256 on dark and light, and as 24 bits on dark and light.
struct Colour {
    sixteen: Color,
    indexed: [u8; 2],
    rgb: [u32; 2],
}

const DIM: Colour = Colour {
    sixteen: Color::DarkGray,
    indexed: [245, 243],
    rgb: [0x8a_8a_8a, 0x6c_6c_6c],
};
const GREEN: Colour = Colour {
    sixteen: Color::Green,
    indexed: [71, 28],
    rgb: [0x5f_af_5f, 0x00_87_00],
};
const YELLOW: Colour = Colour {
    sixteen: Color::Yellow,
    indexed: [214, 130],
    rgb: [0xff_af_00, 0xaf_5f_00],
};
const RED: Colour = Colour {
    sixteen: Color::Red,
    indexed: [203, 160],
    rgb: [0xff_5f_5f, 0xd7_00_00],
};
const BLUE: Colour = Colour {
    sixteen: Color::Blue,
    indexed: [67, 25],
    rgb: [0x5f_87_af, 0x00_5f_af],
};
const MAGENTA: Colour = Colour {
    sixteen: Color::Magenta,
    indexed: [176, 90],
    rgb: [0xd7_87_d7, 0x87_00_87],
};
const LINK: Colour = Colour {
    sixteen: Color::Cyan,
    indexed: [80, 25],
    rgb: [0x5f_d7_d7, 0x00_5f_af],
};
const CYAN: Colour = Colour {
    sixteen: Color::Cyan,
    indexed: [80, 24],
    rgb: [0x5f_d7_d7, 0x00_5f_87],
};

impl Palette {
    /// The palette for a requested theme, or else the one that the environment suggests:
    /// `TURBOWISH_THEME`, `NO_COLOR`, `COLORTERM`, `TERM`, `COLORFGBG`. If the background is not
    /// known, the terminal's own sixteen colours are used.
    pub(crate) fn of_environment(
        asked: Option<Theme>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let named = || Theme::named(&variable("TURBOWISH_THEME")?);
        let depth = depth(&variable);
        if let Some(theme) = asked.or_else(named) {
            return Self { theme, depth };
        }
        if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            return Self {
                theme: Theme::Mono,
                depth,
            };
        }
        match variable("COLORFGBG").as_deref().and_then(background) {
            Some(theme) => Self { theme, depth },
            None => Self {
                theme: Theme::Dark,
                depth: Depth::Sixteen,
            },
        }
    }

    /// As [`Self::of_environment`], with the theme from the settings if the environment names none.
    pub(crate) fn of_start(
        asked: Option<Theme>,
        kept: Option<Theme>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let named = variable("TURBOWISH_THEME").is_some_and(|name| Theme::named(&name).is_some());
        let kept = kept.filter(|_| !named);
        Self::of_environment(asked.or(kept), variable)
    }

    /// Attributes only.
    #[cfg(test)]
    pub(crate) const fn mono() -> Self {
        Self {
            theme: Theme::Mono,
            depth: Depth::Sixteen,
        }
    }

    /// The style of text with this role.
    pub(crate) fn style(self, role: Role) -> Style {
        let plain = Style::new();
        match role {
            Role::Plain => plain,
            Role::Dim => self.colour(&DIM, plain.add_modifier(Modifier::DIM)),
            Role::Title => plain.add_modifier(Modifier::BOLD),
            Role::Sorted => plain.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            Role::Live => self.colour(&GREEN, plain),
            Role::Warning => self.colour(&YELLOW, plain.add_modifier(Modifier::BOLD)),
            Role::Alert => self.colour(
                &RED,
                plain.add_modifier(Modifier::BOLD | Modifier::REVERSED),
            ),
            Role::Paused => self.colour(&MAGENTA, plain.add_modifier(Modifier::UNDERLINED)),
            Role::Link => self.colour(&LINK, plain.add_modifier(Modifier::UNDERLINED)),
            Role::Bar => self.colour(&BLUE, plain),
            Role::BarOver => self.colour(&CYAN, plain),
            Role::BadgeCalm => self.colour(&BLUE, plain).add_modifier(Modifier::REVERSED),
            Role::BadgeWarning => self.colour(&YELLOW, plain).add_modifier(Modifier::REVERSED),
        }
    }

    /// The style of the selected row; its glyph marks it as well.
    pub(crate) const fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn colour(self, colour: &Colour, mono: Style) -> Style {
        let side = match self.theme {
            Theme::Mono => return mono,
            Theme::Dark => 0,
            Theme::Light => 1,
        };
        Style::new().fg(match self.depth {
            Depth::Sixteen => colour.sixteen,
            Depth::Indexed => Color::Indexed(colour.indexed[side]),
            Depth::True => Color::from_u32(colour.rgb[side]),
        })
    }
}

fn depth(variable: &impl Fn(&str) -> Option<String>) -> Depth {
    match variable("COLORTERM").as_deref() {
        Some("truecolor" | "24bit") => Depth::True,
        _ if variable("TERM").is_some_and(|term| term.contains("256color")) => Depth::Indexed,
        _ => Depth::Sixteen,
    }
}

/// The last field is the background's number among the sixteen colours: 7 and 15 are white.
fn background(fgbg: &str) -> Option<Theme> {
    match fgbg.rsplit(';').next()?.parse::<u8>().ok()? {
        7 | 15 => Some(Theme::Light),
        0..=6 | 8..=14 => Some(Theme::Dark),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_theme_and_depth() {
        let check = |asked, variables: &[(&str, &str)], theme, depth| {
            let found = Palette::of_environment(asked, |name| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(found, Palette { theme, depth }, "{asked:?} {variables:?}");
        };
        let true_light = &[("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")];
        check(None, &[], Theme::Dark, Depth::Sixteen);
        check(None, true_light, Theme::Light, Depth::True);
        check(
            None,
            &[("TERM", "xterm-256color"), ("COLORFGBG", "15;0")],
            Theme::Dark,
            Depth::Indexed,
        );
        check(
            None,
            &[("TERM", "xterm-256color")],
            Theme::Dark,
            Depth::Sixteen,
        );
        check(
            None,
            &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")],
            Theme::Mono,
            Depth::True,
        );
        check(None, &[("NO_COLOR", "")], Theme::Dark, Depth::Sixteen);
        check(
            None,
            &[("TURBOWISH_THEME", "light"), ("NO_COLOR", "1")],
            Theme::Light,
            Depth::Sixteen,
        );
        check(
            Some(Theme::Mono),
            &[("TURBOWISH_THEME", "light")],
            Theme::Mono,
            Depth::Sixteen,
        );
    }

    #[test]
    fn a_theme_that_was_kept_is_for_where_none_is_named() {
        let check = |asked, named: &str, theme| {
            let variable = |name: &str| match name {
                "TURBOWISH_THEME" => Some(named.to_owned()),
                "NO_COLOR" => Some("1".to_owned()),
                _ => None,
            };
            let found = Palette::of_start(asked, Some(Theme::Light), variable);
            assert_eq!(found.theme, theme, "{asked:?} {named}");
        };
        check(None, "", Theme::Light);
        check(None, "dark", Theme::Dark);
        check(Some(Theme::Mono), "", Theme::Mono);
    }

    #[test]
    fn without_colour_every_role_that_matters_keeps_an_attribute() {
        for role in [
            Role::Dim,
            Role::Link,
            Role::Warning,
            Role::Alert,
            Role::BadgeCalm,
            Role::BadgeWarning,
            Role::Sorted,
        ] {
            let style = Palette::mono().style(role);
            assert_eq!(style.fg, None, "{role:?} has no colour");
            assert!(
                !style.add_modifier.is_empty(),
                "{role:?} is marked by an attribute"
            );
        }
    }
}
