//! What a plan says about keys, expiry and cross-signed chains, with certificates made by OpenSSL.

use std::{fs, sync::Arc, time::Duration};

use hammer_lab::{CtLabHandle, CtLabPlan, LogConfig, ManualClock};
use hammer_tlog::ct::sct::Sct;

use crate::{
    chains::{body, openssl, testdata},
    client::post,
    ct_log::quick_plan,
};

async fn start_with_openssl_roots(plan: CtLabPlan, clock: Option<ManualClock>) -> CtLabHandle {
    let roots = ["p256-root", "rsa-root"].map(|name| testdata(&format!("openssl/{name}.pem")));
    let plan = CtLabPlan { roots_pem_files: roots.into(), ..plan };
    let config = LogConfig::from_plan(plan).unwrap();
    match clock {
        Some(clock) => CtLabHandle::start_with_clock(config, Arc::new(clock)).await.unwrap(),
        None => CtLabHandle::start(config).await.unwrap(),
    }
}

#[tokio::test]
async fn one_leaf_through_two_issuers_is_one_entry() {
    let lab = start_with_openssl_roots(quick_plan(), None).await;
    let mut answers = Vec::new();
    for names in [
        &["p256-leaf", "p256-int"][..],
        &["p256-leaf", "p256-int", "p256-root"],
        &["p256-leaf", "p256-int", "p256-root-cross"],
        &["p256-leaf", "p256-int", "p256-root-cross", "rsa-root"],
    ] {
        let answer = post(&format!("{}/ct/v1/add-chain", lab.url), body(&openssl(names))).await;
        let sct = Sct::from_json(&answer.body).unwrap();
        answers.push((sct.timestamp_ms, sct.leaf_index().unwrap()));
    }
    assert_eq!(answers, [answers[0]; 4]);
    assert_eq!(lab.stop().tree_size, 1);
}

#[tokio::test]
async fn expired_and_unexpired_leaves_are_refused_where_the_plan_says_so() {
    // `expired` ended in 2026, the others end in 2048; it is 2030.
    let year_2030_ms = 1_893_456_000_000;
    let reject_expired = CtLabPlan { reject_expired: true, ..quick_plan() };
    let reject_unexpired = CtLabPlan { reject_unexpired: true, ..quick_plan() };
    for (plan, refused, taken, words) in [
        (reject_expired, "expired", "p256-leaf", "rejecting expired certificate"),
        (reject_unexpired, "p256-leaf", "expired", "rejecting unexpired certificate"),
    ] {
        let clock = ManualClock::at_unix_ms(year_2030_ms);
        let lab = start_with_openssl_roots(plan, Some(clock.clone())).await;
        let url = format!("{}/ct/v1/add-chain", lab.url);
        let answer = post(&url, body(&openssl(&[refused, "p256-int"]))).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains(words), "{}", answer.text());
        let taken = tokio::spawn(async move { post(&url, body(&openssl(&[taken, "p256-int"]))).await });
        crate::faults::advance_until(&clock, Duration::from_millis(5), || taken.is_finished()).await;
        assert_eq!(taken.await.unwrap().status, 200);
        lab.shutdown().await;
    }
}

#[tokio::test]
async fn the_logs_key_is_read_in_either_form() {
    let public = fs::read(testdata("openssl/log-key-public.der")).unwrap();
    for form in ["sec1", "pkcs8"] {
        let private_key = Some(testdata(&format!("openssl/log-key-{form}.pem")));
        let lab = start_with_openssl_roots(CtLabPlan { private_key, ..quick_plan() }, None).await;
        assert_eq!(lab.log_key_spki(), public, "{form}");
        lab.shutdown().await;
    }
}

#[test]
fn unreadable_files_are_named() {
    let missing = CtLabPlan { roots_pem_files: vec!["no/such/file.pem".into()], ..CtLabPlan::default() };
    let error = LogConfig::from_plan(missing).unwrap_err().to_string();
    assert!(error.starts_with("read no/such/file.pem: "), "{error}");
    let not_pem = CtLabPlan { roots_pem_files: vec![testdata("tesseract/root.der")], ..CtLabPlan::default() };
    assert!(LogConfig::from_plan(not_pem).is_err());
    let text = CtLabPlan { roots_pem_files: vec![testdata("README.md")], ..CtLabPlan::default() };
    let error = LogConfig::from_plan(text).unwrap_err().to_string();
    assert!(error.contains("no certificate in it"), "{error}");
}

#[test]
fn a_date_that_is_none_is_refused() {
    let error =
        serde_json::from_str::<CtLabPlan>(r#"{"not_after_start": "tomorrow"}"#).unwrap_err().to_string();
    assert!(error.starts_with("`tomorrow` is no date since 1970 "), "{error}");
}
