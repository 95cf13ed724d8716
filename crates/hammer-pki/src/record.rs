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
    pub(crate) file: &'a [u8],
}

impl<'a> SignatureRecord<'a> {
    /// Replaces `out` by its bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&[self.kind as u8, self.by_digest.into()]);
        out.extend_from_slice(&self.signer.to_be_bytes());
        for at in [self.sent, self.received] {
            out.extend_from_slice(&at.0.to_be_bytes());
        }
        out.extend_from_slice(self.file);
    }

    /// What was written; nothing where it was not by [`SignatureRecord::write`].
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[kind, by_digest], rest) = bytes.split_first_chunk()?;
        let (signer, rest) = rest.split_first_chunk()?;
        let (sent, rest) = rest.split_first_chunk()?;
        let (received, file) = rest.split_first_chunk()?;
        let kind = SignatureKind::ALL.into_iter().find(|known| *known as u8 == kind)?;
        let [sent, received] = [sent, received].map(|at| Nanos(u64::from_be_bytes(*at)));
        let signer = u32::from_be_bytes(*signer);
        Some(Self { kind, by_digest: by_digest != 0, signer, sent, received, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_and_no_part_of_its_head_is_another() {
        let mut bytes = vec![1];
        for kind in SignatureKind::ALL {
            let (sent, received) = (Nanos(3), Nanos(u64::MAX));
            let record = SignatureRecord { kind, by_digest: true, signer: 7, sent, received, file: b"file" };
            record.write(&mut bytes);
            assert_eq!(SignatureRecord::read(&bytes), Some(record));
        }
        assert!((0..bytes.len() - 4).all(|length| SignatureRecord::read(&bytes[..length]).is_none()));
    }
}
