//! What is handed to verifiers of a signed file: as bytes, since promises wait in rings.

use hammer_measure::Nanos;

use crate::signature_kind::SignatureKind;

/// A file that came back, and what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureRecord<'a> {
    /// What was asked for.
    pub(crate) kind: SignatureKind,
    /// Whether the digest alone was sent.
    pub(crate) by_digest: bool,
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
    /// Replaces `out` by its bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        let is_kept = matches!(self.file, RecordedFile::Kept(_));
        out.extend_from_slice(&[self.kind as u8, self.by_digest.into(), is_kept.into()]);
        out.extend_from_slice(&self.signer.to_be_bytes());
        for at in [self.sent, self.received] {
            out.extend_from_slice(&at.0.to_be_bytes());
        }
        match self.file {
            RecordedFile::Here(bytes) => out.extend_from_slice(bytes),
            RecordedFile::Kept(number) => out.extend_from_slice(&number.unwrap_or(UNKEPT).to_be_bytes()),
        }
    }

    /// What was written; nothing where it was not by [`SignatureRecord::write`].
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[kind, by_digest, is_kept], rest) = bytes.split_first_chunk()?;
        let (signer, rest) = rest.split_first_chunk()?;
        let (sent, rest) = rest.split_first_chunk()?;
        let (received, rest) = rest.split_first_chunk()?;
        let file = match is_kept {
            0 => RecordedFile::Here(rest),
            _ => {
                let number = u64::from_be_bytes(rest.try_into().ok()?);
                RecordedFile::Kept((number != UNKEPT).then_some(number))
            }
        };
        let kind = SignatureKind::ALL.into_iter().find(|known| *known as u8 == kind)?;
        let [sent, received] = [sent, received].map(|at| Nanos(u64::from_be_bytes(*at)));
        let signer = u32::from_be_bytes(*signer);
        Some(Self { kind, by_digest: by_digest != 0, signer, sent, received, file })
    }
}

/// No number of a file.
const UNKEPT: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_and_no_part_of_its_head_is_another() {
        let mut bytes = vec![1];
        for kind in SignatureKind::ALL {
            let (sent, received) = (Nanos(3), Nanos(u64::MAX));
            for file in [RecordedFile::Kept(Some(9)), RecordedFile::Kept(None), RecordedFile::Here(b"file")] {
                let record = SignatureRecord { kind, by_digest: true, signer: 7, sent, received, file };
                record.write(&mut bytes);
                assert_eq!(SignatureRecord::read(&bytes), Some(record));
            }
        }
        assert!((0..bytes.len() - 4).all(|length| SignatureRecord::read(&bytes[..length]).is_none()));
    }
}
