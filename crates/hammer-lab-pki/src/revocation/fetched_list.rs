//! A list of revoked certificates (CRL, RFC 5280 section 5) as it was fetched.

use std::collections::HashSet;
use std::time::Duration;

use hammer_tlog::keys::certificate::{AUTHORITY_KEY_IDENTIFIER, unix_seconds};
use hammer_tlog::keys::chain::Authority;
use hammer_tlog::keys::der::{self, DerError, Tlv, context};

/// A list that its issuer signed.
#[derive(Debug)]
pub(super) struct FetchedList {
    /// Seconds since 1970.
    this_update: i64,
    /// Seconds since 1970.
    next_update: i64,
    /// The content of each serial number.
    revoked: HashSet<Box<[u8]>>,
}

/// Why a list is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListFault {
    #[error("the list cannot be read: {0}")]
    Der(#[from] DerError),
    #[error("the list is of another issuer")]
    Issuer,
    #[error("the list is not signed by its issuer")]
    Signature,
    #[error("the list has no time that can be read, or does not say until when it is current")]
    Time,
    #[error("the list has a critical extension that is not known here")]
    Extension,
}

impl FetchedList {
    /// The list in that DER, if that authority signed it.
    pub(super) fn read(der: &[u8], issuer: &Authority) -> Result<Self, ListFault> {
        let mut outer = Tlv::parse(der, der::SEQUENCE)?.content();
        let tbs = outer.expect(der::SEQUENCE)?;
        let algorithm = outer.expect(der::SEQUENCE)?.raw;
        let signature = outer.expect(der::BIT_STRING)?.bits()?;
        outer.finish()?;
        let mut fields = tbs.content();
        fields.optional(der::INTEGER)?;
        if fields.expect(der::SEQUENCE)?.raw != algorithm {
            return Err(ListFault::Signature);
        }
        if fields.expect(der::SEQUENCE)?.raw != issuer.subject() {
            return Err(ListFault::Issuer);
        }
        issuer.key().verify_as(algorithm, tbs.raw, signature).map_err(|_| ListFault::Signature)?;
        let this_update = unix_seconds(&fields.read()?).ok_or(ListFault::Time)?;
        let next_update = fields.read().ok().and_then(|time| unix_seconds(&time));
        let next_update = next_update.ok_or(ListFault::Time)?;
        let revoked = fields.optional(der::SEQUENCE)?.map(revoked).transpose()?.unwrap_or_default();
        if let Some(extensions) = fields.optional(context(0))? {
            only_known(Tlv::parse(extensions.value, der::SEQUENCE)?)?;
        }
        fields.finish()?;
        Ok(Self { this_update, next_update, revoked })
    }

    /// Whether it says anything of that second since 1970.
    pub(super) fn is_current(&self, now: i64) -> bool {
        (self.this_update..self.next_update).contains(&now)
    }

    /// For how long it says anything, from that second since 1970 on.
    pub(super) fn lasts_from(&self, now: i64) -> Duration {
        Duration::from_secs(u64::try_from(self.next_update - now).unwrap_or_default())
    }

    /// Whether the certificate with that serial number, by its content, was revoked.
    pub(super) fn has(&self, serial: &[u8]) -> bool {
        self.revoked.contains(serial)
    }
}

fn revoked(all: Tlv<'_>) -> Result<HashSet<Box<[u8]>>, ListFault> {
    let (mut entries, mut revoked) = (all.content(), HashSet::new());
    while !entries.is_empty() {
        let mut entry = entries.expect(der::SEQUENCE)?.content();
        revoked.insert(entry.expect(der::INTEGER)?.value.into());
        entry.read()?;
        if let Some(extensions) = entry.optional(der::SEQUENCE)? {
            only_known(extensions)?;
        }
    }
    Ok(revoked)
}

/// A list that is of certain certificates alone says so in a critical extension (RFC 5280 section 5.2.5): whoever does not know it cannot tell what
/// the list says.
fn only_known(extensions: Tlv<'_>) -> Result<(), ListFault> {
    let mut extensions = extensions.content();
    while !extensions.is_empty() {
        let mut extension = extensions.expect(der::SEQUENCE)?.content();
        let oid = extension.expect(der::OBJECT_IDENTIFIER)?.value;
        let is_critical = extension.optional(der::BOOLEAN)?.is_some();
        if is_critical && oid != AUTHORITY_KEY_IDENTIFIER {
            return Err(ListFault::Extension);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hammer_tlog::keys::chain::TrustedAuthorities;
    use rcgen::{
        BasicConstraints, CertificateParams, CertificateRevocationListParams, CrlIssuingDistributionPoint,
        IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
    };

    use super::*;

    const START: i64 = 1_704_067_200;

    /// An authority, and its list of 2024, which revokes one certificate, and is of some certificates alone or of all.
    fn listed(is_of_some: bool) -> (TrustedAuthorities, Vec<u8>) {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let trusted = TrustedAuthorities::from_pem(&params.self_signed(&key).unwrap().pem()).unwrap();
        let issuing_distribution_point = is_of_some.then(|| CrlIssuingDistributionPoint {
            distribution_point: rcgen::CrlDistributionPoint {
                uris: vec!["http://127.0.0.1/a.crl".to_owned()],
            },
            scope: Some(rcgen::CrlScope::CaCertsOnly),
        });
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2024, 1, 1),
            next_update: rcgen::date_time_ymd(2024, 1, 2),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(0x4711),
                revocation_time: rcgen::date_time_ymd(2023, 1, 1),
                reason_code: Some(rcgen::RevocationReason::Superseded),
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&Issuer::new(params, key)).unwrap();
        (trusted, list.der().to_vec())
    }

    #[test]
    fn a_list_has_what_was_revoked_and_is_current_between_its_times() {
        let (trusted, list) = listed(false);
        let list = FetchedList::read(&list, &trusted.authorities()[0]).unwrap();
        assert!(list.has(&[0x47, 0x11]) && !list.has(&[0x47, 0x12]) && !list.has(&[]));
        let is_current = |after| list.is_current(START + after);
        assert_eq!([-1, 0, 86_399, 86_400].map(is_current), [false, true, true, false]);
        assert_eq!(list.lasts_from(START + 86_000), Duration::from_secs(400));
        assert_eq!(list.lasts_from(START + 90_000), Duration::ZERO);
    }

    #[test]
    fn a_list_of_some_certificates_alone_says_nothing_here() {
        let (trusted, list) = listed(true);
        assert_eq!(FetchedList::read(&list, &trusted.authorities()[0]).unwrap_err(), ListFault::Extension);
    }

    #[test]
    fn no_list_is_believed_of_which_a_byte_is_another_or_missing() {
        let (trusted, list) = listed(false);
        let issuer = &trusted.authorities()[0];
        for at in 0..list.len() {
            assert!(FetchedList::read(&list[..at], issuer).is_err(), "{at}");
            for bits in [0x01, 0x80, 0xff] {
                let mut other = list.clone();
                other[at] ^= bits;
                assert!(FetchedList::read(&other, issuer).is_err(), "{at} {bits}");
            }
        }
    }
}
