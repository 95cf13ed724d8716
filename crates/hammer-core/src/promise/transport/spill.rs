//! Where records wait that there is no memory for: an unnamed file beside the system's other temporary ones.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::frame::{HEADER, PromiseRecord, decode_header, encode};
use crate::promise::ledger::PromiseKind;

/// The file of one ring; made when it is first needed.
#[derive(Debug)]
pub(super) struct SpillFile {
    folder: PathBuf,
    file: Option<BufWriter<File>>,
    /// The kinds of the records in the file, in their order: what cannot be read back is known at least by kind.
    kinds: Vec<PromiseKind>,
    /// The kinds of those that could not be written.
    lost: Vec<PromiseKind>,
    scratch: Vec<u8>,
}

impl SpillFile {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder, file: None, kinds: Vec::new(), lost: Vec::new(), scratch: Vec::new() }
    }

    /// Appends a record; one that cannot be written is lost, and counted.
    pub(super) fn write(&mut self, promise: PromiseRecord<'_>) {
        if self.file.is_none() {
            self.file = tempfile::tempfile_in(&self.folder).ok().map(BufWriter::new);
        }
        self.scratch.clear();
        encode(&mut self.scratch, promise);
        let written = self.file.as_mut().is_some_and(|file| file.write_all(&self.scratch).is_ok());
        let kinds = if written { &mut self.kinds } else { &mut self.lost };
        kinds.push(promise.kind);
    }

    /// Whether nothing waits here, written or lost.
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.lost.is_empty()
    }

    /// The file as it is; later records start a new one.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self::in_folder(self.folder.clone());
        std::mem::replace(self, empty)
    }

    /// Hands every record to `take` and returns the kinds of those that were lost.
    pub(super) fn read(self, mut take: impl FnMut(PromiseRecord<'_>)) -> Vec<PromiseKind> {
        let Self { file, kinds, mut lost, mut scratch, .. } = self;
        let mut read = 0;
        if let Some(mut file) = file.and_then(|file| file.into_inner().ok())
            && file.seek(SeekFrom::Start(0)).is_ok()
        {
            let mut reader = BufReader::new(file);
            let mut header = [0; HEADER];
            while read < kinds.len() && reader.read_exact(&mut header).is_ok() {
                let (kind, seq, length) = decode_header(header);
                scratch.resize(length, 0);
                if reader.read_exact(&mut scratch).is_err() {
                    break;
                }
                take(PromiseRecord { seq, kind, bytes: &scratch });
                read += 1;
            }
        }
        lost.extend_from_slice(&kinds[read..]);
        lost
    }
}
