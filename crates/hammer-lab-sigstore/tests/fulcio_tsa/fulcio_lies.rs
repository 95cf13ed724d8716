use hammer_lab_sigstore::{
    FulcioConfig, FulcioLabHandle, FulcioLabPlan, LieRule,
    fulcio::FulcioLieKind::{self, *},
};
use hammer_tlog::keys::certificate::Certificate;

use crate::{
    client::get,
    ct_log::LoggedFulcio,
    openssl::certificates,
    signer::{NOW, Signer},
};

/// What is wrong with a certificate, each part by itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wrong {
    key: bool,
    identity: bool,
    authority: bool,
    missing_sct: bool,
    log: bool,
    sct_signature: bool,
}

fn what_is_wrong(logged: &LoggedFulcio, signer: &Signer, chain: &[Vec<u8>]) -> Wrong {
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let names = leaf.extension(&[0x55, 0x1d, 0x11]).unwrap().value;
    let sct = logged.verified_sct(&chain[0]);
    let log_id = hammer_tlog::hash::sha256(logged.log.log_key_spki());
    Wrong {
        key: leaf.spki != signer.key.spki(),
        identity: &names[4..] != signer.email.as_bytes(),
        authority: !is_signed_by(&leaf, logged.fulcio.target().authority().certificate()),
        missing_sct: sct.is_none(),
        log: sct.as_ref().is_some_and(|(sct, _)| sct.log_id != log_id),
        sct_signature: sct.is_some_and(|(sct, holds)| sct.log_id == log_id && !holds),
    }
}

fn is_signed_by(leaf: &Certificate<'_>, issuer: &[u8]) -> bool {
    let issuer = Certificate::parse(issuer).unwrap();
    assert_eq!(leaf.issuer, issuer.subject);
    let key = hammer_tlog::keys::key::LogKey::from_der(issuer.spki).unwrap();
    key.verify_raw(leaf.tbs, leaf.signature).is_ok()
}

#[tokio::test]
async fn each_lie_spoils_what_it_says_and_nothing_else_and_is_owned_up_to() {
    let honest = Wrong::default;
    for (kind, wrong) in [
        (CertificateForAnotherKey, Wrong { key: true, ..honest() }),
        (CertificateForAnotherIdentity, Wrong { identity: true, ..honest() }),
        (CertificateWithoutSct, Wrong { missing_sct: true, ..honest() }),
        (SctOfAnotherLog, Wrong { log: true, ..honest() }),
        (BadSctSignature, Wrong { sct_signature: true, ..honest() }),
        (SctOfAnotherCertificate, Wrong { sct_signature: true, ..honest() }),
        // The log takes no certificate of another authority: its SCT is over what the right one would have signed.
        (CertificateByAnotherCa, Wrong { authority: true, sct_signature: true, ..honest() }),
    ] {
        let lies = vec![LieRule { after: 1, times: Some(1), ..LieRule::of(kind) }];
        let logged = LoggedFulcio::start(FulcioLabPlan { lies, ..FulcioLabPlan::default() }).await;
        let signer = Signer::new();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(certificates(&signer.ask(&logged.fulcio).await.text()));
        }
        let found: Vec<_> = seen.iter().map(|chain| what_is_wrong(&logged, &signer, chain)).collect();
        assert_eq!(found, [honest(), wrong, honest()], "{kind:?}");
        let (told, unlisted) = logged.fulcio.target().told_lies();
        assert_eq!((told.len(), unlisted), (1, 0));
        assert_eq!((told[0].kind, told[0].subject.as_str()), (kind, signer.email));
        let serial = Certificate::parse(&seen[1][0]).unwrap().serial;
        let digits: String = serial.iter().map(|byte| format!("{byte:02x}")).collect();
        // The certificate leaves out leading zeros, or has one more for the sign.
        assert_eq!(told[0].serial.trim_start_matches('0'), digits.trim_start_matches('0'), "{kind:?}");
    }
}

#[tokio::test]
async fn the_chain_of_another_authority_leads_to_its_own_root() {
    let lies = vec![LieRule::of(CertificateByAnotherCa)];
    let logged = LoggedFulcio::start(FulcioLabPlan { lies, ..FulcioLabPlan::default() }).await;
    let chain = certificates(&Signer::new().ask(&logged.fulcio).await.text());
    assert!(is_signed_by(&Certificate::parse(&chain[0]).unwrap(), &chain[1]));
    assert_ne!(chain[1], logged.fulcio.target().authority().root_certificate());
}

#[tokio::test]
async fn a_sct_of_another_log_is_that_logs_own() {
    let lies = vec![LieRule::of(SctOfAnotherLog)];
    let logged = LoggedFulcio::start(FulcioLabPlan { lies, ..FulcioLabPlan::default() }).await;
    let chain = certificates(&Signer::new().ask(&logged.fulcio).await.text());
    let (sct, _) = logged.verified_sct(&chain[0]).unwrap();
    let seed = FulcioLabPlan::default().key_seed;
    let another = hammer_lab_authority::LabSigner::p256("fulcio another log", seed).unwrap();
    let key = hammer_tlog::keys::key::LogKey::from_der(another.spki()).unwrap();
    assert!(crate::ct_log::holds(&sct, &key, &chain[0], &chain[1]));
}

#[tokio::test]
async fn another_trust_bundle_is_of_the_same_name_and_certificates_are_none_of_its_affair() {
    let lies = vec![LieRule { after: 1, times: Some(1), ..LieRule::of(AnotherTrustBundle) }];
    let logged = LoggedFulcio::start(FulcioLabPlan { lies, ..FulcioLabPlan::default() }).await;
    let signer = Signer::new();
    let mut bundles = Vec::new();
    for _ in 0..3 {
        let chain = certificates(&signer.ask(&logged.fulcio).await.text());
        assert_eq!(what_is_wrong(&logged, &signer, &chain), Wrong::default());
        let bundle = get(&format!("{}/api/v2/trustBundle", logged.fulcio.url)).await.json();
        let pem = bundle["chains"][0]["certificates"][0].as_str().unwrap().to_owned();
        bundles.push(certificates(&pem)[0].clone());
    }
    let root = logged.fulcio.target().authority().root_certificate();
    let is_own: Vec<bool> = bundles.iter().map(|der| der == root).collect();
    assert_eq!(is_own, [true, false, true]);
    let names = bundles.iter().map(|der| Certificate::parse(der).unwrap().subject.to_vec());
    assert_eq!(names.collect::<std::collections::BTreeSet<_>>().len(), 1);
    let (told, unlisted) = logged.fulcio.target().told_lies();
    assert_eq!((told.len(), told[0].kind, unlisted), (1, AnotherTrustBundle, 0));
}

#[tokio::test]
async fn a_lie_about_scts_needs_a_log() {
    for kind in [CertificateWithoutSct, SctOfAnotherLog, BadSctSignature, SctOfAnotherCertificate] {
        let lies = vec![LieRule::of(CertificateForAnotherKey), LieRule::of(kind)];
        let config = FulcioConfig::from_plan(FulcioLabPlan { lies, ..FulcioLabPlan::default() }, NOW * 1000);
        let error = FulcioLabHandle::start(config.unwrap()).await.unwrap_err().to_string();
        assert_eq!(error, "use the plan's lies[1].kind: a lie about SCTs needs a CT log");
    }
}

#[test]
fn lies_have_names_of_their_field() {
    let kinds = [
        CertificateForAnotherKey,
        CertificateForAnotherIdentity,
        CertificateWithoutSct,
        SctOfAnotherLog,
        BadSctSignature,
        SctOfAnotherCertificate,
        CertificateByAnotherCa,
        AnotherTrustBundle,
    ];
    let names = kinds.map(|kind: FulcioLieKind| serde_json::to_value(kind).unwrap());
    assert_eq!(
        names,
        [
            "certificate-for-another-key",
            "certificate-for-another-identity",
            "certificate-without-sct",
            "sct-of-another-log",
            "bad-sct-signature",
            "sct-of-another-certificate",
            "certificate-by-another-ca",
            "another-trust-bundle",
        ]
    );
}
