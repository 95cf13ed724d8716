//! Endorsements that somebody signs, by plan.

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::hammer::Ended;
use crate::verifier::{of, planned};

/// An authority with a signer of its own: the paths of the authority's certificate, the signer's key and its certificate.
fn signer(folder: &Folder, name: &str) -> [String; 3] {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::default();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let trusted = root.self_signed(&root_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([format!("{name}.test")]).unwrap();
    let certificate = certificate.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    [("root", trusted), ("key", key.serialize_pem()), ("certificate", certificate.pem())]
        .map(|(what, pem)| folder.write(&format!("{name}.{what}.pem"), &pem))
}

fn lab(release: &str, trusted: &str) -> AttestLabHandle {
    let settings = json!({ "release": release, "ca_certs": [trusted] });
    AttestLabHandle::spawn(serde_json::from_value::<AttestLabPlan>(settings).unwrap()).unwrap()
}

/// Twenty devices, endorsed by the signer of these files, and sessions of those that were taken in.
fn run(lab: &AttestLabHandle, key: &str, certificate: &str, workloads: usize) -> Ended {
    let signer = json!({ "key": key, "certificate": certificate });
    let provision = json!({
        "name": "provision", "attest_provision": { "signer": signer }, "load": { "users": 2, "operations": 20 },
    });
    let verify = json!({ "name": "verify", "attest_verify": {}, "load": { "users": 2, "operations": 40 } });
    let workloads: Vec<Value> = [provision, verify].into_iter().take(workloads).collect();
    let urls = json!({ "provisioning_url": lab.url, "verification_url": lab.url });
    planned(&json!({ "target": { "attest": urls }, "workloads": workloads, "phases": { "drain": "30s" } }))
}

#[test]
fn devices_that_somebody_signed_for_are_affirmed_and_those_of_a_stranger_are_not_taken_in() {
    let folder = Folder::new();
    let [trusted, key, certificate] = signer(&folder, "own");
    let [_, other_key, other_certificate] = signer(&folder, "other");
    let lab = lab("v0.0.2608", &trusted);
    let report = run(&lab, &key, &certificate, 2).report();
    assert_eq!(of(&report, "provision/provision").measurement.counts.fates.accepted, 20);
    assert_eq!((report.promises.all.made, report.promises.all.kept), (40, 40), "{:?}", report.breaches);

    let report = run(&lab, &other_key, &other_certificate, 1).report();
    let measured = &of(&report, "provision/provision").measurement;
    let [cause] = &measured.causes[..] else { panic!("{:?}", measured.causes) };
    assert_eq!(
        (cause.fate.as_str(), cause.cause.as_str(), cause.count),
        ("refused", "failed with HTTP 200", 20)
    );
    assert!(cause.answer.as_ref().unwrap().contains("failed to verify signed CoRIM"), "{cause:?}");
}

#[test]
fn what_cannot_be_signed_is_refused_before_anything_is_sent() {
    let folder = Folder::new();
    let [trusted, key, certificate] = signer(&folder, "own");
    let [_, _, other] = signer(&folder, "other");
    let signing = lab("v0.0.2608", &trusted);
    for (lab, certificate, at, why) in [
        (
            &lab("v0.0.2502", &trusted),
            &certificate,
            "signer",
            "the service takes none that are signed".to_owned(),
        ),
        (&signing, &other, "signer.certificate", format!("it is not the certificate of {key}")),
        (&signing, &key, "signer.certificate", "sign endorsements by ".to_owned()),
        (&signing, &folder.path("absent"), "signer.certificate", "absent".to_owned()),
    ] {
        let ended = run(lab, &key, certificate, 2);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        for part in [format!("workloads[0].attest_provision.{at}"), why] {
            assert!(ended.stderr.contains(&part), "no {part} in {}", ended.stderr);
        }
        assert!(!lab.stats().requests.contains_key("submit"));
    }
}
