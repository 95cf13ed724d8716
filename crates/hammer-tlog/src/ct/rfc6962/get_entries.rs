//! What get-entries has beside the leaves.

use super::entry::{EntryType, SignedEntryRef};
use crate::tls::{TlsError, TlsReader, length24, put_vector24};

/// `extra_data` of get-entries: what the log was sent beyond the leaf (RFC 6962 section 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraData<'a> {
    /// `ASN.1Cert certificate_chain<0..2^24-1>` of an X.509 entry.
    X509 {
        /// The chain from the issuer up.
        chain: ChainIter<'a>,
    },
    /// `PrecertChainEntry`.
    Precert {
        /// The precertificate as submitted.
        pre_certificate: &'a [u8],
        /// The chain from the precertificate's issuer up.
        chain: ChainIter<'a>,
    },
}

impl<'a> ExtraData<'a> {
    /// Reads the `extra_data` of an entry whose leaf has this type. The chain is checked to its end.
    pub fn parse(entry_type: EntryType, bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        let extra = match entry_type {
            EntryType::X509 => Self::X509 { chain: ChainIter::read(&mut reader, "certificate_chain")? },
            EntryType::Precert => Self::Precert {
                pre_certificate: reader.vector24("pre_certificate")?,
                chain: ChainIter::read(&mut reader, "precertificate_chain")?,
            },
        };
        reader.finish("extra_data")?;
        Ok(extra)
    }

    /// The certificate or precertificate as submitted, of an entry that the log committed to so.
    pub fn submitted<'b>(&self, signed: SignedEntryRef<'b>) -> &'b [u8]
    where
        'a: 'b,
    {
        match (self, signed) {
            (Self::Precert { pre_certificate, .. }, _) => pre_certificate,
            (_, SignedEntryRef::X509 { certificate }) => certificate,
            (_, SignedEntryRef::Precert { tbs_certificate, .. }) => tbs_certificate,
        }
    }

    /// The chain from the issuer up.
    pub fn chain(&self) -> ChainIter<'a> {
        match *self {
            Self::X509 { chain } | Self::Precert { chain, .. } => chain,
        }
    }
}

/// The certificates of a chain, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainIter<'a> {
    rest: &'a [u8],
}

impl<'a> ChainIter<'a> {
    fn read(reader: &mut TlsReader<'a>, field: &'static str) -> Result<Self, TlsError> {
        let rest = reader.vector24(field)?;
        let mut certificates = TlsReader::new(rest);
        while !certificates.rest().is_empty() {
            certificates.vector24("ASN.1Cert")?;
        }
        Ok(Self { rest })
    }
}

impl<'a> Iterator for ChainIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut reader = TlsReader::new(self.rest);
        let certificate = reader.vector24("ASN.1Cert").ok()?;
        self.rest = reader.rest();
        Some(certificate)
    }
}

/// The `extra_data` of an X.509 entry: the chain from the issuer up (RFC 6962 section 4.6).
pub fn encode_x509_chain_entry<C: AsRef<[u8]>>(chain: &[C]) -> Result<Vec<u8>, TlsError> {
    let mut out = Vec::new();
    put_chain(&mut out, chain)?;
    Ok(out)
}

/// The `extra_data` of a precertificate: itself, and the chain from its issuer up (RFC 6962 section 4.6).
pub fn encode_precert_chain_entry<C: AsRef<[u8]>>(
    pre_certificate: &[u8],
    chain: &[C],
) -> Result<Vec<u8>, TlsError> {
    let mut out = Vec::new();
    put_vector24(&mut out, pre_certificate, "pre_certificate")?;
    put_chain(&mut out, chain)?;
    Ok(out)
}

fn put_chain<C: AsRef<[u8]>>(out: &mut Vec<u8>, chain: &[C]) -> Result<(), TlsError> {
    let start = out.len();
    out.extend_from_slice(&[0; 3]);
    for certificate in chain {
        put_vector24(out, certificate.as_ref(), "ASN.1Cert")?;
    }
    let length = length24(&out[start + 3..], "certificate_chain")?;
    out[start..start + 3].copy_from_slice(&length);
    Ok(())
}
