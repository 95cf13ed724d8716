//! Lists of revoked certificates as the service fetches them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hammer_lab::ManualClock;
use hammer_lab_pki::{PkiLabHandle, PkiLabPlan, RevocationPlan};
use hammer_tlog::encoding::base64;
use hammer_values::TimeSpan;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CrlDistributionPoint, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
};
use serde_json::{Value, json};

use crate::service::{CADES, Caller};

const SIGNER: u64 = 0x4711;

/// An authority, and one whom nobody trusts, of the same name.
struct Authorities {
    trusted: Issuer<'static, KeyPair>,
    stranger: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authorities {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let stranger = Issuer::new(params.clone(), KeyPair::generate().unwrap());
        Self { trusted: Issuer::new(params, key), stranger, pem }
    }

    /// A signer's certificate that names these lists.
    fn certificate(&self, list: Option<String>) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, "signer");
        params.serial_number = Some(SerialNumber::from(SIGNER));
        params.crl_distribution_points =
            list.map(|list| CrlDistributionPoint { uris: vec![list] }).into_iter().collect();
        let key = KeyPair::generate().unwrap();
        base64(params.signed_by(&key, &self.trusted).unwrap().der())
    }

    fn plan(&self) -> PkiLabPlan {
        let kept = TimeSpan::from_secs(3600);
        let revocation = Some(RevocationPlan { fetch: true, delay: TimeSpan::ZERO, kept });
        PkiLabPlan { revocation, roots_pem: self.pem.clone(), ..PkiLabPlan::default() }
    }
}

/// The DER of a list that revokes that certificate, and is current for so many seconds from some seconds ago on.
fn list(issuer: &Issuer<'_, KeyPair>, revoked: u64, (ago, lasts): (u64, u64)) -> Vec<u8> {
    let now = rcgen::date_time_ymd(1970, 1, 1) + std::time::UNIX_EPOCH.elapsed().unwrap();
    let revoked = RevokedCertParams {
        serial_number: SerialNumber::from(revoked),
        revocation_time: rcgen::date_time_ymd(2024, 1, 1),
        reason_code: Some(rcgen::RevocationReason::KeyCompromise),
        invalidity_date: None,
    };
    let this_update = now - Duration::from_secs(ago);
    let list = CertificateRevocationListParams {
        this_update,
        next_update: this_update + Duration::from_secs(lasts),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: vec![revoked],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(issuer).unwrap().der().to_vec()
}

/// Serves a list until the process ends; where, and how often it did.
fn served(list: Vec<u8>) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            if stream.read(&mut request).unwrap_or_default() == 0 {
                continue;
            }
            counted.fetch_add(1, Ordering::Relaxed);
            let head =
                format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", list.len());
            stream.write_all(&[head.as_bytes(), &list].concat()).unwrap();
        }
    });
    (address, count)
}

/// What a start of a signature is answered with: the status, and the type of what did not pass.
fn started(caller: &Caller, certificate: &str, may_be_unknown: bool) -> (u16, String) {
    let asked = json!({
        "certificate": certificate,
        "signaturePolicyId": CADES,
        "fileToSign": { "content": base64(b"document") },
        "ignoreRevocationStatusUnknown": may_be_unknown,
    });
    let (status, said) = caller.ask("POST", "Api/v3/CadesSignatures", &asked);
    (status, kind(&said["validationResults"]))
}

fn kind(results: &Value) -> String {
    results["errors"][0]["type"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_list_is_fetched_once_and_kept() {
    let authorities = Authorities::new();
    let (address, count) = served(list(&authorities.trusted, 1, (60, 3600)));
    let caller = Caller::of(authorities.plan());
    let certificate = authorities.certificate(Some(format!("http://{address}/a.crl")));
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| started(&caller, &certificate, false))).collect();
        all.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), (200, String::new())));
    });
    assert_eq!((count.load(Ordering::Relaxed), caller.lab.stats().revocation_lists), (1, 1));
}

#[test]
fn a_certificate_is_refused_whose_list_has_it_or_cannot_be_believed() {
    let authorities = Authorities::new();
    let Authorities { trusted, stranger, .. } = &authorities;
    let at = |list: Vec<u8>| Some(format!("http://{}/a.crl", served(list).0));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut altered = list(trusted, 1, (60, 3600));
    let last = altered.len() - 1;
    altered[last] ^= 1;
    let unknown = "CertificateRevocationStatusUnknown";
    for (what, list, expected) in [
        ("it has the certificate", at(list(trusted, SIGNER, (60, 3600))), "CertificateRevoked"),
        ("it was current", at(list(trusted, 1, (7200, 3600))), unknown),
        ("it has no such signer", at(list(stranger, 1, (60, 3600))), unknown),
        ("its signature is altered", at(altered), unknown),
        ("it is no list", at(b"not found".to_vec()), unknown),
        ("nobody listens", Some(format!("http://{nobody}/a.crl")), unknown),
        ("it is far away", Some("http://192.0.2.1/a.crl".to_owned()), unknown),
        ("none is named", None, unknown),
    ] {
        let caller = Caller::of(authorities.plan());
        let certificate = authorities.certificate(list);
        assert_eq!(started(&caller, &certificate, false), (422, expected.to_owned()), "{what}");
        let tolerated = if expected == unknown { 200 } else { 422 };
        assert_eq!(started(&caller, &certificate, true).0, tolerated, "{what}");
    }
}

#[test]
fn a_list_whose_end_has_come_is_fetched_again() {
    let authorities = Authorities::new();
    let (address, count) = served(list(&authorities.trusted, 1, (60, 600)));
    let now_ms = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let clock = ManualClock::at_unix_ms(u64::try_from(now_ms).unwrap());
    let lab = PkiLabHandle::spawn_with_clock(authorities.plan(), Arc::new(clock.clone())).unwrap();
    let caller = Caller::at(lab);
    let certificate = authorities.certificate(Some(format!("http://{address}/a.crl")));
    let expired = "CertificateRevocationStatusUnknown";
    for (later, status, kind, fetched) in [(0, 200, "", 1), (500, 200, "", 1), (100, 422, expired, 2)] {
        clock.advance(Duration::from_secs(later));
        assert_eq!(started(&caller, &certificate, false), (status, kind.to_owned()), "{later}");
        assert_eq!(count.load(Ordering::Relaxed), fetched, "{later}");
    }
}

#[test]
fn lists_cannot_be_believed_where_nobody_is_trusted() {
    let plan = PkiLabPlan { roots_pem: String::new(), ..Authorities::new().plan() };
    let why = PkiLabHandle::spawn(plan).unwrap_err().to_string();
    assert!(why.contains("revocation.fetch") && why.contains("roots_pem_files"), "{why}");
}
