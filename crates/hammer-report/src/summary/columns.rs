//! Rows of text in columns.

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// As names do.
    Left,
    /// As numbers do.
    Right,
}

/// The rows in columns as wide as their widest cell, two spaces apart.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]], sides: [Side; N]) -> Vec<String> {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let cell = |(column, text): (usize, &String)| {
        let width = widths[column];
        match sides[column] {
            Side::Left => format!("{text:<width$}"),
            Side::Right => format!("{text:>width$}"),
        }
    };
    rows.iter().map(|row| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ")).collect()
}

/// What stands where there is no figure.
pub(super) fn none() -> String {
    "none".to_owned()
}
