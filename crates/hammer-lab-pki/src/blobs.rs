//! Files that are uploaded in parts, or fetched besides.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stored_file::StoredFile;

/// The files, by their tokens: the oldest make room where they are too many or too large together.
#[derive(Debug, Default)]
pub(crate) struct Blobs(Mutex<BlobTable>);

#[derive(Debug, Default)]
struct BlobTable {
    kept: HashMap<String, Blob>,
    /// Tokens in the order in which they were given, those that are gone by now among them.
    order: VecDeque<String>,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Blob {
    file: StoredFile,
    /// Where each part stands in it, and its length.
    parts: BTreeMap<u32, (u64, u64)>,
}

impl Blobs {
    /// Begins one without parts.
    pub(crate) fn begin(&self, token: String) {
        self.lock().keep(token, Blob::default());
    }

    /// Keeps a whole one.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub(crate) fn keep(&self, token: String, content: &[u8]) -> io::Result<()> {
        let mut blob = Blob::default();
        blob.add(0, content)?;
        self.lock().keep(token, blob);
        Ok(())
    }

    /// Adds a part; says whether the file is known.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub(crate) fn add(&self, token: &str, number: u32, part: &[u8]) -> io::Result<bool> {
        let mut table = self.lock();
        let Some(blob) = table.kept.get_mut(token) else { return Ok(false) };
        blob.add(number, part)?;
        table.bytes += part.len() as u64;
        table.make_room(Some(token));
        Ok(true)
    }

    pub(crate) fn is_known(&self, token: &str) -> bool {
        self.lock().kept.contains_key(token)
    }

    /// All of it, which stays.
    ///
    /// # Errors
    /// Where it cannot be read back.
    pub(crate) fn whole(&self, token: &str) -> io::Result<Option<Vec<u8>>> {
        self.lock().kept.get_mut(token).map(Blob::whole).transpose()
    }

    /// All of it, which is used up.
    ///
    /// # Errors
    /// Where it cannot be read back.
    pub(crate) fn take(&self, token: &str) -> io::Result<Option<Vec<u8>>> {
        let taken = self.lock().remove(token);
        taken.map(|mut blob| blob.whole()).transpose()
    }

    pub(crate) fn clear(&self) {
        *self.lock() = BlobTable::default();
    }

    fn lock(&self) -> MutexGuard<'_, BlobTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobTable {
    fn keep(&mut self, token: String, blob: Blob) {
        self.bytes += blob.file.len();
        self.order.push_back(token.clone());
        self.kept.insert(token, blob);
        self.make_room(None);
    }

    fn remove(&mut self, token: &str) -> Option<Blob> {
        let blob = self.kept.remove(token)?;
        self.bytes -= blob.file.len();
        Some(blob)
    }

    /// Lets the oldest go, but not the one that is being written.
    fn make_room(&mut self, written: Option<&str>) {
        while self.order.len() > MOST || self.bytes > MOST_BYTES {
            match self.order.front() {
                Some(oldest) if written != Some(oldest.as_str()) => {}
                _ => break,
            }
            let Some(oldest) = self.order.pop_front() else { break };
            self.remove(&oldest);
        }
    }
}

impl Blob {
    fn add(&mut self, number: u32, part: &[u8]) -> io::Result<()> {
        self.parts.insert(number, (self.file.len(), part.len() as u64));
        self.file.append(part)
    }

    /// Its parts by their numbers, in whichever order they came.
    fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::with_capacity(self.file.len() as usize);
        self.parts.values().try_for_each(|(start, length)| self.file.read(*start, *length, &mut whole))?;
        Ok(whole)
    }
}

const MOST: usize = 4096;
/// Of files that are large, and therefore on a disk.
const MOST_BYTES: u64 = 4 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_a_whole_by_their_numbers_however_large_and_in_whichever_order() {
        for length in [3, 400_000] {
            let blobs = Blobs::default();
            blobs.begin("a".to_owned());
            for number in [2, 0, 1_u8] {
                assert!(blobs.add("a", number.into(), &vec![number; length]).unwrap());
            }
            assert!(!blobs.add("b", 0, b"x").unwrap() && !blobs.is_known("b"));
            let whole: Vec<u8> = [0, 1, 2].into_iter().flat_map(|number| vec![number; length]).collect();
            assert!(blobs.whole("a").unwrap().unwrap() == whole);
            assert!(blobs.take("a").unwrap().unwrap() == whole);
            assert_eq!((blobs.take("a").unwrap(), blobs.lock().bytes), (None, 0));
        }
    }

    #[test]
    fn the_oldest_makes_room() {
        let blobs = Blobs::default();
        for number in 0..=MOST {
            blobs.keep(number.to_string(), b"x").unwrap();
        }
        assert!(!blobs.is_known("0") && blobs.is_known("1"));
        assert_eq!(blobs.lock().bytes, MOST as u64);
    }
}
