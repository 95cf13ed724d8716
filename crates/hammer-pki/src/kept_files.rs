//! Large files that came back, on their way to whoever verifies them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::PkiError;

/// Unnamed files that wait to be verified, by numbers; clones of one workload's verifiers share them.
#[derive(Debug, Default)]
pub struct KeptFiles {
    files: Mutex<HashMap<u64, (File, u64)>>,
    /// Held while one is in memory.
    turn: Mutex<()>,
    next: AtomicU64,
    waiting: AtomicU64,
}

impl KeptFiles {
    /// Finds out whether a file can be made where large answers go, ahead of the load.
    ///
    /// # Errors
    /// The folder where none can.
    pub fn check_room() -> Result<(), PkiError> {
        let made = tempfile::tempfile();
        made.map(drop).map_err(|source| PkiError::Temporary { folder: std::env::temp_dir(), source })
    }

    /// Keeps a file; none where there is no room. What is kept is of more than a megabyte, beside whose transfer the lock is nothing.
    pub(crate) fn keep(&self, file: File) -> Option<u64> {
        let length = file.metadata().ok()?.len();
        if self.waiting_bytes() + length > MOST_WAITING {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.waiting.fetch_add(length, Ordering::Relaxed);
        self.files().insert(number, (file, length));
        Some(number)
    }

    /// Hands what is in the file of that number to `verify`, which is then gone. One file at a time is in memory, whoever verifies.
    ///
    /// # Errors
    /// Where there is no such file, or it cannot be read.
    pub(crate) fn verify<T>(&self, number: u64, verify: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut file, length) = self.files().remove(&number).ok_or_else(missing)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
        let verified = read.map(|_| verify(&bytes));
        self.waiting.fetch_sub(length, Ordering::Relaxed);
        verified
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.files().len()
    }

    /// Bytes of those that wait, the one that is verified included.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    fn files(&self) -> MutexGuard<'_, HashMap<u64, (File, u64)>> {
        // Whoever panicked left the table as it was between two files.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of one workload's files that wait at most: what comes beyond is unchecked.
const MOST_WAITING: u64 = 8 << 30;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_is_verified_once_and_counted_until_then() {
        let kept = KeptFiles::default();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"signed").unwrap();
        let number = kept.keep(file).unwrap();
        assert_eq!((kept.waiting(), kept.waiting_bytes()), (1, 6));
        assert_eq!(kept.verify(number, <[u8]>::to_vec).unwrap(), b"signed");
        assert_eq!((kept.waiting(), kept.waiting_bytes()), (0, 0));
        assert!(kept.verify(number, |_| ()).is_err());
    }

    #[test]
    fn beyond_some_bytes_none_is_kept() {
        let kept = KeptFiles::default();
        // A file with a hole takes no room.
        let file = tempfile::tempfile().unwrap();
        file.set_len(MOST_WAITING).unwrap();
        assert!(kept.keep(file.try_clone().unwrap()).is_some());
        file.set_len(1).unwrap();
        assert!(kept.keep(file).is_none());
    }
}
