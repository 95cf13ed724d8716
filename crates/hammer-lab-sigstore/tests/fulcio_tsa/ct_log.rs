//! A Fulcio with a log behind it.

use std::time::Duration;

use hammer_lab::{CtLabHandle, CtLabPlan, FaultScript, LogConfig, ct::Flavour, ct::KeySource};
use hammer_lab_sigstore::{FulcioConfig, FulcioLabHandle, FulcioLabPlan, fulcio::CtLogForFulcio};
use hammer_tlog::{
    ct::{
        rfc6962::{SignedEntryRef, sct_signature_input},
        sct::Sct,
    },
    hash::Hash,
    keys::{
        certificate::Certificate,
        der::{self, Tlv},
        key::LogKey,
    },
};
use tokio::net::TcpListener;

use crate::{
    client::send,
    openssl::certificates,
    signer::{NOW, Signer, clock, issuer, token, v1_request},
};

/// A Fulcio with a log, and the log.
pub(crate) struct LoggedFulcio {
    pub(crate) fulcio: FulcioLabHandle,
    pub(crate) log: CtLabHandle,
}

impl LoggedFulcio {
    pub(crate) async fn start(plan: FulcioLabPlan) -> Self {
        Self::start_with_faults(plan, FaultScript::default()).await
    }

    async fn start_with_faults(plan: FulcioLabPlan, faults: FaultScript) -> Self {
        let mut config = FulcioConfig::from_plan(plan, NOW * 1000).unwrap();
        let ct_plan = CtLabPlan { flavour: Flavour::Rfc6962, faults, ..CtLabPlan::default() };
        let mut log_config = LogConfig { plan: ct_plan, roots: Vec::new(), key: KeySource::Seed(5) };
        log_config.add_root_der(config.authority().root_certificate());
        let log = CtLabHandle::start_with_clock(log_config, clock()).await.unwrap();
        config.issuers = vec![issuer()];
        config.ct_log = Some(CtLogForFulcio { url: log.url.clone() });
        let fulcio = FulcioLabHandle::start_with_clock(config, clock()).await.unwrap();
        Self { fulcio, log }
    }

    /// The SCT of a certificate by this Fulcio and whether the log's signature holds over the certificate's own contents.
    pub(crate) fn verified_sct(&self, leaf: &[u8]) -> Option<(Sct, bool)> {
        let sct = embedded_sct(leaf)?;
        let key = LogKey::from_der(self.log.log_key_spki()).unwrap();
        let holds = holds(&sct, &key, leaf, self.fulcio.target().authority().certificate());
        Some((sct, holds))
    }
}

/// Whether the SCT is this log's over what the certificate was before it had the SCT (RFC 6962 section 3.2).
pub(crate) fn holds(sct: &Sct, key: &LogKey, leaf: &[u8], issuer: &[u8]) -> bool {
    let issuer_key_hash = Certificate::parse(issuer).unwrap().key_hash();
    let tbs = without_scts(leaf);
    let entry = SignedEntryRef::Precert { issuer_key_hash: &issuer_key_hash.0, tbs_certificate: &tbs };
    let mut input = Vec::new();
    sct_signature_input(&mut input, sct.timestamp_ms, entry, &sct.extensions).unwrap();
    sct.verify(key, entry).is_ok()
}

/// The one SCT that a certificate holds.
pub(crate) fn embedded_sct(leaf: &[u8]) -> Option<Sct> {
    let certificate = Certificate::parse(leaf).unwrap();
    let extension = certificate.extension(SCT_LIST)?;
    assert!(!extension.critical);
    let list = Tlv::parse(extension.value, der::OCTET_STRING).unwrap().value;
    let sct = vector16(vector16(list).0).0;
    let (head, rest) = sct.split_at(41);
    let (extensions, signature) = vector16(rest);
    Some(Sct {
        version: head[0],
        log_id: Hash::from_slice(&head[1..33]).unwrap(),
        timestamp_ms: u64::from_be_bytes(head[33..].try_into().unwrap()),
        extensions: extensions.to_vec(),
        signature: signature.to_vec(),
    })
}

/// A vector and what follows it.
fn vector16(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = bytes.split_at(2);
    rest.split_at(usize::from(u16::from_be_bytes(length.try_into().unwrap())))
}

/// The `TBSCertificate` without its last extension, which must be the list of SCTs.
fn without_scts(leaf: &[u8]) -> Vec<u8> {
    let certificate = Certificate::parse(leaf).unwrap();
    let extensions: Vec<_> = certificate.extensions.collect();
    let (last, kept) = extensions.split_last().unwrap();
    assert_eq!(last.oid, SCT_LIST);
    let kept: Vec<u8> = kept.iter().flat_map(|extension| extension.raw).copied().collect();
    let mut list = Vec::new();
    der::write(&mut list, der::SEQUENCE, &kept);
    let tbs = Tlv::parse(certificate.tbs, der::SEQUENCE).unwrap().value;
    let field_at = tbs.len() - 4 - kept.len() - last.raw.len() - 4;
    assert_eq!(tbs[field_at], der::context(3), "lengths of more than 255 bytes");
    let mut content = tbs[..field_at].to_vec();
    der::write(&mut content, der::context(3), &list);
    let mut tbs = Vec::new();
    der::write(&mut tbs, der::SEQUENCE, &content);
    tbs
}

const SCT_LIST: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];

#[tokio::test]
async fn a_certificate_has_the_logs_sct_over_itself_and_the_log_has_its_precertificate() {
    for intermediate in [false, true] {
        let logged = LoggedFulcio::start(FulcioLabPlan { intermediate, ..FulcioLabPlan::default() }).await;
        for count in 1..4 {
            let answer = Signer::new().ask(&logged.fulcio).await;
            assert_eq!(answer.status.as_u16(), 201, "{}", answer.text());
            let (sct, holds) = logged.verified_sct(&certificates(&answer.text())[0]).unwrap();
            assert!(holds);
            assert_eq!(sct.timestamp_ms, NOW * 1000);
            let stats = logged.log.stats();
            assert_eq!(stats.accepted, count);
            assert_eq!(stats.requests["add-pre-chain"][&200], count);
            // The connection is kept.
            assert_eq!(stats.connections, 1);
        }
    }
}

#[tokio::test]
async fn v2_says_that_the_sct_is_embedded() {
    let logged = LoggedFulcio::start(FulcioLabPlan::default()).await;
    let signer = Signer::new();
    let (key, proof) = (crate::openssl::pem("PUBLIC KEY", signer.key.spki()), signer.proof());
    let body = serde_json::json!({
        "credentials": {"oidcIdentityToken": signer.token()},
        "publicKeyRequest": {
            "publicKey": {"algorithm": "ECDSA", "content": key},
            "proofOfPossession": hammer_tlog::encoding::base64(&proof),
        },
    });
    let url = format!("{}/api/v2/signingCert", logged.fulcio.url);
    let answer = crate::client::post(&url, "application/json", body.to_string()).await;
    let certificate = &answer.json()["signedCertificateEmbeddedSct"]["chain"]["certificates"][0];
    assert!(logged.verified_sct(&certificates(certificate.as_str().unwrap())[0]).unwrap().1);
}

#[tokio::test]
async fn a_log_that_refuses_for_good_is_an_internal_error() {
    let refuse = serde_json::json!({"rules": [{"refuse": {"share": 1.0, "status": 500}}]});
    let faults = serde_json::from_value(refuse).unwrap();
    let logged = LoggedFulcio::start_with_faults(FulcioLabPlan::default(), faults).await;
    let answer = Signer::new().ask(&logged.fulcio).await;
    let told = r#"{"code":13,"message":"Error entering certificate in CTL","details":[]}"#;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (500, told));
}

#[tokio::test]
async fn a_log_that_is_down_is_tried_again_until_it_answers() {
    let mut config = FulcioConfig::from_plan(FulcioLabPlan::default(), NOW * 1000).unwrap();
    let root = config.authority().root_certificate().to_vec();
    let broken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = broken.local_addr().unwrap();
    config.issuers = vec![issuer()];
    config.ct_log = Some(CtLogForFulcio { url: format!("http://{listen}/lab") });
    let time = clock();
    let fulcio = FulcioLabHandle::start_with_clock(config, time.clone()).await.unwrap();
    // The time runs far ahead below.
    let signer = Signer::new();
    let body = signer.body(&signer.proof());
    let request = v1_request(&fulcio.url, &token(signer.email, NOW + 1_000_000_000), body);
    let asked = tokio::spawn(send(request));
    // The log takes the connection, and is gone.
    drop(broken.accept().await.unwrap());
    drop(broken);
    let mut plan = CtLabPlan { flavour: Flavour::Rfc6962, ..CtLabPlan::default() };
    plan.serve.listen = listen;
    let config = LogConfig { plan, roots: vec![root], key: KeySource::Seed(5) };
    let log = CtLabHandle::start_with_clock(config, clock()).await.unwrap();
    let retried = async {
        while !asked.is_finished() {
            time.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), retried).await.expect("an answer within a minute");
    assert_eq!(asked.await.unwrap().status.as_u16(), 201);
    assert_eq!(log.stats().accepted, 1);
}
