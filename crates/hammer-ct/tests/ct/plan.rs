//! Plans of submissions and reads.

use hammer_ct::{CtError, CtTargetPlan, LogKind, PublicKey, ReadPlan, SubmitPlan};

use crate::harness::TestRun;

const KEY: &str = include_str!("../../testdata/log-public-key.b64");

fn key() -> PublicKey {
    KEY.to_owned().try_into().unwrap()
}

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
    plan.public_key = Some(key());
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
        CtTargetPlan { public_key: Some(key()), ..from_file }.target(),
        Err(CtError::Both { .. })
    ));
}

#[test]
fn a_log_of_static_ct_is_read_in_a_folder_where_its_url_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let read_in = |folder: &std::path::Path| {
        let url = format!(
            r#"{{"submission_url":"http://127.0.0.1/log","monitoring_url":"file://{}"}}"#,
            folder.display()
        );
        CtTargetPlan { public_key: Some(key()), ..target(&url) }
    };
    assert_eq!(read_in(folder.path()).target().unwrap().folder.as_deref(), Some(folder.path()));
    // One that is not there, and a file.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [folder.path().join("absent"), file] {
        let refused = read_in(&path).target().unwrap_err();
        assert_eq!(refused.key(), Some("monitoring_url"));
        assert!(refused.to_string().starts_with(&format!("read a log in the folder {}: ", path.display())));
    }
    for (kind, urls) in
        [("rfc6962", r#""file:///srv/log""#), ("static-ct", r#"["file:///srv/log","http://127.0.0.1/log"]"#)]
    {
        let text =
            format!(r#"{{"kind":"{kind}","submission_url":"http://127.0.0.1/log","monitoring_url":{urls}}}"#);
        let plan = CtTargetPlan { public_key: Some(key()), ..target(&text) };
        assert!(matches!(plan.target(), Err(CtError::Url { key: "monitoring_url", .. })), "{text}");
    }
}

#[test]
fn a_target_that_cannot_be_is_refused_by_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let file = format!(r#""public_key_file":"{}""#, empty.display());
    let key = format!(r#""public_key":"{}""#, KEY.trim());
    for (keys, at) in [
        (String::new(), "submission_url"),
        (r#""submission_url":"http://127.0.0.1/log""#.to_owned(), "public_key"),
        (format!(r#""submission_url":"http://127.0.0.1/log",{file}"#), "public_key_file"),
        (
            r#""submission_url":"http://127.0.0.1/log","public_key_file":"/nonexistent/key""#.to_owned(),
            "public_key_file",
        ),
        (format!(r#""submission_url":"http://127.0.0.1/log",{key},{file}"#), "public_key_file"),
        (
            format!(
                r#""submission_url":"http://127.0.0.1/log",{key},"monitoring_token_file":"/nonexistent/token""#
            ),
            "monitoring_token_file",
        ),
        (
            format!(
                r#""submission_url":"http://127.0.0.1/log",{key},"submission_token_file":"a","submission_token_env":"B""#
            ),
            "submission_token_env",
        ),
    ] {
        let error = target(&format!("{{{keys}}}")).target().unwrap_err();
        assert_eq!(error.key(), Some(at), "{keys}: {error}");
    }
}

#[test]
fn a_value_that_cannot_be_is_not_read() {
    for nonsense in [
        r#"{"name":"a b"}"#,
        r#"{"submission_url":"ftp://127.0.0.1/log"}"#,
        r#"{"submission_url":["http://127.0.0.1/log","log"]}"#,
        r#"{"monitoring_url":"log"}"#,
        r#"{"public_key":"AAAA"}"#,
        r#"{"not_after_start":"soon"}"#,
        r#"{"mmd":5}"#,
    ] {
        assert!(serde_json::from_str::<CtTargetPlan>(nonsense).is_err(), "{nonsense}");
    }
    for nonsense in [
        r#"{"not_before":"soon"}"#,
        r#"{"profiles":{"dv-p521-chain2":1}}"#,
        r#"{"profiles":{"dv-p256-chain2":0}}"#,
        r#"{"precert_percent":101}"#,
        r#"{"logs":["a.b"]}"#,
    ] {
        assert!(serde_json::from_str::<SubmitPlan>(nonsense).is_err(), "{nonsense}");
    }
}

#[test]
fn dates_that_only_a_run_can_put_in_order_are_refused_by_their_key() {
    let run = TestRun::new().ct();
    for (text, at) in [
        (r#"{"not_before":"2026-01-01","not_after":"-20000d"}"#, "not_after"),
        (r#"{"not_after":"-90000d"}"#, "not_after"),
        (r#"{"not_after_until":"1971-01-01"}"#, "not_after_until"),
    ] {
        let plan: SubmitPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.minter_spec(&run).unwrap_err().key(), Some(at), "{text}");
    }
}
