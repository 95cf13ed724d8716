//! How wide the tables of a page are.

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
