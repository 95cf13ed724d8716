//! Where records go when a ring is full: an unnamed file beside the system's other temporary ones.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;

use super::ring::{HEADER, decode_header};

/// The overflow of one verifier; made when it is first needed. Its lock is taken only when a ring is full.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<File>,
    records: u64,
    lost: u64,
}

impl Spill {
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder, state: Mutex::default() }
    }

    /// Appends an encoded record; one that cannot be written is lost, and counted.
    pub(crate) fn write(&self, encoded: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.file.is_none() {
            state.file = unnamed(&self.folder).ok();
        }
        let written = state.file.as_mut().is_some_and(|file| file.write_all(encoded).is_ok());
        if written {
            state.records += 1;
        } else {
            state.lost += 1;
        }
    }

    /// Whether nothing waits here, written or lost.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.records + state.lost == 0
    }

    /// Hands every spilled record to `take` and returns how many were lost; later records begin a new file.
    pub(crate) fn drain(&self, mut take: impl FnMut(u64, &[u8])) -> u64 {
        let state =
            std::mem::take(&mut *self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let mut read = 0;
        if let Some(mut file) = state.file
            && file.seek(SeekFrom::Start(0)).is_ok()
        {
            let mut reader = BufReader::new(file);
            let mut header = [0; HEADER];
            let mut record = Vec::new();
            while read < state.records && reader.read_exact(&mut header).is_ok() {
                let (seq, length) = decode_header(header);
                record.resize(length, 0);
                if reader.read_exact(&mut record).is_err() {
                    break;
                }
                take(seq, &record);
                read += 1;
            }
        }
        state.lost + (state.records - read)
    }
}

fn unnamed(folder: &std::path::Path) -> std::io::Result<File> {
    tempfile::tempfile_in(folder)
}
