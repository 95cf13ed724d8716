use hammer_tlog::keys::der::{self, DerError, Tlv};

use super::imprint::{self, MessageImprint};
use crate::integer;

/// `TimeStampReq` (RFC 3161 section 2.4.1) over a SHA-256 hash, under the authority's own policy and without extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampQuery {
    /// `messageImprint`: the SHA-256 of what is stamped.
    pub imprint_sha256: [u8; 32],
    /// `nonce`, which the response has to repeat.
    pub nonce: Option<u64>,
    /// `certReq`: whether the response is to carry the certificate of its signer.
    pub certificates: bool,
}

/// Why bytes are no [`TimestampQuery`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimestampQueryError {
    /// The DER is broken.
    #[error("read the timestamp query: {0}")]
    Der(#[from] DerError),
    /// The version is not v1.
    #[error("read the timestamp query: its version is not 1")]
    Version,
    /// The imprint is no SHA-256.
    #[error("read the timestamp query: its imprint is no SHA-256")]
    Imprint,
    /// The query has what [`TimestampQuery`] has no place for.
    #[error("read the timestamp query: there is no place for its {what}")]
    Unsupported {
        /// A field of the query.
        what: &'static str,
    },
}

impl TimestampQuery {
    /// Appends the DER.
    pub fn write(&self, out: &mut Vec<u8>) {
        let nonce_length = self.nonce.map_or(0, |nonce| der::element_length(integer::content(nonce).1));
        let certificates_length = if self.certificates { 3 } else { 0 };
        let length = 3 + imprint::SHA256_LENGTH + nonce_length + certificates_length;
        der::write_header(out, der::SEQUENCE, length);
        der::write(out, der::INTEGER, &[1]);
        imprint::write_sha256(out, &self.imprint_sha256);
        if let Some(nonce) = self.nonce {
            integer::write(out, nonce);
        }
        // The default is false, which DER leaves out.
        if self.certificates {
            der::write(out, der::BOOLEAN, &[0xff]);
        }
    }

    /// Reads the whole of `der`.
    pub fn parse(der: &[u8]) -> Result<Self, TimestampQueryError> {
        let mut reader = Tlv::parse(der, der::SEQUENCE)?.content();
        if reader.expect(der::INTEGER)?.value != [1] {
            return Err(TimestampQueryError::Version);
        }
        let imprint = MessageImprint::parse(reader.expect(der::SEQUENCE)?)?;
        if reader.optional(der::OBJECT_IDENTIFIER)?.is_some() {
            return Err(TimestampQueryError::Unsupported { what: "policy" });
        }
        let nonce = reader.optional(der::INTEGER)?.map(|nonce| integer::value(nonce.value, "nonce"));
        let certificates = match reader.optional(der::BOOLEAN)?.map(|certificates| certificates.value) {
            None => false,
            Some([0xff]) => true,
            Some(_) => return Err(DerError::Value { what: "certReq" }.into()),
        };
        if reader.optional(der::context(0))?.is_some() {
            return Err(TimestampQueryError::Unsupported { what: "extensions" });
        }
        reader.finish()?;
        let nonce = match nonce.transpose()? {
            Some(None) => {
                return Err(TimestampQueryError::Unsupported { what: "nonce of more than 64 bits" });
            }
            Some(nonce) => nonce,
            None => None,
        };
        let imprint_sha256 = *imprint.sha256().ok_or(TimestampQueryError::Imprint)?;
        Ok(Self { imprint_sha256, nonce, certificates })
    }
}
