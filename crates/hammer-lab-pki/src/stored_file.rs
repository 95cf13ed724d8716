//! Bytes that are kept until they are asked for: a few in memory, many in an unnamed file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Bytes that grow at their end.
#[derive(Debug)]
pub(crate) enum StoredFile {
    Here(Vec<u8>),
    /// With how many there are.
    Unnamed(File, u64),
}

impl Default for StoredFile {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

impl StoredFile {
    /// These bytes.
    ///
    /// # Errors
    /// Where there is no room for them.
    pub(crate) fn of(bytes: Vec<u8>) -> io::Result<Self> {
        if bytes.len() <= MOST_IN_MEMORY {
            return Ok(Self::Here(bytes));
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        Ok(Self::Unnamed(file, bytes.len() as u64))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::Unnamed(_, length) => *length,
        }
    }

    pub(crate) fn append(&mut self, more: &[u8]) -> io::Result<()> {
        match self {
            Self::Here(bytes) => {
                bytes.extend_from_slice(more);
                *self = Self::of(std::mem::take(bytes))?;
            }
            Self::Unnamed(file, length) => {
                file.seek(SeekFrom::Start(*length))?;
                file.write_all(more)?;
                *length += more.len() as u64;
            }
        }
        Ok(())
    }

    /// Appends so many bytes from that place on to `out`.
    pub(crate) fn read(&mut self, start: u64, length: u64, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Here(bytes) => out.extend_from_slice(&bytes[start as usize..(start + length) as usize]),
            Self::Unnamed(file, _) => {
                file.seek(SeekFrom::Start(start))?;
                file.take(length).read_to_end(out)?;
            }
        }
        Ok(())
    }

    /// All of them.
    pub(crate) fn into_bytes(mut self) -> io::Result<Vec<u8>> {
        if let Self::Here(bytes) = self {
            return Ok(bytes);
        }
        let mut whole = Vec::with_capacity(self.len() as usize);
        self.read(0, self.len(), &mut whole)?;
        Ok(whole)
    }
}

const MOST_IN_MEMORY: usize = 1 << 20;
