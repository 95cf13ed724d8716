//! What an audit needs of a place for what memory does not hold.

use std::io;

/// Where receipts go that memory does not hold, in partitions that are appended to and taken back whole. The caller
/// gives it: a folder with a file for each partition, or a vector.
pub trait Spill {
    /// Appends to a partition.
    fn append(&mut self, partition: u64, bytes: &[u8]) -> io::Result<()>;

    /// Gives back all that was appended to a partition, in order, and forgets it.
    fn take(&mut self, partition: u64) -> io::Result<Vec<u8>>;
}

/// Spills nothing: what memory should not hold stays in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSpill;

impl Spill for NoSpill {
    fn append(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn take(&mut self, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
