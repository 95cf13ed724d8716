//! Each lie is in the answer that its rule says and in no other, and is owned up to.

use std::{collections::HashSet, time::Duration};

use hammer_lab_attest::{
    AttestLabPlan,
    AttestLieKind::{self, *},
    LieRule, Release, ToldAttestLie,
};
use hammer_tlog::encoding::base64;
use hammer_values::TimeSpan;

use crate::{
    device::{Device, hash},
    service::{BOTH, Challenge, EarResult, START_MS, Service},
};

/// What of a result is not as it should be.
fn faults(challenge: &Challenge, result: &EarResult, device: &Device, status: &str) -> Vec<&'static str> {
    let claims = &result.claims;
    let evidence = &result.submod()["ear.veraison.annotated-evidence"];
    let is_of_device = evidence.is_null() || evidence["psa-instance-id"] == base64(&device.instance);
    let said = [
        ("signature", result.is_signed),
        ("nonce", result.nonce() == challenge.nonce),
        ("profile", claims["eat_profile"] == "tag:github.com,2023:veraison/ear"),
        ("time", claims["iat"] == START_MS / 1000),
        ("device", is_of_device),
        ("status", result.status() == status),
    ];
    said.into_iter().filter(|(_, holds)| !holds).map(|(fault, _)| fault).collect()
}

fn plan(release: Release, rule: LieRule<AttestLieKind>) -> AttestLabPlan {
    AttestLabPlan { release, lies: vec![rule], ..AttestLabPlan::default() }
}

/// The second result of three has the lie.
async fn second_of_three(release: Release, kind: AttestLieKind, bad: bool) -> Vec<Vec<&'static str>> {
    let service =
        Service::start(plan(release, LieRule { after: 1, times: Some(1), ..LieRule::of(kind) })).await;
    let mut device = Device::new("lies", 0);
    service.provision(&device).await;
    if bad {
        device.components[0].measurement = hash(&["another"]).to_vec();
    }
    let status = if bad { "warning" } else { "affirming" };
    let (mut found, mut lied) = (Vec::new(), None);
    for place in 0..3 {
        let (challenge, result) = service.verify(|nonce| device.token(nonce)).await;
        found.push(faults(&challenge, &result, &device, status));
        if place == 1 {
            lied = Some(challenge);
        }
    }
    let challenge = lied.unwrap();
    let told = ToldAttestLie {
        kind,
        session: challenge.url.rsplit('/').next().map(str::to_owned),
        nonce: Some(base64(&challenge.nonce)),
        instance_id: Some(device.instance.iter().map(|byte| format!("{byte:02x}")).collect()),
    };
    assert_eq!(service.lab.target().told_lies(), (vec![told], 0));
    found
}

#[tokio::test]
async fn each_lie_of_a_result_is_found_by_its_own_fault() {
    for release in BOTH {
        for (kind, bad, fault) in [
            (WrongNonce, false, "nonce"),
            (AnotherKey, false, "signature"),
            (AnotherDevice, false, "device"),
            (AffirmingBad, true, "status"),
            (ContraindicatedGood, false, "status"),
            (PastResult, false, "time"),
            (AnotherProfile, false, "profile"),
        ] {
            let found = second_of_three(release, kind, bad).await;
            assert_eq!(found, [vec![], vec![fault], vec![]], "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_result_that_is_an_hour_old_says_so_and_one_that_affirms_says_what_was_affirmed() {
    let service = Service::start(plan(Release::V2502, LieRule::of(PastResult))).await;
    let (_, result) = service.verify(|_| b"not cbor".to_vec()).await;
    assert_eq!(result.claims["iat"], START_MS / 1000 - 3600);

    let service = Service::start(plan(Release::V2502, LieRule::of(AffirmingBad))).await;
    let (_, result) = service.verify(|_| b"not cbor".to_vec()).await;
    assert_eq!((result.status(), result.is_signed), ("affirming", true));
    assert_eq!(result.submod()["ear.trustworthiness-vector"]["executables"], 2);
    assert!(result.submod().get("ear.veraison.policy-claims").is_none());
    let (told, _) = service.lab.target().told_lies();
    assert_eq!((told.len(), told[0].kind, &told[0].instance_id), (1, AffirmingBad, &None));
}

#[tokio::test]
async fn a_lie_that_cannot_be_told_of_a_result_leaves_it_to_the_next_one_that_it_can() {
    let service =
        Service::start(plan(Release::V2608, LieRule { times: Some(1), ..LieRule::of(AffirmingBad) })).await;
    let good = Device::new("lies", 0);
    service.provision(&good).await;
    let mut statuses = Vec::new();
    for device in [good, Device::new("lies", 1), Device::new("lies", 2)] {
        let (_, result) = service.verify(|nonce| device.token(nonce)).await;
        statuses.push(result.status().to_owned());
    }
    assert_eq!(statuses, ["affirming", "affirming", "contraindicated"]);
}

#[tokio::test]
async fn a_changed_key_stays_changed_and_discovery_shows_the_old_one() {
    let rule = LieRule { at: Some(TimeSpan::from_secs(2)), times: Some(1), ..LieRule::of(ChangedKey) };
    let service = Service::start(plan(Release::V2502, rule)).await;
    let device = Device::new("lies", 0);
    service.provision(&device).await;
    let mut found = Vec::new();
    for _ in 0..4 {
        let (_, result) = service.verify(|nonce| device.token(nonce)).await;
        found.push((result.is_signed, result.status().to_owned()));
        service.clock.advance(Duration::from_secs(1));
    }
    let expected = [true, true, false, false].map(|is_signed| (is_signed, "affirming".to_owned()));
    assert_eq!(found, expected);
    let (told, _) = service.lab.target().told_lies();
    assert_eq!((told.len(), told.iter().all(|lie| lie.kind == ChangedKey)), (2, true));
}

#[tokio::test]
async fn a_lost_device_is_answered_with_success_and_is_not_there() {
    for release in BOTH {
        let rule = LieRule { after: 1, times: Some(1), ..LieRule::of(LostDevice) };
        let service = Service::start(plan(release, rule)).await;
        let mut statuses = Vec::new();
        let devices = [0, 1, 2].map(|index| Device::new("lies", index));
        // What is refused is no CoRIM that could be lost.
        assert_eq!(service.submit(service.corim_type(), "not cbor").await.json(200)["status"], "failed");
        for device in &devices {
            assert_eq!(service.provision(device).await["status"], "success");
            let (_, result) = service.verify(|nonce| device.token(nonce)).await;
            statuses.push(result.status().to_owned());
        }
        assert_eq!(statuses, ["affirming", "contraindicated", "affirming"]);
        assert_eq!(service.lab.stats().store_rows, 8);
        let (told, _) = service.lab.target().told_lies();
        let instance: String = devices[1].instance.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].kind, told[0].instance_id.as_deref()), (LostDevice, Some(instance.as_str())));
        assert_eq!((&told[0].session, &told[0].nonce), (&None, &None));
    }
}

#[tokio::test]
async fn an_honest_twin_has_the_same_answers_and_no_lies() {
    for release in BOTH {
        let service = Service::of(release).await;
        let device = Device::new("lies", 0);
        service.provision(&device).await;
        let (challenge, result) = service.verify(|nonce| device.token(nonce)).await;
        assert_eq!(faults(&challenge, &result, &device, "affirming"), [""; 0]);
        assert_eq!(service.lab.target().told_lies(), (Vec::new(), 0));
    }
}

#[test]
fn lies_have_names_of_their_field() {
    let kinds = [
        WrongNonce,
        AnotherKey,
        AnotherDevice,
        AffirmingBad,
        ContraindicatedGood,
        PastResult,
        AnotherProfile,
        ChangedKey,
        LostDevice,
        RepeatedNonce,
        ShownNonce,
        ShownEvidence,
    ];
    let names: HashSet<String> = kinds.map(|kind| serde_json::to_string(&kind).unwrap()).into();
    let expected = [
        "wrong-nonce",
        "another-key",
        "another-device",
        "affirming-bad",
        "contraindicated-good",
        "past-result",
        "another-profile",
        "changed-key",
        "lost-device",
        "repeated-nonce",
        "shown-nonce",
        "shown-evidence",
    ];
    assert_eq!(names, expected.map(|name| format!("\"{name}\"")).into());
}
