//! What Veraison affirmed is written again, byte for byte, from what it says; what it signed is verified.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ciborium::Value;
use coset::{CborSerializable as _, CoseSign1, TaggedCborSerializable as _};
use hammer_p256::FixedKeyVerifier;
use hammer_rats::corim::CorimSigner;
use hammer_rats::{
    AttestationResult, Corim, EarError, EarVerifier, PsaDevice, PsaDialect, PsaToken, SoftwareComponent,
    TokenProfile, TrustTier, VerificationKey,
};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("../../testdata/", $name)).as_slice()
    };
}

fn read(bytes: &[u8]) -> Value {
    ciborium::from_reader(bytes).unwrap()
}

/// The value of an integer key of a map.
fn at(map: &Value, key: i64) -> &Value {
    let pairs = map.as_map().unwrap();
    let found = pairs.iter().find(|(name, _)| name.as_integer() == Some(key.into()));
    &found.unwrap_or_else(|| panic!("no {key} in {map:?}")).1
}

fn untagged(value: &Value) -> &Value {
    value.as_tag().map_or(value, |(_, inner)| inner)
}

fn bytes<const N: usize>(value: &Value) -> [u8; N] {
    untagged(value).as_bytes().unwrap().as_slice().try_into().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_text().unwrap()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What a recorded CoRIM says.
struct Endorsed {
    dialect: PsaDialect,
    ids: [[u8; 16]; 3],
    device: PsaDevice,
    key: [u8; 65],
}

impl Endorsed {
    fn read(recorded: &[u8]) -> Self {
        let whole = read(recorded);
        let dialect = if whole.is_tag() { PsaDialect::Psa2025 } else { PsaDialect::Iot1 };
        let corim = untagged(&whole);
        let id = match dialect {
            PsaDialect::Iot1 => bytes(at(corim, 0)),
            PsaDialect::Psa2025 => u128::from_str_radix(text(at(corim, 0)), 16).unwrap().to_be_bytes(),
        };
        let comids: Vec<Value> = items(at(corim, 1))
            .iter()
            .map(|comid| untagged(&read(untagged(comid).as_bytes().unwrap())).clone())
            .collect();
        let [references, anchor] = comids.as_slice() else { panic!("{comids:?}") };
        let [class, measurements] = items(&items(at(at(references, 4), 0))[0]) else { panic!() };
        let components = items(measurements).iter().map(|measured| component(dialect, measured)).collect();
        let [environment, keys] = items(&items(at(at(anchor, 4), 3))[0]) else { panic!() };
        let ueid: [u8; 33] = bytes(at(environment, 1));
        let pem = text(untagged(&items(keys)[0])).lines().filter(|line| !line.starts_with('-'));
        let der = STANDARD.decode(pem.collect::<String>()).unwrap();
        Self {
            dialect,
            ids: [id, bytes(at(at(references, 1), 0)), bytes(at(at(anchor, 1), 0))],
            device: PsaDevice {
                implementation_id: bytes(at(at(class, 0), 0)),
                instance_id: ueid[1..].try_into().unwrap(),
                components,
            },
            key: der[26..].try_into().unwrap(),
        }
    }

    fn corim(&self) -> Corim<'_> {
        let Self { dialect, ids, device, key } = self;
        Corim { dialect: *dialect, ids: *ids, vendor: "ACME", model: "RoadRunner", device, key }
    }
}

fn component(dialect: PsaDialect, measured: &Value) -> SoftwareComponent {
    let (key, value) = (untagged(at(measured, 0)), at(measured, 1));
    let (kind, version, signer) = match dialect {
        PsaDialect::Iot1 => (at(key, 1), at(key, 4), at(key, 5)),
        PsaDialect::Psa2025 => (at(value, 11), at(at(value, 0), 0), &items(at(value, 13))[0]),
    };
    SoftwareComponent {
        kind: text(kind).to_owned(),
        version: text(version).to_owned(),
        measurement: bytes(&items(&items(at(value, 2))[0])[1]),
        signer: bytes(signer),
    }
}

const DEVICES: [(&[u8], &[u8], TokenProfile); 3] = [
    (recorded!("dev0-legacy-p2.corim.cbor"), recorded!("dev0-legacy-p2.token.cbor"), TokenProfile::Psa2),
    (recorded!("dev0-rim2026-p2.corim.cbor"), recorded!("dev0-rim2026-p2.token.cbor"), TokenProfile::Psa2),
    (recorded!("dev5-legacy-p1.corim.cbor"), recorded!("dev5-legacy-p1.token.cbor"), TokenProfile::Psa1),
];

#[test]
fn endorsements_are_written_as_each_release_took_them() {
    for (corim, ..) in DEVICES {
        let mut written = vec![7];
        Endorsed::read(corim).corim().write(&mut written);
        assert_eq!(written, corim);
    }
}

#[test]
fn a_signed_corim_is_written_as_it_was_taken_and_its_signature_is_over_what_is_signed() {
    let recorded = recorded!("dev-signed.corim.cose");
    let message = CoseSign1::from_tagged_slice(recorded).unwrap();
    let endorsed = Endorsed::read(message.payload.as_deref().unwrap());
    let header = read(&message.protected.original_data.clone().unwrap());
    let meta = read(at(&header, 8).as_bytes().unwrap());
    let certificate = at(&header, 33).as_bytes().unwrap();
    let signer = CorimSigner {
        name: text(at(at(&meta, 0), 0)),
        uri: text(untagged(at(at(&meta, 0), 1))),
        certificate,
    };
    // The key of its certificate is the only one of P-256 in it that is written as a point.
    let place = certificate.windows(3).position(|bytes| bytes == [0x42, 0x00, 0x04]).unwrap() + 2;
    let key = FixedKeyVerifier::new(&certificate[place..place + 65]).unwrap();
    let signature: [u8; 64] = message.signature.as_slice().try_into().unwrap();
    let mut written = Vec::new();
    let sign = |message: &[u8]| {
        assert!(key.verify_fixed(&Sha256::digest(message).into(), &signature));
        signature
    };
    endorsed.corim().write_signed(&signer, sign, &mut written);
    assert_eq!(written, recorded);
}

#[test]
fn evidence_is_written_as_it_was_affirmed_and_is_signed_by_the_key_of_the_endorsements() {
    for (corim, token, profile) in DEVICES {
        let message = CoseSign1::from_tagged_slice(token).unwrap();
        let claims = read(message.payload.as_deref().unwrap());
        let [nonce, boot_seed, service] = match profile {
            TokenProfile::Psa1 => [-75_008, -75_004, -75_010],
            TokenProfile::Psa2 => [10, 2397, 2400],
        };
        let (nonce, boot_seed): ([u8; 32], [u8; 32]) =
            (bytes(at(&claims, nonce)), bytes(at(&claims, boot_seed)));
        let Endorsed { device, key, .. } = Endorsed::read(corim);
        // As they were started, which is not how they are endorsed.
        let told = PsaToken {
            profile,
            device: &device,
            nonce: &nonce,
            boot_seed: &boot_seed,
            client_id: 1,
            lifecycle: 0x3000,
            verification_service: text(at(&claims, service)),
            without: None,
        };
        let key = FixedKeyVerifier::new(&key).unwrap();
        let signature: [u8; 64] = message.signature.as_slice().try_into().unwrap();
        let mut written = Vec::new();
        let sign = |digest: &[u8; 32]| {
            assert!(key.verify_fixed(digest, &signature));
            signature
        };
        told.write(sign, &mut Vec::new(), &mut written);
        assert_eq!(written, token);
        assert_eq!(CoseSign1::from_slice(&written[1..]).unwrap().payload, message.payload);
    }
}

fn verifier() -> EarVerifier {
    let discovery: Json = serde_json::from_slice(recorded!("verification-discovery.json")).unwrap();
    let key: VerificationKey = serde_json::from_value(discovery["ear-verification-key"].clone()).unwrap();
    EarVerifier::new(&key).unwrap()
}

fn result(session: &[u8]) -> String {
    let session: Json = serde_json::from_slice(session).unwrap();
    session["result"].as_str().unwrap().to_owned()
}

#[test]
fn results_are_verified_by_the_key_of_the_discovery_document_and_read() {
    let session: Json = serde_json::from_slice(recorded!("session-complete.json")).unwrap();
    let ear = verifier().verify(&result(recorded!("session-complete.json"))).unwrap();
    let AttestationResult { profile, issued_unix_seconds, nonce, verifier: id, appraisals, .. } = &ear;
    assert_eq!((profile.as_str(), *issued_unix_seconds), ("tag:github.com,2023:veraison/ear", 1_795_242_708));
    assert_eq!(nonce.as_deref().map(|nonce| STANDARD.encode(nonce)).as_deref(), session["nonce"].as_str());
    assert_eq!((id.build.as_str(), id.developer.as_str()), ("v0.0.2502", "Veraison Project"));
    assert_eq!(appraisals.keys().collect::<Vec<_>>(), ["PSA_IOT"]);
    let psa = &appraisals["PSA_IOT"];
    assert_eq!((psa.status, &psa.policy), (TrustTier::Affirming, &None));
    assert_eq!(psa.vector.as_ref().unwrap()["executables"], 2);

    let ear = verifier().verify(&result(recorded!("session-contraindicated.json"))).unwrap();
    let psa = &ear.appraisals["PSA_IOT"];
    assert_eq!(psa.status, TrustTier::Contraindicated);
    assert_eq!(psa.vector.as_ref().unwrap()["hardware"], 99);
    let problem = psa.policy.as_ref().unwrap().problem.as_deref();
    assert_eq!(problem, Some("could not establish identity from evidence"));
}

#[test]
fn a_result_that_is_altered_anywhere_is_none_of_the_verifier() {
    let (verifier, jwt) = (verifier(), result(recorded!("session-complete.json")));
    let mut forms = 0;
    for at in 0..jwt.len() {
        let mut altered = jwt.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let refused = verifier.verify(&String::from_utf8(altered).unwrap()).unwrap_err();
        match refused {
            EarError::Signature | EarError::Form | EarError::Algorithm(_) => forms += 1,
            why => panic!("{at}: {why}"),
        }
    }
    assert_eq!(forms, jwt.len());
    let header = "eyJhbGciOiJub25lIn0";
    let none = format!("{header}.{}", jwt.split_once('.').unwrap().1);
    assert_eq!(verifier.verify(&none), Err(EarError::Algorithm("none".to_owned())));
    for text in ["", "a", "a.b", "a.b.c", "..."] {
        assert_eq!(verifier.verify(text), Err(EarError::Form), "{text}");
    }
}
