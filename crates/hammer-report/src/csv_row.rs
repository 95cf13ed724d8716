//! A row of comma-separated values (RFC 4180): cells are quoted where they have to be, and a row ends in CR LF.

use csv::{Terminator, WriterBuilder};

/// The row of these cells.
pub(crate) fn written<T: AsRef<[u8]>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut row = Vec::new();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut row);
    // A vector takes everything, and a writer of one row has nothing to hold its length against.
    let written = writer.write_record(cells).and_then(|()| Ok(writer.flush()?));
    debug_assert!(written.is_ok(), "{written:?}");
    drop(writer);
    String::from_utf8_lossy(&row).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_cells_or_rows_is_quoted_in_them() {
        assert_eq!(
            written(["a", "b,c", "say \"no\"", "x\r\ny", ""]),
            "a,\"b,c\",\"say \"\"no\"\"\",\"x\r\ny\",\r\n"
        );
    }
}
