//! Certificate authorities of embedded services: a root, and what it certifies.

use hammer_lab::LabError;
use hammer_tlog::hash::sha256;
use serde::{Deserialize, Serialize};

use crate::{
    certificate::{
        CertificateFields, TIME_STAMPING, authority_constraints, authority_key_identifier,
        certificate_signing, digital_signature, extended_key_usage, key_identifier, subject_key_identifier,
    },
    pem,
    signer::LabSigner,
};

/// The curve of an authority's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthorityCurve {
    /// NIST P-256, with SHA-256; the key follows from the seed.
    #[default]
    P256,
    /// NIST P-384, with SHA-384; another key at each start.
    P384,
}

impl AuthorityCurve {
    /// A key on this curve, that of the purpose and the seed where it follows from them.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn signer(self, purpose: &str, seed: u64) -> Result<LabSigner, LabError> {
        match self {
            Self::P256 => LabSigner::p256(purpose, seed),
            Self::P384 => LabSigner::p384(),
        }
    }
}

/// A key with its certificate and those that lead from it to a root, which it is itself at the least.
#[derive(Debug)]
pub struct Authority {
    signer: LabSigner,
    /// DER of its `Name`.
    name: Vec<u8>,
    key_identifier: Vec<u8>,
    /// DER, its own first and the root last.
    chain: Vec<Vec<u8>>,
    /// The same in PEM.
    pem: Vec<String>,
}

/// What an authority certifies a key for.
#[derive(Debug, Clone, Copy)]
pub enum CertifiedUse {
    /// To be an authority for leaves of this extended key usage.
    Intermediate {
        /// The DER of the object identifier of that usage.
        usage: &'static [u8],
        /// Authorities that may follow before a leaf (RFC 5280 section 4.2.1.9).
        path_length: Option<u8>,
    },
    /// To sign timestamps (RFC 3161 section 2.3).
    TimeStamping,
}

impl Authority {
    /// A root, valid from a day before `now` (in seconds since 1970) for ten years.
    pub fn root(signer: LabSigner, name: Vec<u8>, path_length: Option<u8>, now: u64) -> Self {
        let key_identifier = key_identifier(signer.public_key());
        let extensions = [
            subject_key_identifier(&key_identifier),
            authority_key_identifier(&key_identifier),
            authority_constraints(path_length),
            certificate_signing(),
        ];
        let der = fields(&signer, &name, &name, &extensions, now, &serial(&signer)).signed_by(&signer);
        let pem = vec![pem::certificate(&der)];
        Self { signer, name, key_identifier, chain: vec![der], pem }
    }

    /// What this one certifies: a key of this name and for this use, valid as long as a root.
    pub fn certify(&self, signer: LabSigner, name: Vec<u8>, of: CertifiedUse, now: u64) -> Self {
        let key_identifier = key_identifier(signer.public_key());
        let subject_key = subject_key_identifier(&key_identifier);
        let authority_key = authority_key_identifier(&self.key_identifier);
        let extensions = match of {
            CertifiedUse::Intermediate { usage, path_length } => vec![
                certificate_signing(),
                extended_key_usage(usage, false),
                authority_constraints(path_length),
                subject_key,
                authority_key,
            ],
            CertifiedUse::TimeStamping => {
                vec![digital_signature(), subject_key, authority_key, extended_key_usage(TIME_STAMPING, true)]
            }
        };
        let serial = serial(&signer);
        let der = fields(&signer, &self.name, &name, &extensions, now, &serial).signed_by(&self.signer);
        let pem = [&[pem::certificate(&der)], self.pem.as_slice()].concat();
        let chain = [&[der], self.chain.as_slice()].concat();
        Self { signer, name, key_identifier, chain, pem }
    }

    /// Its key.
    pub fn signer(&self) -> &LabSigner {
        &self.signer
    }

    /// The DER of its `Name`.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Its `SubjectKeyIdentifier`.
    pub fn key_identifier(&self) -> &[u8] {
        &self.key_identifier
    }

    /// The DER of its own certificate.
    #[must_use]
    pub fn certificate(&self) -> &[u8] {
        &self.chain[0]
    }

    /// The DER of its certificates: its own first, the root last.
    #[must_use]
    pub fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// The DER of the root above it.
    #[must_use]
    pub fn root_certificate(&self) -> &[u8] {
        &self.chain[self.chain.len() - 1]
    }

    /// [`Authority::chain`] in PEM blocks, without a newline at the end of each.
    pub fn pem(&self) -> &[String] {
        &self.pem
    }
}

fn fields<'a>(
    subject_key: &'a LabSigner,
    issuer: &'a [u8],
    subject: &'a [u8],
    extensions: &'a [Vec<u8>],
    now: u64,
    serial: &'a [u8],
) -> CertificateFields<'a> {
    let not_before = now.saturating_sub(AGE);
    let not_after = not_before + LIFE;
    CertificateFields { serial, issuer, not_before, not_after, subject, spki: subject_key.spki(), extensions }
}

/// 159 bits that follow from the key, the first of them set, so that the number always has 20 bytes.
fn serial(signer: &LabSigner) -> [u8; 20] {
    let mut serial = [0; 20];
    serial.copy_from_slice(&sha256(signer.spki()).0[..20]);
    serial[0] = serial[0] & 0x7f | 0x40;
    serial
}

/// Seconds by which a certificate of an authority is older than the service, so that a time just before it has one as well.
const AGE: u64 = 86_400;
/// Seconds for which it is valid, about ten years.
const LIFE: u64 = 3650 * 86_400;
