use hammer_tlog::keys::der::{self, DerError, Tlv};
use hammer_tlog::keys::digest::DigestAlgorithm;

use super::fault::TimestampFault;

/// `AlgorithmIdentifier` of SHA-256 with `NULL`, and the header of the hash: all of a `MessageImprint` of SHA-256 between its
/// own header and the 32 bytes.
const SHA256_IMPRINT: [u8; 17] =
    [0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20];

/// `MessageImprint` (RFC 3161 section 2.4.1): the hash that is stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageImprint<'a> {
    /// The whole `hashAlgorithm`.
    pub hash_algorithm: &'a [u8],
    /// `hashedMessage`.
    pub hashed_message: &'a [u8],
}

impl<'a> MessageImprint<'a> {
    pub(super) fn parse(element: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let hash_algorithm = reader.expect(der::SEQUENCE)?.raw;
        let hashed_message = reader.expect(der::OCTET_STRING)?.value;
        reader.finish()?;
        Ok(Self { hash_algorithm, hashed_message })
    }

    /// The hash, where it is one of SHA-256.
    pub fn sha256(&self) -> Option<&'a [u8; 32]> {
        let named = DigestAlgorithm::from_identifier(self.hash_algorithm);
        if named == Some(DigestAlgorithm::Sha256) { self.hashed_message.try_into().ok() } else { None }
    }
}

/// What has to be stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedImprint<'a> {
    /// That SHA-256, as it was asked for.
    Sha256(&'a [u8; 32]),
    /// These bytes, by whichever digest of SHA-2 the token names.
    Message(&'a [u8]),
}

impl ExpectedImprint<'_> {
    /// Whether `imprint` is of it.
    pub(super) fn check(&self, imprint: &MessageImprint<'_>) -> Result<(), TimestampFault> {
        let is_it = match *self {
            Self::Sha256(hash) => imprint.sha256() == Some(hash),
            Self::Message(message) => {
                let named = DigestAlgorithm::from_identifier(imprint.hash_algorithm);
                let digest = named.ok_or(TimestampFault::ImprintDigest)?.digest(message);
                digest.as_ref() == imprint.hashed_message
            }
        };
        if is_it { Ok(()) } else { Err(TimestampFault::Imprint) }
    }
}

/// Appends the `MessageImprint` of a SHA-256 hash.
pub(super) fn write_sha256(out: &mut Vec<u8>, hash: &[u8; 32]) {
    der::write_header(out, der::SEQUENCE, SHA256_IMPRINT.len() + hash.len());
    out.extend_from_slice(&SHA256_IMPRINT);
    out.extend_from_slice(hash);
}

/// Bytes that [`write_sha256`] appends.
pub(super) const SHA256_LENGTH: usize = 2 + SHA256_IMPRINT.len() + 32;
