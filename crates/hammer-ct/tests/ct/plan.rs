use hammer_ct::{CtError, CtTargetPlan, LogKind, ReadPlan, SubmitPlan};

use crate::harness::TestRun;

const KEY: &str = include_str!("../../testdata/log-public-key.b64");

fn target(text: &str) -> CtTargetPlan {
    serde_json::from_str(text).unwrap()
}

#[test]
fn plans_survive_their_own_text_and_refuse_unknown_keys() {
    let submit = r#"{"precert_percent":30,"profiles":{"dv-p256-chain2":8,"san100-rsa2048-chain3":1},"signer":"ed25519",
        "not_before":"2026-01-01","not_after":"+90d","ca":{"chain":"ca.pem","key":"key.pem"},"chains":["a.pem"]}"#;
    let plan: SubmitPlan = serde_json::from_str(submit).unwrap();
    assert_eq!(serde_json::from_str::<SubmitPlan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
    assert_eq!(serde_json::from_str::<SubmitPlan>("{}").unwrap(), SubmitPlan::default());
    let plan = target(r#"{"kind":"rfc6962","submission_url":["http://127.0.0.1/a","http://127.0.0.2/a"]}"#);
    assert_eq!(serde_json::from_str::<CtTargetPlan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
    assert!(serde_json::from_str::<SubmitPlan>(r#"{"precert_share":1}"#).is_err());
    assert!(serde_json::from_str::<CtTargetPlan>(r#"{"url":"http://127.0.0.1"}"#).is_err());
    assert!(serde_json::from_str::<ReadPlan>(r#"{"tiles":1}"#).is_err());
}

#[test]
fn what_a_target_leaves_out_follows_from_its_submission_url() {
    let mut plan = target(r#"{"submission_url":"https://127.0.0.1:8080/log/"}"#);
    plan.public_key = Some(KEY.to_owned());
    let log = plan.target().unwrap();
    assert_eq!((log.kind, log.origin.as_str()), (LogKind::StaticCt, "127.0.0.1/log"));
    assert_eq!(log.monitoring, log.submission);
    assert_eq!(log.skew.as_secs(), 60);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), KEY).unwrap();
    let from_file =
        CtTargetPlan { public_key: None, public_key_file: Some(file.path().to_owned()), ..plan.clone() };
    assert_eq!(from_file.target().unwrap().key, log.key);
    assert!(matches!(
        CtTargetPlan { public_key: Some(KEY.to_owned()), ..from_file }.target(),
        Err(CtError::Both { .. })
    ));
}

#[test]
fn a_log_of_static_ct_is_read_in_a_folder_where_its_url_is_one() {
    let mut plan = target(r#"{"submission_url":"http://127.0.0.1/log","monitoring_url":"file:///srv/log/"}"#);
    plan.public_key = Some(KEY.to_owned());
    assert_eq!(plan.target().unwrap().folder.as_deref(), Some(std::path::Path::new("/srv/log/")));
    for (kind, urls) in [
        ("rfc6962", r#""file:///srv/log""#),
        ("static-ct", r#""file:log""#),
        ("static-ct", r#""file://host/log""#),
        ("static-ct", r#"["file:///srv/log","http://127.0.0.1/log"]"#),
    ] {
        let text =
            format!(r#"{{"kind":"{kind}","submission_url":"http://127.0.0.1/log","monitoring_url":{urls}}}"#);
        let plan = CtTargetPlan { public_key: Some(KEY.to_owned()), ..target(&text) };
        assert!(matches!(plan.target(), Err(CtError::Url { key: "monitoring_url", .. })), "{text}");
    }
}

#[test]
fn a_target_that_cannot_be_is_refused_by_its_key() {
    for (text, named) in [
        ("{}", "submission_url"),
        (r#"{"submission_url":"http://127.0.0.1/log"}"#, "public_key"),
        (r#"{"submission_url":"ftp://127.0.0.1/log"}"#, "ftp://127.0.0.1/log"),
        (r#"{"submission_url":"http://127.0.0.1/log","monitoring_url":"log"}"#, "monitoring_url"),
        (r#"{"submission_url":"http://127.0.0.1/log","public_key":"AAAA"}"#, "public key"),
        (
            r#"{"submission_url":"http://127.0.0.1/log","public_key_file":"/nonexistent/key"}"#,
            "/nonexistent/key",
        ),
    ] {
        let error = target(text).target().unwrap_err().to_string();
        assert!(error.contains(named), "{text}: {error}");
    }
}

#[test]
fn a_submission_that_cannot_be_is_refused() {
    let run = TestRun::new().ct();
    for plan in [
        SubmitPlan { not_before: "soon".into(), ..SubmitPlan::default() },
        SubmitPlan { not_before: "+9d".into(), not_after: "+8d".into(), ..SubmitPlan::default() },
        SubmitPlan { profiles: [("dv-p521-chain2".to_owned(), 1)].into(), ..SubmitPlan::default() },
    ] {
        assert!(plan.minter_spec(&run).is_err(), "{plan:?}");
    }
}
