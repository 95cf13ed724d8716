//! Chains of certificates, and the SCTs within them.

use std::sync::LazyLock;

use hammer_tlog::ct::embedded::{embedded_scts, logged_entry};
use hammer_tlog::ct::issuance::{ChainAudit, LoggedChain};
use hammer_tlog::ct::rfc6962::SignedEntryRef;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::der::DerReader;
use hammer_tlog::keys::key::LogKey;

use crate::structure::text;

/// Certificates one behind the other, the leaf first: none is trusted but those of the recorded chain, and none has an SCT that
/// holds but its leaf.
pub(crate) fn chain(data: &[u8]) -> bool {
    let ders = elements(data);
    is_audited_once(&ders);
    let _ = TrustedAuthorities::from_der(ders.iter().map(|der| der.to_vec()));
    let certificates: Vec<_> = ders.iter().filter_map(|der| Certificate::parse(der).ok()).collect();
    let [leaf, others @ ..] = certificates.as_slice() else { return false };
    let is_logged = is_logged(leaf);
    let path = RECORDED.trusted.verify_path(leaf, others, RECORDED.issued_at);
    if let Ok(validity) = &path {
        assert!(RECORDED.signed.iter().any(|known| known == leaf.tbs), "the root signed it");
        let at_both_ends = [validity.not_before, validity.not_after];
        for second in at_both_ends {
            assert!(RECORDED.trusted.verify(leaf, others, second).is_ok());
        }
        assert!(RECORDED.trusted.verify(leaf, others, validity.not_after + 1).is_err());
    }
    path.is_ok() && is_logged
}

/// Of a logged chain something is said, and one thing: that it holds, what is wrong with it, or why it cannot be told.
fn is_audited_once(ders: &[&[u8]]) {
    let [leaf, others @ ..] = ders else { return };
    let mut audit = ChainAudit::new();
    let fingerprints: Vec<[u8; 32]> = others.iter().map(|der| audit.issuer(der).0).collect();
    let entries = [
        SignedEntryRef::X509 { certificate: leaf },
        SignedEntryRef::Precert { issuer_key_hash: &[0; 32], tbs_certificate: leaf },
    ];
    for signed in entries {
        audit.add(&LoggedChain { index: 0, signed, submitted: leaf, fingerprints: &fingerprints });
    }
    let faults = audit.faults().len() as u64;
    let unverified: u64 = audit.unverified().map(|(_, chains)| chains).sum();
    assert_eq!(faults + audit.verified() + unverified, 2);
}

/// PEM of authorities: what was read has a root, and reads the same as DER.
pub(crate) fn authorities(data: &[u8]) -> bool {
    let Ok(read) = TrustedAuthorities::from_pem(&text(data)) else { return false };
    assert!(!read.authorities().is_empty());
    let again = TrustedAuthorities::from_der(read.certificates().map(<[u8]>::to_vec));
    let again = again.expect("what was read is DER");
    assert!(again.certificates().eq(read.certificates()));
    assert_eq!(again.authorities().len(), read.authorities().len());
    true
}

/// Whether an SCT of the recorded log holds for the certificate, which is then the recorded one.
fn is_logged(certificate: &Certificate<'_>) -> bool {
    let Ok(scts) = embedded_scts(certificate) else { return false };
    let Some(issuer) = RECORDED.trusted.issuer_of(certificate) else { return false };
    let Ok(entry) = logged_entry(certificate, issuer.key_hash()) else { return false };
    let is_logged = scts.iter().any(|sct| sct.verify(&RECORDED.log, entry.by_ref()).is_ok());
    let known = Certificate::parse(&RECORDED.leaf).expect("a certificate");
    let recorded = logged_entry(&known, issuer.key_hash()).expect("an SCT");
    assert!(!is_logged || entry == recorded, "the log signed it");
    is_logged
}

/// The elements of DER up to the first that is none.
fn elements(data: &[u8]) -> Vec<&[u8]> {
    let mut reader = DerReader::new(data);
    std::iter::from_fn(|| reader.read().ok().map(|element| element.raw)).collect()
}

struct RecordedChain {
    leaf: Vec<u8>,
    /// What the root signed, the certificate of its own included.
    signed: Vec<Vec<u8>>,
    trusted: TrustedAuthorities,
    log: LogKey,
    /// The first second of the leaf.
    issued_at: i64,
}

static RECORDED: LazyLock<RecordedChain> = LazyLock::new(|| {
    let chain = elements(include_bytes!("../../../fuzz/seeds/chain/fulcio.der"));
    let parsed: Vec<_> = chain.iter().map(|der| Certificate::parse(der).expect("a certificate")).collect();
    let root = chain.last().expect("a root").to_vec();
    RecordedChain {
        leaf: chain[0].to_vec(),
        signed: parsed.iter().map(|certificate| certificate.tbs.to_vec()).collect(),
        trusted: TrustedAuthorities::from_der([root]).expect("a root"),
        log: LogKey::from_base64(include_str!("../../../fuzz/seeds/key/ct-server.b64")).expect("a key"),
        issued_at: parsed[0].not_before_seconds().expect("a time"),
    }
});
