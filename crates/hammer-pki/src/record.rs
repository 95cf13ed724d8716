//! What is handed to verifiers of a signed file: as bytes, since promises wait in rings and files.

use hammer_measure::Nanos;

use crate::signature_kind::SignatureKind;

/// A file that came back, and what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureRecord<'a> {
    /// What was asked for.
    pub(crate) kind: SignatureKind,
    /// The SHA-256 of the document, where it was sent alone.
    pub(crate) sha256: Option<[u8; 32]>,
    /// Which signer signed.
    pub(crate) signer: u32,
    /// When it was asked what is to be signed.
    pub(crate) sent: Nanos,
    /// When the file had come.
    pub(crate) received: Nanos,
    /// The file.
    pub(crate) file: RecordedFile<'a>,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedFile<'a> {
    /// Here.
    Here(&'a [u8]),
    /// Among those that are kept, by its number; none where there was no room for it.
    Kept(Option<u64>),
}

impl<'a> SignatureRecord<'a> {
    /// What stands behind the file in the record's bytes, or alone where the file is kept elsewhere: so the file is not copied.
    pub(crate) fn tail(&self) -> Vec<u8> {
        let (is_kept, number) = match self.file {
            RecordedFile::Here(_) => (false, UNKEPT),
            RecordedFile::Kept(number) => (true, number.unwrap_or(UNKEPT)),
        };
        let mut tail = Vec::with_capacity(TAIL);
        tail.extend_from_slice(&[self.kind as u8, self.sha256.is_some().into(), is_kept.into()]);
        tail.extend_from_slice(&self.sha256.unwrap_or_default());
        tail.extend_from_slice(&self.signer.to_be_bytes());
        for number in [number, self.sent.0, self.received.0] {
            tail.extend_from_slice(&number.to_be_bytes());
        }
        tail
    }

    /// What was written; nothing where it does not end with a [`SignatureRecord::tail`].
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (file, tail) = bytes.split_last_chunk::<TAIL>()?;
        let (&[kind, has_sha256, is_kept], rest) = tail.split_first_chunk()?;
        let (sha256, rest) = rest.split_first_chunk()?;
        let (signer, rest) = rest.split_first_chunk()?;
        let (numbers, _) = rest.as_chunks();
        let &[number, sent, received] = numbers else { return None };
        let [number, sent, received] = [number, sent, received].map(u64::from_be_bytes);
        let file = match is_kept {
            0 => RecordedFile::Here(file),
            _ => RecordedFile::Kept((number != UNKEPT).then_some(number)),
        };
        Some(Self {
            kind: SignatureKind::ALL.into_iter().find(|known| *known as u8 == kind)?,
            sha256: (has_sha256 != 0).then_some(*sha256),
            signer: u32::from_be_bytes(*signer),
            sent: Nanos(sent),
            received: Nanos(received),
            file,
        })
    }
}

/// No number of a file.
const UNKEPT: u64 = u64::MAX;
/// Bytes of a tail: what is in it, a SHA-256, the signer, the number of a file and both times.
pub(crate) const TAIL: usize = 3 + 32 + 4 + 3 * 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_and_no_part_of_its_tail_is_another() {
        for kind in SignatureKind::ALL {
            let (sent, received) = (Nanos(3), Nanos(u64::MAX));
            for file in [RecordedFile::Kept(Some(9)), RecordedFile::Kept(None), RecordedFile::Here(b"file")] {
                for sha256 in [None, Some([9; 32])] {
                    let record = SignatureRecord { kind, sha256, signer: 7, sent, received, file };
                    let mut bytes = Vec::new();
                    if let RecordedFile::Here(file) = file {
                        bytes.extend_from_slice(file);
                    }
                    bytes.extend_from_slice(&record.tail());
                    assert_eq!(SignatureRecord::read(&bytes), Some(record));
                    assert!((0..TAIL).all(|length| SignatureRecord::read(&bytes[..length]).is_none()));
                }
            }
        }
    }
}
