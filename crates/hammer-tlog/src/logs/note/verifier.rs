//! Keys of notes.

use super::checkpoint::Checkpoint;
use super::{Note, NoteError, is_name};
use crate::encoding::from_base64;
use crate::hash::{Hash, sha256};
use crate::keys::key::{DigitallySigned, KeyAlgorithm, LogKey};
use crate::logs::tree_head::tree_head_signature_input;
use crate::tls::{TlsError, TlsReader};

/// The algorithm byte of Ed25519 (C2SP signed-note).
const ED25519: &[u8] = &[0x01];
/// The algorithm byte of RFC 6962 tree heads (static-ct-api).
const RFC6962: &[u8] = &[0x05];
/// How rekor-tiles names RSA: the type of what has none of its own (C2SP signed-note), and words that say which.
const RSA: &[u8] = b"\xffPKIX-RSA-PKCS#1v1.5";

/// A key that a note's line is verified by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verifier {
    /// A `TreeHeadSignature` of RFC 6962 (static-ct-api, type 0x05).
    Rfc6962 {
        /// The log's origin.
        name: String,
        /// The hash of name and key, of which the key id is the start.
        key_hash: Hash,
        /// The log's key.
        key: LogKey,
    },
    /// Ed25519 over the text (C2SP signed-note, type 0x01).
    Ed25519 {
        /// The signer's name.
        name: String,
        /// The hash of name and key, of which the key id is the start.
        key_hash: Hash,
        /// The signer's key.
        key: LogKey,
    },
    /// A bare signature over the text by a key that its `SubjectPublicKeyInfo` names: Rekor's own form for keys that are not Ed25519
    /// (sigstore/rekor, `pkg/util/signed_note.go`; rekor-tiles, `pkg/note/note.go`).
    Spki {
        /// The signer's name.
        name: String,
        /// The SHA-256 of the `SubjectPublicKeyInfo`, or of an RSA key of Rekor v2 that of name and key; the key id is its start.
        key_hash: Hash,
        /// The signer's key.
        key: LogKey,
    },
}

/// What a verified line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The tree head's timestamp in milliseconds since 1970; only an RFC 6962 line has one.
    pub timestamp_ms: Option<u64>,
}

impl Verifier {
    /// The verifier of a static-ct-api log's own line.
    pub fn rfc6962(origin: impl Into<String>, key: LogKey) -> Self {
        let name = origin.into();
        Self::Rfc6962 { key_hash: key_hash(&name, RFC6962, &key.log_id().0), name, key }
    }

    /// The verifier of a line by an Ed25519 key of 32 bytes.
    pub fn ed25519(name: impl Into<String>, key: &[u8; 32]) -> Result<Self, NoteError> {
        let name = name.into();
        Ok(Self::Ed25519 { key_hash: key_hash(&name, ED25519, key), name, key: LogKey::from_ed25519(key)? })
    }

    /// The verifier of a line by a key that its `SubjectPublicKeyInfo` names, as Rekor signs.
    pub fn spki(name: impl Into<String>, key: LogKey) -> Self {
        Self::Spki { name: name.into(), key_hash: key.log_id(), key }
    }

    /// The verifier of a line as Rekor v2 signs by a key that is not Ed25519: the id of an RSA key follows from the name as well (rekor-tiles
    /// 2.3, `pkg/note/note.go`).
    pub fn rekor_tiles(name: impl Into<String>, key: LogKey) -> Self {
        let name = name.into();
        match key.algorithm() {
            KeyAlgorithm::Rsa => Self::Spki { key_hash: key_hash(&name, RSA, key.spki()), name, key },
            _ => Self::spki(name, key),
        }
    }

    /// Reads `name+id+key` of an Ed25519 key (C2SP signed-note, "vkey").
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let malformed = |what| NoteError::Verifier { what };
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(malformed("it is not name+id+key"));
        };
        let key = from_base64(key).map_err(|_| malformed("the base64 of its key"))?;
        let Some(key) = key.strip_prefix(ED25519) else { return Err(malformed("it is not of Ed25519")) };
        let key = key.try_into().map_err(|_| malformed("an Ed25519 key has 32 bytes"))?;
        let verifier = Self::ed25519(name, key)?;
        let same_id = id.len() == 8 && u32::from_str_radix(id, 16) == Ok(verifier.key_id());
        if !same_id || !is_name(name) {
            return Err(malformed("its id is not that of its name and key"));
        }
        Ok(verifier)
    }

    /// The signer's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Rfc6962 { name, .. } | Self::Ed25519 { name, .. } | Self::Spki { name, .. } => name,
        }
    }

    /// The id of name and key: the first four bytes of their hash.
    pub fn key_id(&self) -> u32 {
        key_id(self.key_hash())
    }

    /// The hash of name and key. The entries of Rekor v2 name their log by the whole of it (`logId.keyId`, rekor-tiles 2.3).
    pub const fn key_hash(&self) -> &Hash {
        match self {
            Self::Rfc6962 { key_hash, .. } | Self::Ed25519 { key_hash, .. } | Self::Spki { key_hash, .. } => {
                key_hash
            }
        }
    }

    /// Whether `id` means this key: it is the whole hash of name and key, 32 bytes.
    pub fn is_named_by(&self, id: &[u8]) -> bool {
        self.key_hash().as_bytes() == id
    }

    /// Verifies the first line with this name and key id, and ignores all others.
    pub fn verify(&self, note: &Note<'_>) -> Result<Verified, NoteError> {
        let line =
            note.signatures.iter().find(|line| line.name == self.name() && line.key_id == self.key_id());
        let line = line
            .ok_or_else(|| NoteError::NoSignature { name: self.name().to_owned(), key_id: self.key_id() })?;
        match self {
            Self::Rfc6962 { key, .. } => verify_tree_head(key, note.text, &line.signature),
            Self::Ed25519 { key, .. } | Self::Spki { key, .. } => {
                let (text, signature) = (note.text.as_bytes(), &line.signature);
                // Rekor signs SHA-256 by any key.
                key.verify_raw(text, signature).or_else(|_| key.verify_other_digest(text, signature))?;
                Ok(Verified { timestamp_ms: None })
            }
        }
    }
}

/// Verifies `RFC6962NoteSignature`: a timestamp, and the signature of the tree head (static-ct-api).
fn verify_tree_head(key: &LogKey, text: &str, signature: &[u8]) -> Result<Verified, NoteError> {
    let checkpoint = Checkpoint::parse(text)?;
    if !checkpoint.extensions.is_empty() {
        return Err(NoteError::Checkpoint { what: "a tree head signature does not cover extension lines" });
    }
    let mut reader = TlsReader::new(signature);
    let timestamp_ms = reader.u64("timestamp")?;
    let signed = DigitallySigned::parse(reader.rest())?;
    key.verify(&tree_head_signature_input(timestamp_ms, checkpoint.size, &checkpoint.root), &signed)?;
    Ok(Verified { timestamp_ms: Some(timestamp_ms) })
}

/// The key id of a log's own line: SHA-256 over origin, newline, 0x05 and log id, first four bytes (static-ct-api).
pub fn rfc6962_key_id(origin: &str, log_id: &Hash) -> u32 {
    key_id(&key_hash(origin, RFC6962, &log_id.0))
}

/// The key id of an Ed25519 key: SHA-256 over name, newline, 0x01 and key, first four bytes (C2SP signed-note).
pub fn ed25519_key_id(name: &str, key: &[u8; 32]) -> u32 {
    key_id(&key_hash(name, ED25519, key))
}

fn key_hash(name: &str, algorithm: &[u8], key: &[u8]) -> Hash {
    sha256(&[name.as_bytes(), b"\n", algorithm, key].concat())
}

fn key_id(key_hash: &Hash) -> u32 {
    let [first, second, third, fourth, ..] = key_hash.0;
    u32::from_be_bytes([first, second, third, fourth])
}

/// The bytes of a log's own line after the key id: the timestamp, and the signature over
/// [`tree_head_signature_input`].
pub fn rfc6962_signature(timestamp_ms: u64, signed: &DigitallySigned<'_>) -> Result<Vec<u8>, TlsError> {
    Ok([timestamp_ms.to_be_bytes().as_slice(), &signed.encode()?].concat())
}
