//! Authorities that are made of the seed, and what they issue.

use std::time::Duration;

use hammer_core::draw::Draws;
use hammer_tlog::keys::certificate::{Certificate, SUBJECT_KEY_IDENTIFIER};
use hammer_tlog::keys::der::{self, DerError, Tlv};
use rcgen::{BasicConstraints, CertificateParams, CrlDistributionPoint, IsCa, Issuer, KeyUsagePurpose};

use crate::authority_key::AuthorityKey;
use crate::error::PkiError;

/// An authority: its P-256 key and its certificate, which it issued itself, follow from a seed and a number, byte for byte.
#[derive(Debug)]
pub struct MadeAuthority {
    seed: u64,
    number: u64,
    pub(crate) key: AuthorityKey,
    params: CertificateParams,
    certificate: Vec<u8>,
    pem: String,
    /// The DER of its name.
    pub(crate) name: Vec<u8>,
    /// The content of its `SubjectKeyIdentifier` (RFC 5280 section 4.2.1.2).
    pub(crate) key_identifier: Vec<u8>,
}

impl MadeAuthority {
    /// So many authorities of a seed.
    ///
    /// # Errors
    /// When a certificate cannot be made.
    pub fn all(seed: u64, number: usize) -> Result<Vec<Self>, PkiError> {
        (0..number as u64).map(|number| Self::of(seed, number)).collect()
    }

    fn of(seed: u64, number: u64) -> Result<Self, PkiError> {
        let key = AuthorityKey::of(seed, number);
        let mut params = within_validity();
        let name = format!("hammer authority {number} of seed {seed}");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(|why| unmade(&why))?;
        let (pem, certificate) = (certificate.pem(), certificate.der().to_vec());
        let (name, key_identifier) = identity(&certificate).map_err(|why| unmade(&why))?;
        Ok(Self { seed, number, key, params, certificate, pem, name, key_identifier })
    }

    /// The DER of its certificate.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Its certificate in PEM, with a newline at the end.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The path below which its list of revoked certificates is served.
    pub fn list_path(&self) -> String {
        format!("/crl/{}.crl", self.number)
    }

    /// The DER of a certificate for who signs with that key, whose number among all signers is `signer`. Its list of revoked certificates is at
    /// `lists_url`, behind which stands [`Self::list_path`].
    pub(crate) fn certify(
        &self,
        key: &rcgen::KeyPair,
        signer: u64,
        lists_url: &str,
    ) -> Result<Vec<u8>, rcgen::Error> {
        let mut params = within_validity();
        params.distinguished_name.push(rcgen::DnType::CommonName, format!("hammer signer {signer}"));
        params.serial_number = Some(signer_serial(signer).to_vec().into());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::ContentCommitment];
        params.use_authority_key_identifier_extension = true;
        let list = format!("{}{}", lists_url.trim_end_matches('/'), self.list_path());
        params.crl_distribution_points = vec![CrlDistributionPoint { uris: vec![list] }];
        let issuer = Issuer::from_params(&self.params, &self.key);
        Ok(params.signed_by(key, &issuer)?.der().to_vec())
    }

    /// The content of the `index`-th serial number that it revoked, which no signer has.
    pub(crate) fn revoked_serial(&self, index: u64) -> [u8; SERIAL] {
        let draws = Draws::new(self.seed, REVOKED ^ self.number << 32);
        let mut serial = [0; SERIAL];
        serial[..8].copy_from_slice(&draws.bits(2 * index).to_be_bytes());
        serial[8..].copy_from_slice(&draws.bits(2 * index + 1).to_be_bytes());
        // Positive, of full length, and below every signer's.
        serial[0] = serial[0] & 0x1f | 0x20;
        serial
    }
}

/// What of a certificate of an authority stands in what it issues.
fn identity(certificate: &[u8]) -> Result<(Vec<u8>, Vec<u8>), DerError> {
    let certificate = Certificate::parse(certificate)?;
    let identifier = certificate.extension(SUBJECT_KEY_IDENTIFIER).ok_or(DerError::Truncated)?;
    let identifier = Tlv::parse(identifier.value, der::OCTET_STRING)?.value;
    Ok((certificate.subject.to_vec(), identifier.to_vec()))
}

/// Without a look at the clock, so that what is made is the same at any time.
fn within_validity() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "hammer");
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    // The last that is written as a UTCTime (RFC 5280 section 4.1.2.5).
    params.not_after = rcgen::date_time_ymd(2050, 1, 1) - Duration::from_secs(1);
    params
}

/// The content of the serial number of a signer.
fn signer_serial(signer: u64) -> [u8; SERIAL] {
    let mut serial = [0; SERIAL];
    serial[0] = 0x40;
    serial[8..].copy_from_slice(&signer.to_be_bytes());
    serial
}

fn unmade(why: &dyn std::fmt::Display) -> PkiError {
    PkiError::MadeAuthority(why.to_string())
}

/// Bytes of a serial number.
pub(crate) const SERIAL: usize = 16;
const REVOKED: u64 = 0x504b_5265;
