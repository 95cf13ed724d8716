use hammer_tlog::keys::certificate::{Certificate, EXTENDED_KEY_USAGE};
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities, Validity};
use hammer_tlog::keys::der::{self, Tlv};
use hammer_tlog::keys::key::LogKey;

use super::fault::TimestampFault;
use crate::signed_data::{EmbeddedCertificates, SignerIdentifier, SignerInfo};

/// DER content of 1.3.6.1.5.5.7.3.8, id-kp-timeStamping.
const TIME_STAMPING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];
/// An authority has one signer, or two while it changes.
const REMEMBERED: usize = 4;
/// Certificates above a signer's that are looked for among those sent along: as many as a path is searched in.
const MOST_ABOVE: usize = 16;
/// How far above the signer's they are looked for, in certificates.
const HIGHEST: usize = 8;

/// A signer whose certificate led to a trusted root.
#[derive(Debug)]
struct Signer {
    certificate: Vec<u8>,
    key: LogKey,
    /// When the path that was found is valid.
    path: Validity,
    /// The last words by which a token named it, and did so rightly.
    named: Option<OwnedNames>,
}

/// How a token names the certificate of its signer: all that is held against a certificate is a function of these and of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SignerNames<'a> {
    identifier: SignerIdentifier<'a>,
    /// The values of signingCertificate and signingCertificateV2.
    attributes: [Option<&'a [u8]>; 2],
}

/// The same, kept.
#[derive(Debug)]
struct OwnedNames {
    identifier: [Vec<u8>; 2],
    attributes: [Option<Vec<u8>>; 2],
}

impl<'a> SignerNames<'a> {
    /// Those of a signer; none where its attributes are not those of a token.
    pub(super) fn of(signer: &SignerInfo<'a>) -> Option<Self> {
        let attributes = signer.attributes().and_then(|attributes| attributes.signing_certificates()).ok()?;
        Some(Self { identifier: signer.identifier, attributes })
    }

    /// The identifier in two parts, of which the first is empty where it is no issuer's.
    fn identifier(&self) -> [&'a [u8]; 2] {
        match self.identifier {
            SignerIdentifier::IssuerAndSerial { issuer, serial } => [issuer, serial],
            SignerIdentifier::SubjectKey(identifier) => [&[], identifier],
        }
    }
}

impl OwnedNames {
    fn of(names: &SignerNames<'_>) -> Self {
        Self {
            identifier: names.identifier().map(<[u8]>::to_vec),
            attributes: names.attributes.map(|value| value.map(<[u8]>::to_vec)),
        }
    }

    fn are(&self, names: &SignerNames<'_>) -> bool {
        self.identifier.each_ref().map(Vec::as_slice) == names.identifier()
            && self.attributes.each_ref().map(Option::as_deref) == names.attributes
    }
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
        if !is_for_signatures(certificate)? {
            return Err(TimestampFault::KeyUsage);
        }
        let others = certificates_above(certificate, sent_along);
        let path = trusted.verify_path_for(TIME_STAMPING, certificate, &others, unix_seconds)?;
        let key = LogKey::from_der(certificate.spki)?;
        Ok(Self { certificate: certificate.raw.to_vec(), key, path, named: None })
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
    /// The signer whose certificate is the first that is sent along, where a token named it by the same words before, and rightly.
    pub(super) fn named(
        &self,
        names: &SignerNames<'_>,
        mut sent_along: EmbeddedCertificates<'_>,
        unix_seconds: i64,
    ) -> Option<usize> {
        let first = sent_along.next()?;
        self.seen.iter().position(|signer| {
            signer.certificate == first
                && signer.path.contains(unix_seconds)
                && signer.named.as_ref().is_some_and(|named| named.are(names))
        })
    }

    /// The key of the signer in that place.
    pub(super) fn key(&self, at: usize) -> &LogKey {
        &self.seen[at].key
    }

    /// The place of the signer with this certificate, which a token names rightly by `names`; it has to be one for timestamps alone and to lead to a
    /// trusted root at `unix_seconds`.
    pub(super) fn trusted(
        &mut self,
        trusted: &TrustedAuthorities,
        certificate: &Certificate<'_>,
        (names, sent_along): (Option<SignerNames<'_>>, EmbeddedCertificates<'_>),
        unix_seconds: i64,
    ) -> Result<usize, TimestampFault> {
        let remembered =
            |signer: &Signer| signer.certificate == certificate.raw && signer.path.contains(unix_seconds);
        let at = match self.seen.iter().position(remembered) {
            Some(at) => at,
            None => self.remember(Signer::verify(trusted, certificate, sent_along, unix_seconds)?),
        };
        self.seen[at].named = names.as_ref().map(OwnedNames::of);
        Ok(at)
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
    sent_along.parsed().chain(known).find(|certificate| identifier.names(certificate))
}

/// The certificates sent along that may stand above this one, by their names, the nearest first: however many others came with them.
fn certificates_above<'a>(
    certificate: &Certificate<'a>,
    sent_along: EmbeddedCertificates<'a>,
) -> Vec<Certificate<'a>> {
    let mut above: Vec<Certificate<'a>> = Vec::new();
    let mut below = vec![*certificate];
    for _ in 0..HIGHEST {
        let is_next = |other: &Certificate<'_>| {
            below.iter().any(|below| below.issuer == other.subject && below.raw != other.raw)
                && above.iter().all(|known| known.raw != other.raw)
        };
        let next: Vec<_> = sent_along.parsed().filter(is_next).take(MOST_ABOVE - above.len()).collect();
        if next.is_empty() {
            break;
        }
        above.extend_from_slice(&next);
        below = next;
    }
    above
}

/// Whether the extended key usage is critical and names timeStamping alone (RFC 3161 section 2.3).
fn is_for_timestamps_alone(certificate: &Certificate<'_>) -> bool {
    let Some(extension) = certificate.extension(EXTENDED_KEY_USAGE) else { return false };
    let Ok(usages) = Tlv::parse(extension.value, der::SEQUENCE) else { return false };
    let only = Tlv::parse(usages.value, der::OBJECT_IDENTIFIER);
    extension.critical && only.is_ok_and(|usage| usage.value == TIME_STAMPING)
}

/// Whether its key usage, where it has one, is for signatures other than those over certificates and revocation lists (RFC 5280 section
/// 4.2.1.3).
fn is_for_signatures(certificate: &Certificate<'_>) -> Result<bool, ChainError> {
    let usage = certificate.key_usage()?;
    Ok(usage.is_none_or(|usage| usage.digital_signature() || usage.content_commitment()))
}
