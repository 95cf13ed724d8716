//! What a log commits to.

use crate::hash::Hash;
use crate::tls::{TlsError, TlsReader, length24, put_vector24};

/// `LogEntryType` (RFC 6962 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryType {
    /// `x509_entry`: a certificate, by add-chain.
    X509 = 0,
    /// `precert_entry`: a precertificate, by add-pre-chain.
    Precert = 1,
}

impl EntryType {
    /// The type of this number on the wire.
    pub fn from_u16(value: u16) -> Option<Self> {
        match value {
            0 => Some(Self::X509),
            1 => Some(Self::Precert),
            _ => None,
        }
    }

    pub(crate) fn read(reader: &mut TlsReader<'_>) -> Result<Self, TlsError> {
        let value = reader.u16("entry_type")?;
        let unknown = TlsError::UnknownValue { field: "entry_type", value: value.into() };
        Self::from_u16(value).ok_or(unknown)
    }
}

/// `signed_entry`: what a log commits to, borrowed (RFC 6962 section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedEntryRef<'a> {
    /// The certificate.
    X509 {
        /// Its DER, as submitted.
        certificate: &'a [u8],
    },
    /// What a precertificate and its final certificate have in common.
    Precert {
        /// SHA-256 of the final issuer's `SubjectPublicKeyInfo`.
        issuer_key_hash: &'a [u8; 32],
        /// The DER of the `TBSCertificate` without poison, and with the final issuer.
        tbs_certificate: &'a [u8],
    },
}

/// `signed_entry`: what a log commits to, owned (RFC 6962 section 3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedEntry {
    /// The certificate.
    X509 {
        /// Its DER, as submitted.
        certificate: Vec<u8>,
    },
    /// What a precertificate and its final certificate have in common.
    Precert {
        /// SHA-256 of the final issuer's `SubjectPublicKeyInfo`.
        issuer_key_hash: Hash,
        /// The DER of the `TBSCertificate` without poison, and with the final issuer.
        tbs_certificate: Vec<u8>,
    },
}

impl SignedEntry {
    /// The same entry, borrowed.
    pub fn by_ref(&self) -> SignedEntryRef<'_> {
        match self {
            Self::X509 { certificate } => SignedEntryRef::X509 { certificate },
            Self::Precert { issuer_key_hash, tbs_certificate } => {
                SignedEntryRef::Precert { issuer_key_hash: &issuer_key_hash.0, tbs_certificate }
            }
        }
    }
}

impl<'a> SignedEntryRef<'a> {
    /// Which of the two it is.
    pub fn entry_type(&self) -> EntryType {
        match self {
            Self::X509 { .. } => EntryType::X509,
            Self::Precert { .. } => EntryType::Precert,
        }
    }

    /// The same entry, copied.
    pub fn to_owned(&self) -> SignedEntry {
        match *self {
            Self::X509 { certificate } => SignedEntry::X509 { certificate: certificate.to_vec() },
            Self::Precert { issuer_key_hash, tbs_certificate } => SignedEntry::Precert {
                issuer_key_hash: Hash(*issuer_key_hash),
                tbs_certificate: tbs_certificate.to_vec(),
            },
        }
    }

    /// Bytes that `put` appends.
    pub(crate) fn encoded_length(&self) -> usize {
        match self {
            Self::X509 { certificate } => 3 + certificate.len(),
            Self::Precert { tbs_certificate, .. } => 32 + 3 + tbs_certificate.len(),
        }
    }

    /// Appends the `signed_entry`, without its type.
    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), TlsError> {
        match self {
            Self::X509 { certificate } => put_vector24(out, certificate, "ASN.1Cert"),
            Self::Precert { issuer_key_hash, tbs_certificate } => {
                // Nothing is appended where the length does not fit.
                length24(tbs_certificate, "tbs_certificate")?;
                out.extend_from_slice(*issuer_key_hash);
                put_vector24(out, tbs_certificate, "tbs_certificate")
            }
        }
    }

    /// Reads the `signed_entry` of this type.
    pub(crate) fn read(entry_type: EntryType, reader: &mut TlsReader<'a>) -> Result<Self, TlsError> {
        Ok(match entry_type {
            EntryType::X509 => Self::X509 { certificate: reader.vector24("ASN.1Cert")? },
            EntryType::Precert => Self::Precert {
                issuer_key_hash: reader.array("issuer_key_hash")?,
                tbs_certificate: reader.vector24("tbs_certificate")?,
            },
        })
    }
}
