//! Results that a key of the test signs: what is right is kept, and each thing that is wrong has its name.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use hammer_core::promise::{Finding, PromiseLedger};
use hammer_p256::{NonceBlocks, ThrowawayKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::auth::AttestAuth;
use crate::device_class::DeviceClass;
use crate::devices::DeviceMaterial;
use crate::plan::AttestTargetPlan;
use crate::session_object::SessionEcho;

const NONCE: [u8; 32] = [7; 32];
const EPOCH_MS: u64 = 1_795_000_000_000;
const DEVICE: u64 = 5;

/// A key of verification.
struct EarSigner(ThrowawayKey);

impl EarSigner {
    fn of(seed: u8) -> Self {
        Self(ThrowawayKey::derive(&[seed; 32]))
    }

    fn sign(&self, claims: &Value) -> String {
        self.sign_text(r#"{"alg":"ES256","typ":"JWT"}"#, &claims.to_string())
    }

    fn sign_text(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let digest: [u8; 32] = Sha256::digest(&signed).into();
        // Each message has a walk of its own.
        let signature = self.0.walk(&digest, 0).sign(0, &digest, &mut NonceBlocks::new());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_fixed()))
    }

    fn jwk(&self) -> hammer_rats::VerificationKey {
        let [x, y] = [1, 33].map(|at| URL_SAFE_NO_PAD.encode(&self.0.public_key()[at..at + 32]));
        serde_json::from_value(json!({"alg": "ES256", "crv": "P-256", "kty": "EC", "x": x, "y": y})).unwrap()
    }
}

struct Judged {
    verifier: Box<dyn Verifier>,
    verdicts: Verdicts,
    ledger: Arc<PromiseLedger>,
    broken: Arc<Mutex<Vec<(String, u64)>>>,
    target: AttestTarget,
}

impl Judged {
    fn by(signer: &EarSigner) -> Self {
        Self::with(signer, NonceSource::Own)
    }

    fn with(signer: &EarSigner, nonce: NonceSource) -> Self {
        Self::of_target(AttestTarget::of(&AttestTargetPlan::default(), AttestAuth::None), signer, nonce)
    }

    fn of_target(target: AttestTarget, signer: &EarSigner, nonce: NonceSource) -> Self {
        target.keys.add(&signer.jwk()).unwrap();
        let run = AttestRun { seed: 1, epoch_unix_ms: EPOCH_MS, workload: 0 };
        let judge = Judge::new(&target, devices(), &run, nonce);
        let ledger = Arc::new(PromiseLedger::new(&DeviceClass::NAMES));
        let broken = Arc::new(Mutex::new(Vec::new()));
        let told = broken.clone();
        let tell = move |finding| {
            let Finding::Broken(broken) = finding else { return };
            told.lock().unwrap().push((broken.breach.kind.clone(), broken.breach.index.unwrap()));
        };
        let verdicts = Verdicts::new("verify", ledger.clone(), Box::new(tell));
        Self { verifier: judge.verifier(), verdicts, ledger, broken, target }
    }

    fn check(&mut self, class: DeviceClass, jwt: &str) {
        self.check_record(&record(class, jwt));
    }

    fn check_record(&mut self, record: &ResultRecord<'_>) {
        self.check_as(1, record);
    }

    fn check_as(&mut self, seq: u64, record: &ResultRecord<'_>) {
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        self.verifier.check(seq, &bytes, Nanos::ZERO, &mut self.verdicts);
    }

    /// What was found broken since it was asked last.
    fn broken(&self) -> Vec<String> {
        let broken = std::mem::take(&mut *self.broken.lock().unwrap());
        assert!(broken.iter().all(|(_, device)| *device == DEVICE), "{broken:?}");
        broken.into_iter().map(|(kind, _)| kind).collect()
    }
}

fn devices() -> Devices {
    Devices::new(1, 0, None)
}

fn record(class: DeviceClass, jwt: &str) -> ResultRecord<'_> {
    let (sent, received) = (Nanos::from_secs(10), Nanos::from_secs(11));
    let jwt = jwt.as_bytes();
    ResultRecord { class, device: DEVICE, sent, received, nonce: &NONCE, echo: SessionEcho::AsItWas, jwt }
}

fn claims(class: DeviceClass, status: &str) -> Value {
    json!({
        "ear.verifier-id": { "build": "test", "developer": "test" },
        "eat_nonce": URL_SAFE.encode(NONCE),
        "eat_profile": "tag:github.com,2023:veraison/ear",
        "iat": EPOCH_MS / 1000 + 10,
        "submods": { "PSA_IOT": {
            "ear.status": status,
            "ear.trustworthiness-vector": { "executables": 2, "hardware": 2 },
            "ear.veraison.annotated-evidence": {
                "psa-instance-id": STANDARD.encode(devices().ueid(DEVICE, class)),
            },
        } },
    })
}

/// What is found of a good device's result with one claim changed.
fn found(pointer: &str, changed: Value) -> Vec<String> {
    let signer = EarSigner::of(1);
    let mut claims = claims(DeviceClass::Good, "affirming");
    *claims.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = changed;
    let mut judged = Judged::by(&signer);
    judged.check(DeviceClass::Good, &signer.sign(&claims));
    judged.broken()
}

#[test]
fn a_result_that_says_what_it_should_is_kept_for_devices_of_each_class() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    for class in DeviceClass::ALL {
        let status = judged.target.policy().of(class, "test").due.name();
        let mut claims = claims(class, status);
        if matches!(class, DeviceClass::Garbage | DeviceClass::StaleNonce) {
            // What could not be read or believed is not repeated.
            let appraisal = claims.pointer_mut("/submods/PSA_IOT").unwrap().as_object_mut().unwrap();
            appraisal.remove("ear.veraison.annotated-evidence");
        }
        judged.check(class, &signer.sign(&claims));
    }
    assert!(judged.broken().is_empty());
    assert_eq!(judged.ledger.read().kept, DeviceClass::ALL.len() as u64);
    let said: Vec<u64> = judged.target.results.all().map(|(_, count)| count).collect();
    assert_eq!(said.iter().sum::<u64>(), DeviceClass::ALL.len() as u64);
}

#[test]
fn each_thing_that_is_wrong_with_a_result_has_its_name() {
    assert!(found("/eat_nonce", json!(URL_SAFE.encode(NONCE).trim_end_matches('='))).is_empty());
    assert_eq!(found("/eat_nonce", json!(URL_SAFE.encode([8; 32]))), ["wrong-nonce"]);
    assert_eq!(found("/eat_nonce", Value::Null), ["wrong-nonce"]);
    assert_eq!(found("/eat_profile", json!("tag:github.com,2022:veraison/ear")), ["wrong-result-profile"]);
    for (off, expected) in
        [(-60, None), (62, None), (-62, Some("wrong-issue-time")), (3_600, Some("wrong-issue-time"))]
    {
        let issued = (EPOCH_MS / 1000 + 10).cast_signed() + off;
        assert_eq!(found("/iat", json!(issued)).first().map(String::as_str), expected, "{off}");
    }
    for utmost in [i64::MIN, i64::MAX] {
        assert_eq!(found("/iat", json!(utmost)), ["wrong-issue-time"]);
    }
    let another = STANDARD.encode(devices().ueid(DEVICE + 1, DeviceClass::Good));
    let instance = "/submods/PSA_IOT/ear.veraison.annotated-evidence/psa-instance-id";
    assert_eq!(found(instance, json!(another)), ["result-of-another-device"]);
    for status in ["warning", "contraindicated", "none"] {
        assert_eq!(found("/submods/PSA_IOT/ear.status", json!(status)), ["good-device-not-affirmed"]);
    }
    assert_eq!(found("/submods/PSA_IOT/ear.status", json!("fine")), ["malformed-result"]);
    let executables = "/submods/PSA_IOT/ear.trustworthiness-vector/executables";
    assert_eq!(found(executables, json!(33)), ["contradictory-result"]);
    assert_eq!(found(executables, json!(0)), Vec::<String>::new());
    let evidence = "/submods/PSA_IOT/ear.veraison.annotated-evidence";
    let shown = |name: &str, claim: Value| {
        let instance = STANDARD.encode(devices().ueid(DEVICE, DeviceClass::Good));
        found(evidence, json!({ "psa-instance-id": instance, name: claim }))
    };
    let mut repeated = DeviceMaterial::default();
    devices().write_shown(DEVICE, DeviceClass::Good, &mut repeated);
    let components: Vec<Value> = repeated
        .device
        .components
        .iter()
        .map(|component| {
            json!({
                "measurement-type": component.kind,
                "measurement-value": STANDARD.encode(component.measurement),
                "version": component.version,
                "signer-id": STANDARD.encode(component.signer),
            })
        })
        .collect();
    assert!(shown("psa-software-components", json!(components)).is_empty());
    let renamed = |name: &str, value: &str| {
        let mut components = components.clone();
        components[0][name] = json!(value);
        json!(components)
    };
    let component = json!({ "measurement-type": "EVIL", "measurement-value": STANDARD.encode([1; 32]) });
    for (name, claim) in [
        ("psa-nonce", json!(STANDARD.encode([8; 32]))),
        ("psa-implementation-id", json!(STANDARD.encode([0; 32]))),
        ("psa-security-lifecycle", json!(0x2000)),
        ("psa-software-components", json!([component])),
        ("psa-software-components", renamed("version", "9.9.9")),
        ("psa-software-components", renamed("measurement-type", "EVIL")),
        ("psa-software-components", json!([])),
    ] {
        assert_eq!(shown(name, claim), ["result-of-other-evidence"], "{name}");
    }
    for (name, claim) in [
        ("psa-nonce", json!(STANDARD.encode(NONCE))),
        ("psa-nonce", json!({ "of": "another form" })),
        ("psa-security-lifecycle", json!("secured")),
        ("psa-software-components", json!({ "none": 1 })),
    ] {
        assert!(shown(name, claim).is_empty(), "{name}");
    }
    assert_eq!(found(evidence, json!(["of an array"])), ["malformed-result"]);
    assert_eq!(found("/ear.verifier-id", json!(["build", "developer"])), ["malformed-result"]);
    assert_eq!(found("/submods", json!({})), ["malformed-result"]);
}

#[test]
fn what_is_said_of_a_bad_device_is_held_against_its_class() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    for (class, status, expected) in [
        (DeviceClass::BadSignature, "affirming", "affirmed-bad-device"),
        (DeviceClass::WrongMeasurement, "affirming", "affirmed-bad-device"),
        (DeviceClass::WrongMeasurement, "contraindicated", "unexpected-status"),
        (DeviceClass::UnknownDevice, "warning", "unexpected-status"),
    ] {
        judged.check(class, &signer.sign(&claims(class, status)));
        assert_eq!(judged.broken(), [expected], "{class:?} {status}");
    }
}

#[test]
fn a_session_of_another_nonce_is_none_that_was_asked_for() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    let jwt = signer.sign(&claims(DeviceClass::Good, "affirming"));
    for (echo, expected) in [
        (SessionEcho::OpenedWithAnother, "wrong-nonce"),
        (SessionEcho::AnotherNonce, "wrong-nonce"),
        (SessionEcho::OtherEvidence, "session-of-other-evidence"),
    ] {
        judged.check_record(&ResultRecord { echo, ..record(DeviceClass::Good, &jwt) });
        assert_eq!(judged.broken(), [expected]);
    }
}

#[test]
fn a_nonce_that_verification_chooses_twice_is_told_and_one_that_is_asked_for_twice_is_not() {
    let signer = EarSigner::of(1);
    let jwt = signer.sign(&claims(DeviceClass::Good, "affirming"));
    for (nonce, expected) in [(NonceSource::Service, vec!["repeated-nonce"]), (NonceSource::Device, vec![])] {
        let mut judged = Judged::with(&signer, nonce);
        for seq in [1, 1, 2] {
            judged.check_as(seq, &record(DeviceClass::Good, &jwt));
        }
        assert_eq!(judged.broken(), expected);
        assert_eq!(judged.ledger.read().kept, 3 - expected.len() as u64);
    }
}

#[test]
fn what_is_no_result_is_told_at_once() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    let jwt = signer.sign(&claims(DeviceClass::Good, "affirming"));
    let unsigned = format!("{}.", jwt.rsplit_once('.').unwrap().0);
    let none = format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), jwt.split_once('.').unwrap().1);
    for (text, expected) in [
        ("", "malformed-result"),
        ("a.b", "malformed-result"),
        (none.as_str(), "malformed-result"),
        (unsigned.as_str(), "bad-result-signature"),
    ] {
        judged.check(DeviceClass::Good, text);
        assert_eq!(judged.broken(), [expected], "{text}");
    }
}

#[test]
fn what_two_readers_would_read_as_two_results_is_none() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    let (header, good) = (r#"{"alg":"ES256"}"#, claims(DeviceClass::Good, "affirming").to_string());
    let bad = r#""PSA_IOT":{"ear.status":"contraindicated"},"#;
    let twice = good.replace(r#""submods":{"#, &format!(r#""submods":{{{bad}"#));
    let two_claims = good.replace(r#""executables":2"#, r#""executables":96,"executables":2"#);
    let other = good.replace("PSA_IOT", "ARM_CCA");
    let critical = r#"{"alg":"ES256","b64":false,"crit":["b64"]}"#;
    for (header, claims) in [(header, &twice), (header, &two_claims), (header, &other), (critical, &good)] {
        assert!(claims != &good || header == critical);
        judged.check(DeviceClass::Good, &signer.sign_text(header, claims));
        assert_eq!(judged.broken(), ["malformed-result"], "{header} {claims}");
    }
    let fraction = good.replace(&format!("\"iat\":{}", EPOCH_MS / 1000 + 10), "\"iat\":1795000010.75");
    assert_ne!(fraction, good);
    judged.check(DeviceClass::Good, &signer.sign_text(header, &fraction));
    assert!(judged.broken().is_empty());
}

#[test]
fn a_result_by_another_key_waits_until_the_documents_were_read_behind_it() {
    let (signer, other) = (EarSigner::of(1), EarSigner::of(2));
    let jwt = other.sign(&claims(DeviceClass::Good, "affirming"));
    for (is_shown, expected) in [(true, &[][..]), (false, &["bad-result-signature"])] {
        let mut judged = Judged::by(&signer);
        judged.check(DeviceClass::Good, &jwt);
        assert!(judged.target.keys.take_request());
        // A reading that began before the result was there says nothing.
        judged.target.keys.read_at(Nanos::from_secs(11));
        judged.verifier.tick(Nanos::ZERO, &mut judged.verdicts);
        assert_eq!((judged.broken().len(), judged.ledger.read().kept), (0, 0));
        assert!(judged.target.keys.take_request(), "it is asked for again");
        if is_shown {
            assert!(judged.target.keys.add(&other.jwk()).unwrap());
        }
        judged.target.keys.read_at(Nanos::from_secs(13));
        judged.verifier.tick(Nanos::ZERO, &mut judged.verdicts);
        assert_eq!((judged.broken().len(), judged.ledger.read().kept), (0, u64::from(is_shown)));
        judged.target.keys.read_at(Nanos::from_secs(15));
        judged.verifier.tick(Nanos::ZERO, &mut judged.verdicts);
        assert_eq!(judged.broken(), expected);
        assert_eq!(judged.ledger.read().kept, u64::from(is_shown));
    }
}

#[test]
fn a_result_of_another_algorithm_is_none_only_once_no_document_shows_such_a_key() {
    let signer = EarSigner::of(1);
    let of = |alg: &str| {
        let header = json!({ "alg": alg }).to_string();
        signer.sign_text(&header, &claims(DeviceClass::Good, "affirming").to_string())
    };
    let mut judged = Judged::by(&signer);
    judged.check(DeviceClass::Good, &of("HS256"));
    assert_eq!(judged.broken(), ["malformed-result"], "nobody but the service has its key");
    for (is_read, broken, unchecked) in [(true, 1, 0), (false, 0, 1)] {
        let mut judged = Judged::by(&signer);
        judged.check(DeviceClass::Good, &of("ES384"));
        assert!(judged.target.keys.take_request());
        if is_read {
            judged.target.keys.read_at(Nanos::from_secs(15));
        }
        judged.verifier.tick(Nanos::ZERO, &mut judged.verdicts);
        judged.verifier.finish(Nanos::ZERO, &mut judged.verdicts);
        let ledger = judged.ledger.read();
        assert_eq!((ledger.broken, ledger.unchecked), (broken, unchecked));
        assert!(judged.broken().iter().all(|kind| kind == "malformed-result"));
    }
}

#[test]
fn what_a_verifier_writes_steers_no_terminal() {
    let signer = EarSigner::of(1);
    let mut target = AttestTarget::of(&AttestTargetPlan::default(), AttestAuth::None);
    target.keys = Arc::default();
    let told = Arc::new(Mutex::new(String::new()));
    let mut judged = Judged::of_target(target, &signer, NonceSource::Own);
    let heard = told.clone();
    let tell = move |finding| {
        let Finding::Broken(broken) = finding else { return };
        heard.lock().unwrap().push_str(&broken.breach.detail);
    };
    judged.verdicts = Verdicts::new("verify", judged.ledger.clone(), Box::new(tell));
    let mut claims = claims(DeviceClass::Good, "contraindicated");
    claims["submods"]["PSA_IOT"]["ear.veraison.policy-claims"] =
        json!({ "problem": "\u{1b}]0;x\u{7}\u{202e}y" });
    judged.check(DeviceClass::Good, &signer.sign(&claims));
    let told = told.lock().unwrap();
    assert!(told.contains("]0;x") && !told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told:?}");
}

#[test]
fn a_result_that_nobody_may_rely_on_is_not_kept() {
    let signer = EarSigner::of(1);
    let at = (EPOCH_MS / 1000 + 10).cast_signed();
    for (name, seconds, is_kept) in
        [("exp", at + 60, true), ("exp", at - 3_600, false), ("nbf", at, true), ("nbf", at + 3_600, false)]
    {
        let mut judged = Judged::by(&signer);
        let mut claims = claims(DeviceClass::Good, "affirming");
        claims[name] = json!(seconds);
        judged.check(DeviceClass::Good, &signer.sign(&claims));
        assert_eq!(judged.broken().is_empty(), is_kept, "{name} {seconds}");
    }
}

#[test]
fn a_warning_beside_a_claim_that_is_worse_contradicts_itself() {
    let signer = EarSigner::of(1);
    let mut judged = Judged::by(&signer);
    let mut claims = claims(DeviceClass::WrongMeasurement, "warning");
    claims["submods"]["PSA_IOT"]["ear.trustworthiness-vector"] = json!({ "executables": 33 });
    judged.check(DeviceClass::WrongMeasurement, &signer.sign(&claims));
    assert!(judged.broken().is_empty());
    claims["submods"]["PSA_IOT"]["ear.trustworthiness-vector"] = json!({ "executables": 99 });
    judged.check(DeviceClass::WrongMeasurement, &signer.sign(&claims));
    assert_eq!(judged.broken(), ["contradictory-result"]);
}

#[test]
fn a_service_that_was_upgraded_since_is_judged_as_its_new_release_judges() {
    let signer = EarSigner::of(1);
    for (build, is_kept) in [("v0.0.2608", true), ("v0.0.2502", false), ("N/A", false)] {
        let mut target = AttestTarget::of(&AttestTargetPlan::default(), AttestAuth::None);
        let document = |version: &str| {
            crate::discovery::DiscoveryDocument::parse(
                json!({ "version": version, "service-state": "READY" }).to_string().as_bytes(),
            )
        };
        target.verification.documents = vec![document("v0.0.2502").unwrap()];
        let mut judged = Judged::of_target(target, &signer, NonceSource::Own);
        let mut claims = claims(DeviceClass::WrongSigner, "affirming");
        claims["ear.verifier-id"]["build"] = json!(build);
        judged.check(DeviceClass::WrongSigner, &signer.sign(&claims));
        assert_eq!(judged.broken().is_empty(), is_kept, "{build}");
    }
}

#[test]
fn what_no_document_settles_until_the_end_is_unchecked() {
    let (signer, other) = (EarSigner::of(1), EarSigner::of(2));
    let mut judged = Judged::by(&signer);
    judged.check(DeviceClass::Good, &other.sign(&claims(DeviceClass::Good, "affirming")));
    judged.verifier.finish(Nanos::ZERO, &mut judged.verdicts);
    let ledger = judged.ledger.read();
    assert_eq!((ledger.kept, ledger.broken, ledger.unchecked), (0, 0, 1));
}
