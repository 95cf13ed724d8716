use hammer_tlog::keys::certificate::{Certificate, EXTENDED_KEY_USAGE};
use hammer_tlog::keys::chain::{TrustedAuthorities, Validity};
use hammer_tlog::keys::der::{self, Tlv};
use hammer_tlog::keys::key::LogKey;

use super::fault::TimestampFault;
use crate::signed_data::{EmbeddedCertificates, SignerIdentifier};

/// DER content of 1.3.6.1.5.5.7.3.8, id-kp-timeStamping.
const TIME_STAMPING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];
/// An authority has one signer, or two while it changes.
const REMEMBERED: usize = 4;
/// Certificates sent along that are looked at.
const SENT_ALONG: usize = 16;

/// A signer whose certificate led to a trusted root.
#[derive(Debug)]
pub(super) struct Signer {
    certificate: Vec<u8>,
    pub(super) key: LogKey,
    /// When the path that was found is valid.
    path: Validity,
}

impl Signer {
    fn verify(
        trusted: &TrustedAuthorities,
        certificate: &Certificate<'_>,
        sent_along: EmbeddedCertificates<'_>,
        unix_seconds: i64,
    ) -> Result<Self, TimestampFault> {
        if !is_for_timestamps_alone(certificate) {
            return Err(TimestampFault::Usage);
        }
        let others: Vec<_> = sent_along.parsed().take(SENT_ALONG).collect();
        let path = trusted.verify_path(certificate, &others, unix_seconds)?;
        let key = LogKey::from_der(certificate.spki)?;
        Ok(Self { certificate: certificate.raw.to_vec(), key, path })
    }
}

/// The signers last seen: what is verified of their certificates is verified once.
#[derive(Debug, Default)]
pub(super) struct Signers {
    /// [`REMEMBERED`] at most.
    seen: Vec<Signer>,
    /// Which one the next one replaces.
    oldest: usize,
}

impl Signers {
    /// The signer with this certificate, which has to be one for timestamps alone and to lead to a trusted root at
    /// `unix_seconds`.
    pub(super) fn trusted(
        &mut self,
        trusted: &TrustedAuthorities,
        certificate: &Certificate<'_>,
        sent_along: EmbeddedCertificates<'_>,
        unix_seconds: i64,
    ) -> Result<&Signer, TimestampFault> {
        let remembered =
            |signer: &Signer| signer.certificate == certificate.raw && signer.path.contains(unix_seconds);
        let at = match self.seen.iter().position(remembered) {
            Some(at) => at,
            None => self.remember(Signer::verify(trusted, certificate, sent_along, unix_seconds)?),
        };
        Ok(&self.seen[at])
    }

    /// Puts a signer in the place of the oldest one, and says which place that is.
    fn remember(&mut self, signer: Signer) -> usize {
        if self.seen.len() < REMEMBERED {
            self.seen.push(signer);
            return self.seen.len() - 1;
        }
        let at = self.oldest;
        self.oldest = (at + 1) % REMEMBERED;
        self.seen[at] = signer;
        at
    }
}

/// The certificate that `identifier` names: one sent along, or else one that is known.
pub(super) fn find_certificate<'a>(
    trusted: &'a TrustedAuthorities,
    identifier: &SignerIdentifier<'_>,
    sent_along: EmbeddedCertificates<'a>,
) -> Option<Certificate<'a>> {
    let known = trusted.certificates().filter_map(|der| Certificate::parse(der).ok());
    let mut all = sent_along.parsed().take(SENT_ALONG).chain(known);
    all.find(|certificate| identifier.names(certificate))
}

/// Whether the extended key usage is critical and names timeStamping alone (RFC 3161 section 2.3).
fn is_for_timestamps_alone(certificate: &Certificate<'_>) -> bool {
    let Some(extension) = certificate.extension(EXTENDED_KEY_USAGE) else { return false };
    let Ok(usages) = Tlv::parse(extension.value, der::SEQUENCE) else { return false };
    let only = Tlv::parse(usages.value, der::OBJECT_IDENTIFIER);
    extension.critical && only.is_ok_and(|usage| usage.value == TIME_STAMPING)
}
