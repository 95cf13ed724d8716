//! What a certificate's key may be used for: `KeyUsage` and `BasicConstraints` (RFC 5280 sections 4.2.1.3 and 4.2.1.9).

use crate::keys::der::{self, DerError, Tlv};

/// The purposes of a key, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyUsage {
    /// Bit 0, `digitalSignature`, is the highest.
    bits: u16,
}

impl KeyUsage {
    /// Reads the whole of `der`, a `BIT STRING`.
    pub(super) fn parse(der: &[u8]) -> Result<Self, DerError> {
        let (unused, high, low) = match *Tlv::parse(der, der::BIT_STRING)?.value {
            [0] => (0, 0, 0),
            [unused, high] => (unused, high, 0),
            [unused, high, low] => (unused, high, low),
            _ => return Err(DerError::Value { what: "key usage" }),
        };
        if unused > 7 {
            return Err(DerError::Value { what: "key usage" });
        }
        Ok(Self { bits: u16::from_be_bytes([high, low]) })
    }

    /// Whether the bit of this number is set.
    pub fn has(self, bit: u8) -> bool {
        bit < 16 && self.bits >> (15 - bit) & 1 == 1
    }

    /// Bit 0: signatures other than those over certificates and revocation lists.
    pub fn digital_signature(self) -> bool {
        self.has(0)
    }

    /// Bit 1: signatures that bind their author (`nonRepudiation`, also named contentCommitment).
    pub fn content_commitment(self) -> bool {
        self.has(1)
    }

    /// Bit 5: signatures over certificates.
    pub fn key_cert_sign(self) -> bool {
        self.has(5)
    }
}

/// Whether a certificate is one of a CA, and how long a path below it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BasicConstraints {
    /// `cA`.
    pub ca: bool,
    /// `pathLenConstraint`: how many certificates of CAs, not counting those that are self-issued, may stand between this one
    /// and the last.
    pub path_length: Option<u8>,
}

impl BasicConstraints {
    /// Reads the whole of `der`, a `SEQUENCE`. A longer path than 127 is as good as none.
    pub(super) fn parse(der: &[u8]) -> Result<Self, DerError> {
        let mut reader = Tlv::parse(der, der::SEQUENCE)?.content();
        let ca = match reader.optional(der::BOOLEAN)?.map(|ca| ca.value) {
            None | Some([0]) => false,
            Some([0xff]) => true,
            Some(_) => return Err(DerError::Value { what: "cA" }),
        };
        let path_length = match reader.optional(der::INTEGER)?.map(|length| length.value) {
            Some(&[length @ 0..=0x7f]) => Some(length),
            Some([0, ..] | [1..=0x7f, ..]) | None => None,
            Some(_) => return Err(DerError::Value { what: "pathLenConstraint" }),
        };
        reader.finish()?;
        Ok(Self { ca, path_length })
    }
}
