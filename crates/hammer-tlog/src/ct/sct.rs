//! Signed certificate timestamps: a log's promise to include an entry (RFC 6962 section 3.2, static-ct-api).

use crate::ct::rfc6962::{self, AddChainResponse, SignedEntryRef, V1, sct_signature_input};
use crate::encoding::{Base64Error, base64, from_base64};
use crate::hash::Hash;
use crate::keys::key::{DigitallySigned, LogKey, MixedBatch, SignatureBatch, SignatureError};
use crate::tls::TlsError;

/// Why an answer is not an SCT, or an SCT does not hold.
#[derive(Debug, thiserror::Error)]
pub enum SctError {
    /// The answer is not the JSON of an SCT.
    #[error("read an SCT: {0}")]
    Json(#[from] serde_json::Error),
    /// The answer is no text.
    #[error("read an SCT: {0}")]
    Utf8(#[from] std::str::Utf8Error),
    /// A field is not base64.
    #[error("read the SCT's {field}: {source}")]
    Base64 {
        /// The JSON field.
        field: &'static str,
        /// What is wrong with it.
        source: Base64Error,
    },
    /// The log id is not of 32 bytes.
    #[error("read the SCT's id: {length} bytes are not a SHA-256")]
    LogIdLength {
        /// Bytes of the id.
        length: usize,
    },
    /// The version is not v1.
    #[error("verify the SCT: version {version} is not v1")]
    Version {
        /// `sct_version`.
        version: u8,
    },
    /// Another log's SCT.
    #[error("verify the SCT: it is of log {got}, not {expected}")]
    WrongLogId {
        /// The id in the SCT.
        got: Hash,
        /// The id of the key.
        expected: Hash,
    },
    /// The signature field is not a `DigitallySigned`.
    #[error("read the SCT's signature: {0}")]
    Signature(TlsError),
    /// The extensions are not `CtExtensions`.
    #[error("read the SCT's extensions: {0}")]
    Extensions(TlsError),
    /// The entry has no encoding.
    #[error("rebuild what the SCT signs: {0}")]
    Entry(TlsError),
    /// The signature is not the log's over this entry.
    #[error("verify the SCT: {0}")]
    BadSignature(#[from] SignatureError),
}

/// A signed certificate timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sct {
    /// 0 for v1.
    pub version: u8,
    /// SHA-256 of the log's `SubjectPublicKeyInfo`.
    pub log_id: Hash,
    /// Milliseconds since 1970.
    pub timestamp_ms: u64,
    /// `CtExtensions`, without their length.
    pub extensions: Vec<u8>,
    /// The bytes of a [`DigitallySigned`].
    pub signature: Vec<u8>,
}

impl Sct {
    /// Reads the answer of add-chain or add-pre-chain. Only its form is checked, not the signature or the version.
    pub fn from_json(body: &[u8]) -> Result<Self, SctError> {
        // What no field is of would pass over unread (RFC 8259 section 8.1).
        let answer: AddChainResponse<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
        let decode =
            |field, text: &str| from_base64(text).map_err(|source| SctError::Base64 { field, source });
        let id = decode("id", &answer.id)?;
        Ok(Self {
            version: answer.sct_version,
            log_id: Hash::from_slice(&id).ok_or(SctError::LogIdLength { length: id.len() })?,
            timestamp_ms: answer.timestamp,
            extensions: decode("extensions", &answer.extensions)?,
            signature: decode("signature", &answer.signature)?,
        })
    }

    /// The answer that carries this SCT.
    pub fn to_response(&self) -> AddChainResponse<'static> {
        AddChainResponse {
            sct_version: self.version,
            id: self.log_id.to_base64().into(),
            timestamp: self.timestamp_ms,
            extensions: base64(&self.extensions).into(),
            signature: base64(&self.signature).into(),
        }
    }

    /// The index that a log of static-ct-api promises; none where the extensions have none.
    pub fn leaf_index(&self) -> Result<Option<u64>, SctError> {
        rfc6962::leaf_index(&self.extensions).map_err(SctError::Extensions)
    }

    /// The hash of the leaf that the log promises to include for `entry`.
    pub fn leaf_hash(&self, entry: SignedEntryRef<'_>) -> Result<Hash, SctError> {
        rfc6962::leaf_hash_of(self.timestamp_ms, entry, &self.extensions).map_err(SctError::Entry)
    }

    /// Verifies version, log id, and the signature over `entry`.
    pub fn verify(&self, key: &LogKey, entry: SignedEntryRef<'_>) -> Result<(), SctError> {
        let mut input = Vec::new();
        let signed = self.signed(key, entry, &mut input)?;
        Ok(key.verify(&input, &signed)?)
    }

    /// Verifies version and log id, and adds the signature over `entry` to a batch of `key`, which says whether it
    /// holds; nothing is added where it is known already that it does not.
    pub fn verify_in(
        &self,
        batch: &mut SignatureBatch,
        key: &LogKey,
        entry: SignedEntryRef<'_>,
    ) -> Result<(), SctError> {
        let mut input = std::mem::take(&mut batch.message);
        input.clear();
        let signed = self.signed(key, entry, &mut input);
        let added = signed.map(|signed| key.add_to(batch, &input, &signed));
        batch.message = input;
        added
    }

    /// The same in a batch of signatures of whichever keys.
    pub fn add_to(
        &self,
        batch: &mut MixedBatch,
        key: &LogKey,
        entry: SignedEntryRef<'_>,
    ) -> Result<(), SctError> {
        let mut input = Vec::new();
        let signed = self.signed(key, entry, &mut input)?;
        Ok(key.add_to_mixed(batch, &input, &signed)?)
    }

    /// The signature, and in `input` what it has to be over.
    fn signed(
        &self,
        key: &LogKey,
        entry: SignedEntryRef<'_>,
        input: &mut Vec<u8>,
    ) -> Result<DigitallySigned<'_>, SctError> {
        if self.version != V1 {
            return Err(SctError::Version { version: self.version });
        }
        if self.log_id != key.log_id() {
            return Err(SctError::WrongLogId { got: self.log_id, expected: key.log_id() });
        }
        let signed = DigitallySigned::parse(&self.signature).map_err(SctError::Signature)?;
        sct_signature_input(input, self.timestamp_ms, entry, &self.extensions).map_err(SctError::Entry)?;
        Ok(signed)
    }
}
