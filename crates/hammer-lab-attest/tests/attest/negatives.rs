//! What each release makes of a token that is altered in one respect: the recorded tables, line by line.

use ciborium::Value;
use hammer_lab_attest::Release;

use crate::{
    device::{Claims, Component, Device, hash},
    service::{BOTH, Service},
};

/// Its name in the table, and how the token is made for a nonce.
type Negative = (String, MakeToken);

/// Makes a token for a nonce.
type MakeToken = Box<dyn Fn(&[u8]) -> Vec<u8>>;

#[tokio::test]
async fn the_recorded_tables_come_out_of_both_releases() {
    for release in BOTH {
        let recorded = match release {
            Release::V2502 => include_str!("../../testdata/negatives-v0.0.2502.txt"),
            Release::V2608 => include_str!("../../testdata/negatives-v0.0.2608.txt"),
        };
        let service = Service::of(release).await;
        assert_eq!(service.provision(&Device::new("neg", 0)).await["status"], "success");
        let mut lines = recorded.lines().skip(1);
        for (name, token) in negatives() {
            let line = line(&service, &name, token).await;
            assert_eq!(Some(without_session_nonce(&line)), lines.next().map(without_session_nonce));
        }
        assert_eq!(lines.next(), None);
    }
}

async fn line(service: &Service, name: &str, token: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let (challenge, result) = service.verify(|nonce| token(nonce)).await;
    assert!(result.is_signed);
    assert_eq!(result.nonce(), challenge.nonce);
    let vector: Vec<String> = result.submod()["ear.trustworthiness-vector"]
        .as_object()
        .unwrap()
        .values()
        .map(ToString::to_string)
        .collect();
    let problem = result.submod()["ear.veraison.policy-claims"]["problem"].as_str();
    // A result that was made of the evidence repeats it; one with a problem does not.
    assert_eq!(result.submod().get("ear.veraison.annotated-evidence").is_none(), problem.is_some());
    let problem = problem.map(|problem| format!("{{'problem': '{problem}'}}")).unwrap_or_default();
    let (status, vector) = (result.status(), vector.join(", "));
    format!("{name:28} http=200 session=complete ear={status} vec=[{vector}] {problem}")
}

/// Without the nonce of the session, which the service drew.
fn without_session_nonce(line: &str) -> String {
    match line.split_once("match session nonce (") {
        Some((before, nonce)) => {
            assert_eq!(nonce.find(')'), Some(64));
            format!("{before}{}", &nonce[64..])
        }
        None => line.to_owned(),
    }
}

fn negatives() -> Vec<Negative> {
    let device = || Device::new("neg", 0);
    let mut all: Vec<Negative> = vec![
        ("good".into(), Box::new(move |nonce| device().token(nonce))),
        ("good p1".into(), Box::new(move |nonce| device().sign(device().claims_1(nonce)))),
        ("unprovisioned device".into(), Box::new(|nonce| Device::new("neg", 1).token(nonce))),
        (
            "wrong signing key".into(),
            Box::new(move |nonce| {
                let mut device = device();
                device.key = Device::new("neg", 7).key;
                device.token(nonce)
            }),
        ),
        (
            "flipped signature bit".into(),
            Box::new(move |nonce| {
                let mut token = device().token(nonce);
                *token.last_mut().unwrap() ^= 1;
                token
            }),
        ),
        ("wrong nonce".into(), Box::new(move |_| device().token(&hash(&["x"])))),
    ];
    for (name, lifecycle) in [("0x2000", 0x2000), ("0x5000", 0x5000), ("0x7000 invalid", 0x7000)] {
        let altered = move |claims: &mut Claims| {
            claims
                .iter_mut()
                .filter(|(key, _)| *key == 2395)
                .for_each(|(_, value)| *value = Value::from(lifecycle));
        };
        all.push((format!("lifecycle {name}"), with_claims(altered)));
    }
    all.push(of_components("one measurement wrong", |all| all[1].measurement = hash(&["zz"]).to_vec()));
    all.push(of_components("one signer wrong", |all| all[1].signer = hash(&["zz"]).to_vec()));
    all.push(of_components("one version wrong", |all| all[1].version = "9.9.9".to_owned()));
    all.push(of_components("one component missing", |all| {
        all.pop();
    }));
    all.push(of_components("one component extra", |all| {
        let (kind, version) = ("X".to_owned(), "1".to_owned());
        let [measurement, signer] = ["e", "f"].map(|name| hash(&[name]).to_vec());
        all.push(Component { kind, version, measurement, signer });
    }));
    for missing in [2394, 2395, 2396, 2397, 2399, 10, 256, 2400, 265] {
        let altered = move |claims: &mut Claims| claims.retain(|(key, _)| *key != missing);
        all.push((format!("claim {missing} missing"), with_claims(altered)));
    }
    all
}

fn with_claims(alter: impl Fn(&mut Claims) + 'static) -> MakeToken {
    Box::new(move |nonce| {
        let device = Device::new("neg", 0);
        let mut claims = device.claims(nonce);
        alter(&mut claims);
        device.sign(claims)
    })
}

fn of_components(name: &str, alter: fn(&mut Vec<Component>)) -> Negative {
    let token = move |nonce: &[u8]| {
        let mut device = Device::new("neg", 0);
        alter(&mut device.components);
        device.token(nonce)
    };
    (name.to_owned(), Box::new(token))
}
