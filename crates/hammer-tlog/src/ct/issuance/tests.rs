//! Chains that TesseraCT took, and what may be wrong with them.

use super::*;
use crate::ct::precert::signed_entry;
use crate::ct::rfc6962::{AddChainRequest, EntryType, SignedEntry};

/// What was sent to TesseraCT, up to the root.
struct Sent {
    signed: SignedEntry,
    chain: Vec<Vec<u8>>,
}

impl Sent {
    fn of(request: &str, kind: EntryType) -> Self {
        let request: AddChainRequest = serde_json::from_str(request).unwrap();
        let mut chain: Vec<Vec<u8>> = request.chain.into_iter().map(|certificate| certificate.0).collect();
        if chain.last().map(Vec::as_slice) != Some(ROOT) {
            chain.push(ROOT.to_vec());
        }
        Self { signed: signed_entry(&chain, kind).unwrap(), chain }
    }

    fn all() -> [Self; 4] {
        let precert = |request| Self::of(request, EntryType::Precert);
        [
            Self::of(include_str!("../../../testdata/tesseract/01-x509.request.json"), EntryType::X509),
            precert(include_str!("../../../testdata/tesseract/04-precert.request.json")),
            precert(include_str!(
                "../../../testdata/tesseract/05-precert-by-precert-signing-cert.request.json"
            )),
            precert(include_str!("../../../testdata/tesseract/06-precert-by-root.request.json")),
        ]
    }

    /// What an audit says of it as entry 7, and of how many it says nothing.
    fn audited(&self) -> (Vec<ChainFault>, u64) {
        let mut audit = ChainAudit::new();
        let fingerprints: Vec<[u8; 32]> = self.chain[1..].iter().map(|der| audit.issuer(der).0).collect();
        let (signed, submitted) = (self.signed.by_ref(), self.chain[0].as_slice());
        // As the certificate is submitted, which a leaf without precertificate has as it is.
        let signed = match signed {
            SignedEntryRef::X509 { .. } => SignedEntryRef::X509 { certificate: submitted },
            signed => signed,
        };
        for _ in 0..2 {
            audit.add(&LoggedChain { index: 7, signed, submitted, fingerprints: &fingerprints });
        }
        let faults = audit.faults();
        assert_eq!(faults.len() as u64 + audit.verified() + unverified(&audit), 2);
        assert!(faults.iter().all(|(index, _)| *index == 7) && audit.faults().is_empty());
        (faults.into_iter().map(|(_, fault)| fault).step_by(2).collect(), unverified(&audit))
    }
}

fn unverified(audit: &ChainAudit) -> u64 {
    audit.unverified().map(|(_, chains)| chains).sum()
}

/// Replaces each `from` in a certificate.
fn patched(der: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = der.to_vec();
    let places: Vec<usize> = (0..=der.len() - from.len()).filter(|at| der[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| out[at..at + to.len()].copy_from_slice(to));
    out
}

#[test]
fn what_a_log_took_issues_each_other_by_a_signing_certificate_and_by_the_root_too() {
    for sent in Sent::all() {
        assert_eq!(sent.audited(), (vec![], 0));
    }
}

#[test]
fn a_signature_that_does_not_hold_is_that_of_no_issuer() {
    for mut sent in Sent::all() {
        let last = sent.chain[0].len() - 1;
        sent.chain[0][last] ^= 1;
        let why = NotIssued::Signature(SignatureError::Invalid);
        assert_eq!(sent.audited(), (vec![not_issued(1, why)], 0));
    }
    // And so with one above the leaf.
    let mut sent = Sent::all().into_iter().find(|sent| sent.chain.len() > 2).unwrap();
    let last = sent.chain[1].len() - 1;
    sent.chain[1][last] ^= 1;
    let [ChainFault::NotIssued { position: 2, why: NotIssued::Signature(_) }] = sent.audited().0[..] else {
        panic!("{:?}", sent.audited())
    };
}

#[test]
fn a_chain_in_another_order_or_with_one_left_out_names_somebody_else() {
    let mut sent = Sent::all().into_iter().find(|sent| sent.chain.len() > 2).unwrap();
    sent.chain[1..].reverse();
    assert!(matches!(sent.audited().0[..], [ChainFault::NotIssued { .. }]), "{:?}", sent.audited());
    sent.chain.truncate(1);
    assert_eq!(sent.audited(), (vec![ChainFault::NoIssuer], 0));
    sent.chain[0] = ROOT.to_vec();
    sent.signed = SignedEntry::X509 { certificate: ROOT.to_vec() };
    assert_eq!(sent.audited(), (vec![], 0), "a root may be submitted by itself");
}

#[test]
fn what_the_log_committed_to_of_a_precertificate_is_held_against_it_and_its_final_issuer() {
    let [_, direct, by_signing, _] = Sent::all();
    for (mut sent, position) in [(direct, 1), (by_signing, 2)] {
        if let SignedEntry::Precert { issuer_key_hash, .. } = &mut sent.signed {
            issuer_key_hash.0[0] ^= 1;
        }
        assert_eq!(sent.audited(), (vec![ChainFault::IssuerKeyHash { position }], 0));
    }
    let [_, mut direct, ..] = Sent::all();
    if let SignedEntry::Precert { tbs_certificate, .. } = &mut direct.signed {
        tbs_certificate[30] ^= 1;
    }
    assert_eq!(direct.audited(), (vec![ChainFault::Precertificate], 0));
}

#[test]
fn of_what_is_not_verified_here_nothing_is_said() {
    // ecdsa-with-SHA256 becomes ecdsa-with-SHA224, which nobody here verifies.
    let (sha256, sha224) = ([0x04, 0x03, 0x02], [0x04, 0x03, 0x01]);
    for at in 0..2 {
        let [mut sent, ..] = Sent::all();
        sent.chain[at] = patched(&sent.chain[at], &sha256, &sha224);
        assert_eq!(sent.audited(), (vec![], 2), "certificate {at}");
    }
    // It hides nothing of the leaf.
    let [mut sent, ..] = Sent::all();
    sent.chain[1] = patched(&sent.chain[1], &sha256, &sha224);
    let last = sent.chain[0].len() - 1;
    sent.chain[0][last] ^= 1;
    assert!(matches!(sent.audited(), (faults, 0) if faults.len() == 1));
    let [mut sent, ..] = Sent::all();
    sent.chain[0] = b"no certificate".to_vec();
    assert_eq!(sent.audited(), (vec![], 2));
    let [sent, ..] = Sent::all();
    let mut audit = ChainAudit::new();
    let chain = LoggedChain {
        index: 7,
        signed: sent.signed.by_ref(),
        submitted: &sent.chain[0],
        fingerprints: &[[1; 32]],
    };
    audit.add(&chain);
    assert_eq!(audit.unverified().collect::<Vec<_>>(), [(Unverified::NotServed, 1)]);
}

const ROOT: &[u8] = include_bytes!("../../../testdata/tesseract/root.der");
