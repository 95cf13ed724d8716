//! How wide the tables of a page are.

use ratatui::text::Span;

/// The columns of a screen, as its tables use them.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableWidth(u16);

impl TableWidth {
    pub(super) const fn of(columns: u16) -> Self {
        Self(columns)
    }

    /// Whether there is room for further columns.
    pub(super) const fn is_wide(self) -> bool {
        self.0 >= WIDE
    }

    /// A row that starts so, with those cells behind it that fit as a whole, each at the right of so many columns: a part of a figure is another one.
    pub(super) fn row(self, mut row: String, cells: impl IntoIterator<Item = (String, usize)>) -> String {
        let mut taken = Span::raw(&row).width();
        for (cell, columns) in cells {
            taken += columns.max(cell.chars().count());
            if taken > usize::from(self.0) {
                break;
            }
            row.push_str(&format!("{cell:>columns$}"));
        }
        row
    }

    /// Columns for a name.
    pub(super) const fn name(self) -> usize {
        match self.0 {
            ..WIDE => 15,
            WIDE..150 => 28,
            150.. => 44,
        }
    }
}

const WIDE: u16 = 120;
