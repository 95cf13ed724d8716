//! Styles by meaning. Each meaning is in the words or marks as well: colour repeats it.

use ratatui::style::{Color, Modifier, Style};

/// The styles of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Palette {
    colour: bool,
}

impl Palette {
    /// With colour.
    pub(in crate::tui) const COLOUR: Self = Self { colour: true };
    /// Bold, dim and reversed alone.
    pub(in crate::tui) const MONOCHROME: Self = Self { colour: false };

    /// What a page is read by.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What stands beside it.
    pub(super) fn faint(self) -> Style {
        if self.colour { Style::new().fg(Color::DarkGray) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// What is as it should be.
    pub(super) fn good(self) -> Style {
        if self.colour { Style::new().fg(Color::Green).add_modifier(Modifier::BOLD) } else { Style::new() }
    }

    /// What must not be.
    pub(super) fn bad(self) -> Style {
        if self.colour {
            Style::new().fg(Color::Red).add_modifier(Modifier::BOLD)
        } else {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        }
    }

    /// What should not stay so.
    pub(super) fn warning(self) -> Style {
        if self.colour {
            Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
        } else {
            Style::new().add_modifier(Modifier::BOLD)
        }
    }

    /// The line that is marked.
    pub(super) fn marked(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A cell of a heat map.
    pub(super) fn heat(self) -> Style {
        if self.colour { Style::new().fg(Color::Cyan) } else { Style::new() }
    }

    /// [`Palette::bad`] when there is any, else plain.
    pub(super) fn bad_if(self, any: bool) -> Style {
        if any { self.bad() } else { Style::new() }
    }
}
