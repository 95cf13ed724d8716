//! Rows of text in columns.

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// As names do.
    Left,
    /// As numbers do.
    Right,
}

/// The rows, each of as many cells as there are sides, in columns as wide as their widest cell, two spaces apart.
pub fn aligned(rows: &[impl AsRef<[String]>], sides: &[Side]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns: Vec<(Side, usize)> =
        sides.iter().zip(0..).map(|(side, column)| (*side, width(column))).collect();
    let cell = |(text, (side, width)): (&String, &(Side, usize))| match side {
        Side::Left => format!("{text:<width$}"),
        Side::Right => format!("{text:>width$}"),
    };
    rows.iter()
        .map(|row| row.as_ref().iter().zip(&columns).map(cell).collect::<Vec<_>>().join("  "))
        .collect()
}

/// What stands where there is no figure.
pub(crate) fn none() -> String {
    "none".to_owned()
}
