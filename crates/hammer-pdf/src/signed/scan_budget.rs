use std::cell::Cell;

use super::fault::PdfFault;

/// How many bytes may still be read. Objects of a document do not overlap; where they do, each of thousands could be as long as the file.
#[derive(Debug)]
pub(super) struct ScanBudget(Cell<usize>);

impl ScanBudget {
    /// That for so many bytes, each of which is read some times.
    pub(super) const fn new(bytes: usize) -> Self {
        Self(Cell::new(bytes.saturating_mul(MOST_SCANS).saturating_add(LEAST)))
    }

    /// Counts what was read.
    ///
    /// # Errors
    /// More than there was left.
    pub(super) fn count(&self, bytes: usize) -> Result<(), PdfFault> {
        let rest = self.0.get().checked_sub(bytes);
        self.0.set(rest.ok_or(PdfFault::Malformed { what: "overlapping objects" })?);
        Ok(())
    }
}

/// A signature dictionary is read four times, and what several revisions name as often.
const MOST_SCANS: usize = 8;
/// What was sent is read as well.
const LEAST: usize = 4096;
