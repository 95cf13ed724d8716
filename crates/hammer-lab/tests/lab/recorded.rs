//! Requests that TesseraCT v0.1.1 answered, sent to the lab: its answers are held against the recorded ones.

use std::fs;

use hammer_lab::{CtLabHandle, CtLabPlan, LogConfig};
use hammer_tlog::{
    ct::precert,
    ct::rfc6962::{EntryType, GetRoots},
    ct::sct::Sct,
    keys::key::LogKey,
};
use hammer_values::TimeSpan;
use serde_json::Value;

use crate::{
    chains::{tesseract, testdata},
    client::{get, post},
};

async fn lab() -> CtLabHandle {
    let plan = CtLabPlan {
        path_prefix: "vectors".into(),
        batch_max_age: TimeSpan::ZERO,
        checkpoint_interval: TimeSpan::from_millis(5),
        ..CtLabPlan::default()
    };
    let mut config = LogConfig::from_plan(plan).unwrap();
    config.add_root_der(tesseract("root.der"));
    CtLabHandle::start(config).await.unwrap()
}

fn cases() -> Vec<String> {
    let files = fs::read_dir(testdata("tesseract")).unwrap();
    let names = files.filter_map(|file| file.unwrap().file_name().into_string().ok());
    let mut cases: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".request.json")?.to_owned())).collect();
    cases.sort();
    assert_eq!(cases.len(), 14);
    cases
}

fn endpoint(case: &str) -> &'static str {
    let precert = ["precert", "poison", "add-pre-chain"].iter().any(|word| case.contains(word));
    if precert && !case.contains("precert-on-add-chain") { "add-pre-chain" } else { "add-chain" }
}

fn chain_of(request: &[u8]) -> Vec<Vec<u8>> {
    let request: Value = serde_json::from_slice(request).unwrap();
    let decode = |text: &Value| hammer_tlog::encoding::from_base64(text.as_str().unwrap()).unwrap();
    request["chain"].as_array().unwrap().iter().map(decode).collect()
}

#[tokio::test]
async fn every_recorded_request_gets_the_recorded_status_type_and_text() {
    let lab = lab().await;
    for case in cases() {
        let recorded = tesseract(&format!("{case}.response"));
        let status = String::from_utf8(tesseract(&format!("{case}.status"))).unwrap();
        let url = format!("{}/ct/v1/{}", lab.url, endpoint(&case));
        let answer = post(&url, tesseract(&format!("{case}.request.json"))).await;
        let content_type = answer.header("content-type").unwrap_or_default();
        assert!(
            status.starts_with(&format!("{} {content_type} ", answer.status.as_u16())),
            "{case}: {status}"
        );
        if answer.status == 200 {
            let (ours, theirs): (Value, Value) = (answer.json(), serde_json::from_slice(&recorded).unwrap());
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(&ours), keys(&theirs), "{case}");
            assert_eq!(ours["extensions"], theirs["extensions"], "{case}: the leaf index");
        } else {
            assert_eq!(answer.text(), String::from_utf8_lossy(&recorded), "{case}");
        }
    }
    assert_eq!((lab.stats().accepted, lab.stats().distinct), (6, 5));
    lab.shutdown().await;
}

#[tokio::test]
async fn the_roots_are_answered_as_recorded() {
    let lab = lab().await;
    let answer = get(&format!("{}/ct/v1/get-roots", lab.url)).await;
    let recorded: GetRoots = serde_json::from_slice(&tesseract("15-get-roots.response")).unwrap();
    assert_eq!(answer.json::<GetRoots>(), recorded);
    assert!(lab.roots().eq([tesseract("root.der")]));
    lab.shutdown().await;
}

/// The log's own rebuilding of entries, held against signatures of the real log by its key: the recorded SCTs verify
/// over what tlog rebuilds, and ours verify over the same.
#[tokio::test]
async fn scts_of_the_lab_and_of_the_real_log_cover_the_same_entries() {
    let lab = lab().await;
    let ours = LogKey::from_der(lab.log_key_spki()).unwrap();
    let key = String::from_utf8(tesseract("log-public-key.b64")).unwrap();
    let theirs = LogKey::from_base64(key.trim()).unwrap();
    for case in cases().iter().filter(|case| case.as_str() < "07") {
        let request = tesseract(&format!("{case}.request.json"));
        let mut chain = chain_of(&request);
        chain.push(tesseract("root.der"));
        let precert = endpoint(case) == "add-pre-chain";
        let kind = if precert { EntryType::Precert } else { EntryType::X509 };
        let entry = precert::signed_entry(&chain, kind).unwrap();
        Sct::from_json(&tesseract(&format!("{case}.response")))
            .unwrap()
            .verify(&theirs, entry.by_ref())
            .unwrap();
        let answer = post(&format!("{}/ct/v1/{}", lab.url, endpoint(case)), request).await;
        Sct::from_json(&answer.body).unwrap().verify(&ours, entry.by_ref()).unwrap();
    }
    lab.shutdown().await;
}
