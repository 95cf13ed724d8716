//! Receipts that memory does not hold, in files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use hammer_tlog::logs::audit::Spill;

/// Receipts that memory does not hold: a folder that is there once it is needed, with a file for each partition.
#[derive(Debug)]
pub(crate) struct ReceiptSpill {
    path: PathBuf,
}

impl ReceiptSpill {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    fn file(&self, partition: u64) -> PathBuf {
        self.path.join(partition.to_string())
    }
}

impl Spill for ReceiptSpill {
    fn append(&mut self, partition: u64, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        OpenOptions::new().create(true).append(true).open(self.file(partition))?.write_all(bytes)
    }

    fn take(&mut self, partition: u64) -> io::Result<Vec<u8>> {
        let file = self.file(partition);
        let bytes = match fs::read(&file) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read?,
        };
        fs::remove_file(file)?;
        Ok(bytes)
    }
}

impl Drop for ReceiptSpill {
    fn drop(&mut self) {
        // Where nothing was spilled there is none.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_is_given_back_once_and_nothing_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("receipts");
        let mut folder = ReceiptSpill::at(path.clone());
        assert!(folder.take(3).unwrap().is_empty());
        for (partition, bytes) in [(3, b"one"), (u64::MAX, b"two"), (3, b"six")] {
            folder.append(partition, bytes).unwrap();
        }
        assert_eq!(folder.take(3).unwrap(), b"onesix");
        assert!(folder.take(3).unwrap().is_empty());
        assert_eq!(folder.take(u64::MAX).unwrap(), b"two");
        folder.append(1, b"left").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
