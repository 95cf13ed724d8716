//! Each lie of the embedded verifier is caught, by the operation and the device that it was told of; its honest twin is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_attest::{DeviceClass, Devices, SessionNonces};
use hammer_lab_attest::{AttestLieKind, ToldAttestLie};
use hammer_report::report::Breach;

use crate::on_time::exit_if_on_time;
use crate::verifier::{path, run};

/// The place of the workload that verifies.
const VERIFY: u64 = 1;
/// By which of them a device has an identity of its own.
const DEVICES: [DeviceClass; 2] = [DeviceClass::Good, DeviceClass::UnknownDevice];
/// The lies, and what the broken promises are called that each makes.
const LIES: [(AttestLieKind, &str, &str); 12] = [
    (AttestLieKind::WrongNonce, "wrong-nonce", "wrong-nonce"),
    (AttestLieKind::AnotherKey, "another-key", "bad-result-signature"),
    (AttestLieKind::AnotherDevice, "another-device", "result-of-another-device"),
    (AttestLieKind::AffirmingBad, "affirming-bad", "affirmed-bad-device"),
    (AttestLieKind::ContraindicatedGood, "contraindicated-good", "good-device-not-affirmed"),
    (AttestLieKind::PastResult, "past-result", "wrong-issue-time"),
    (AttestLieKind::AnotherProfile, "another-profile", "wrong-result-profile"),
    (AttestLieKind::ChangedKey, "changed-key", "bad-result-signature"),
    (AttestLieKind::LostDevice, "lost-device", "good-device-not-affirmed"),
    (AttestLieKind::RepeatedNonce, "repeated-nonce", "repeated-nonce"),
    (AttestLieKind::ShownNonce, "shown-nonce", "wrong-nonce"),
    (AttestLieKind::ShownEvidence, "shown-evidence", "session-of-other-evidence"),
];

/// The instance ID of a device of a plan, as the verifier knows it: in hexadecimal digits.
fn instance_id(device: u64, class: DeviceClass) -> String {
    let ueid = Devices::new(0, 0, None).ueid(device, class);
    ueid.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the plan of a lie and its honest twin.
fn is_caught(kind: AttestLieKind) {
    let (_, word, broken) = LIES.into_iter().find(|(known, ..)| *known == kind).unwrap();
    let came = run(&format!("lies/attest/{word}"), &[]);
    let report = came.report();
    let (told, unlisted) = came.verifier.target().told_lies();
    assert_eq!(unlisted, 0);
    assert!(told.len() >= 3 && told.iter().all(|lie| lie.kind == kind), "{told:?}");
    assert_eq!(report.verdict.exit_code, 4, "{:?}", report.verdict);
    let breaches = &report.breaches;
    // Those devices of a plan that are to be warned of are lost as well.
    let is_lost = |breach: &Breach| kind == AttestLieKind::LostDevice && breach.kind == "unexpected-status";
    let is_named = |breach: &Breach| breach.kind == broken || is_lost(breach);
    assert!(breaches.iter().all(is_named), "{breaches:?}");
    assert_eq!(report.promises.all.kept + report.promises.all.broken, 200, "{:?}", report.promises.all);
    if kind == AttestLieKind::LostDevice {
        // A device that was lost is shown as often as it is drawn.
        let lost: BTreeSet<String> = told.iter().filter_map(|lie| lie.instance_id.clone()).collect();
        let shown: BTreeSet<String> =
            breaches.iter().map(|breach| instance_id(breach.index.unwrap(), DeviceClass::Good)).collect();
        assert!(!shown.is_empty() && shown.is_subset(&lost), "{shown:?} {lost:?}");
    } else {
        assert_eq!(report.promises.all.broken, told.len() as u64);
        match kind {
            AttestLieKind::RepeatedNonce => name_what_they_repeat(breaches),
            _ => are_of_their_lies(breaches, &told),
        }
    }

    let honest = run(&format!("lies/attest/{word}-honest"), &[]);
    let report = honest.report();
    assert!(honest.verifier.target().told_lies().0.is_empty() && report.breaches.is_empty());
    assert_eq!(report.promises.all.kept, 200, "{:?}", report.promises.all);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

/// Each breach is that of a lie: its operation by the session's nonce, and its device as far as the verifier found out whose evidence it was.
fn are_of_their_lies(breaches: &[Breach], told: &[ToldAttestLie]) {
    let nonces = SessionNonces::of(0, VERIFY);
    let by_seq: BTreeMap<u64, &Breach> =
        breaches.iter().map(|breach| (breach.seq.unwrap(), breach)).collect();
    let seqs: BTreeMap<String, u64> = (0..200).map(|seq| (STANDARD.encode(nonces.nonce(seq)), seq)).collect();
    let lied: BTreeSet<u64> = told.iter().map(|lie| seqs[lie.nonce.as_ref().unwrap()]).collect();
    assert_eq!(by_seq.keys().copied().collect::<BTreeSet<_>>(), lied);
    for lie in told {
        let device = by_seq[&seqs[lie.nonce.as_ref().unwrap()]].index.unwrap();
        // Evidence that could not be read is nobody's.
        let Some(id) = &lie.instance_id else { continue };
        assert!(DEVICES.map(|class| instance_id(device, class)).contains(id), "{device} {id}");
    }
}

/// Whoever has a nonce that was there before says of which operation it was.
fn name_what_they_repeat(breaches: &[Breach]) {
    for breach in breaches {
        let (_, before) = breach.detail.rsplit_once(' ').unwrap();
        let before: u64 = before.parse().unwrap();
        assert!(breach.index.is_some() && before < 200 && Some(before) != breach.seq, "{breach:?}");
    }
}

macro_rules! lies {
    ($($test:ident: $kind:ident;)+) => {
        $(
            #[test]
            fn $test() {
                is_caught(AttestLieKind::$kind);
            }
        )+
    };
}

lies! {
    a_result_for_another_session_is_caught: WrongNonce;
    a_result_by_another_key_is_caught: AnotherKey;
    a_result_about_another_device_is_caught: AnotherDevice;
    a_bad_device_that_is_affirmed_is_caught: AffirmingBad;
    a_good_device_that_is_contraindicated_is_caught: ContraindicatedGood;
    a_result_of_the_past_is_caught: PastResult;
    a_result_of_another_profile_is_caught: AnotherProfile;
    a_key_that_changes_without_its_document_is_caught: ChangedKey;
    a_device_that_was_lost_is_caught: LostDevice;
    a_nonce_that_a_service_chooses_twice_is_caught: RepeatedNonce;
    a_session_that_shows_another_nonce_beside_its_result_is_caught: ShownNonce;
    a_session_that_shows_other_evidence_beside_its_result_is_caught: ShownEvidence;
}

#[test]
fn a_twin_differs_in_nothing_but_the_lies() {
    let text = |name: &str| fs::read_to_string(path(&format!("lies/attest/{name}"))).unwrap();
    let body = |text: &str| -> Vec<String> {
        let is_same =
            |line: &&str| !["#", "name:", "      lies:"].iter().any(|other| line.starts_with(other));
        text.lines().filter(is_same).map(str::to_owned).collect()
    };
    let mut expected = BTreeSet::new();
    for (_, kind, _) in LIES {
        let twin = format!("{kind}-honest");
        assert!(text(kind).contains(&format!("      lies: [ {{ kind: {kind}, ")), "{kind}");
        assert!(!text(&twin).contains("      lies:"), "{twin}");
        assert_eq!(body(&text(kind)), body(&text(&twin)), "{kind}");
        expected.extend([format!("{kind}.yaml"), format!("{twin}.yaml")]);
    }
    let folder = fs::read_dir(path("lies/attest/x").rsplit_once('/').unwrap().0).unwrap();
    let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
}
