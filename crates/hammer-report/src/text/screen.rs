//! The screen that a text is for: how wide it is, and whether it shows colour.

use anstyle::{AnsiColor, Style};

use super::page::WIDTH;

/// What a text is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    width: usize,
    has_colour: bool,
    has_histogram: bool,
}

/// What a part of a text says of the run; colour repeats what is in words as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Warning,
    Bad,
    Strong,
}

impl Screen {
    /// Of so many columns, 80 at least and 160 at most: longer lines are hard to read.
    #[must_use]
    pub fn new(columns: usize, has_colour: bool) -> Self {
        Self { width: columns.clamp(WIDTH, WIDEST), has_colour, has_histogram: false }
    }

    /// The same, with bars of the response times where `is_wanted`: what is told of one line, whose report is short.
    #[must_use]
    pub const fn with_histogram(self, is_wanted: bool) -> Self {
        Self { has_histogram: is_wanted, ..self }
    }

    pub(super) const fn has_histogram(self) -> bool {
        self.has_histogram
    }

    /// Columns of it.
    pub(super) const fn width(self) -> usize {
        self.width
    }

    /// A text in that tone, which may have several lines.
    pub(super) fn toned(self, text: &str, tone: Tone) -> String {
        if !self.has_colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        text.lines().map(|line| format!("{style}{line}{style:#}")).collect::<Vec<_>>().join("\n")
    }
}

/// A file or a pipe: 80 columns without colour.
impl Default for Screen {
    fn default() -> Self {
        Self::new(WIDTH, false)
    }
}

impl Tone {
    fn style(self) -> Style {
        let coloured = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Good => coloured(AnsiColor::Green).bold(),
            Self::Warning => coloured(AnsiColor::Yellow),
            Self::Bad => coloured(AnsiColor::Red).bold(),
            Self::Strong => Style::new().bold(),
        }
    }

    /// [`Tone::Bad`] when there is any, else plain.
    pub(super) const fn bad_if(any: bool) -> Self {
        if any { Self::Bad } else { Self::Plain }
    }
}

const WIDEST: usize = 160;
