//! What entries name and the log has to serve beside them, whoever asks for it.

use std::sync::atomic::{AtomicU64, Ordering};

use hammer_lab::ct::Flavour;
use serde_json::{Value, json};

use crate::front::{Passed, front, read};
use crate::log::Log;
use crate::{hammer_at, is_believed, run, target};

/// The log behind a front that answers the first requests for issuers with that status.
fn without_issuers(log: &Log, status: u16, requests: u64) -> String {
    let asked = AtomicU64::new(0);
    front(&log.lab.url, move |path| match path.starts_with("/issuer/") {
        true if asked.fetch_add(1, Ordering::Relaxed) < requests => Passed::Refused(status),
        _ => Passed::On,
    })
}

#[test]
fn reads_tell_an_issuer_that_stays_away_and_no_other() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let args = ["-q", "30/s", "-z", "2s", "--mix", "bundle=1,issuer=2", "--out", "-"];
    is_believed(&hammer_at(&log, &without_issuers(&log, 404, 5), "read", &args).report());
    let report = hammer_at(&log, &without_issuers(&log, 404, u64::MAX), "read", &args).report();
    let promises = &report.promises.all;
    assert_eq!((report.verdict.exit_code, promises.unchecked), (4, 0), "{promises:?}");
    assert!(report.breaches.iter().all(|breach| breach.kind == "missing-issuer" && breach.seq.is_some()));
    let refused = report.totals.all.fates.refused;
    assert!(refused > 0 && promises.broken == refused, "{promises:?} of {refused}");
}

#[test]
fn a_run_whose_issuers_cannot_be_read_to_the_end_is_not_believed() {
    for (requests, exit_code) in [(3, 0), (u64::MAX, 5)] {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        let url = without_issuers(&log, 500, requests);
        let report = run(&json!({
            "target": target(&log, &url),
            "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
            "phases": { "measurement": "2s", "drain": "20s" },
        }));
        assert_eq!(report.verdict.exit_code, exit_code, "{}", report.verdict);
        let is_said = report.verdict.to_string().contains("of audited entries not read");
        assert_eq!(is_said, exit_code == 5, "{}", report.verdict);
        assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    }
}

#[test]
fn an_audit_tells_what_stands_beside_a_leaf_and_cannot_be_read() {
    let log = Log::of(Flavour::Rfc6962, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let url = log.lab.url.clone();
    let front = front(&log.lab.url, move |path| match path.starts_with("/ct/v1/get-entries") {
        true => {
            let mut answer: Value = serde_json::from_slice(&read(&url, path)).unwrap();
            let start: usize =
                path.split("start=").nth(1).unwrap().split('&').next().unwrap().parse().unwrap();
            for index in [5, 7] {
                if let Some(entry) =
                    usize::checked_sub(index, start).and_then(|at| answer["entries"].get_mut(at))
                {
                    entry["extra_data"] = json!(if index == 5 { "" } else { "AAAA////" });
                }
            }
            Passed::Answered(answer.to_string().into_bytes())
        }
        false => Passed::On,
    });
    let args = ["ct", "audit", &front, "--key", &log.key, "--kind", "rfc6962", "--json"];
    let ended = crate::hammer(&args);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let flaws: Vec<_> =
        found["flaws"].as_array().unwrap().iter().map(|flaw| (&flaw["kind"], &flaw["index"])).collect();
    let kind = json!("altered-chain");
    assert_eq!((ended.code, flaws), (4, vec![(&kind, &json!(5)), (&kind, &json!(7))]), "{found}");
    assert_eq!(log.hammer("audit", &[]).code, 0);
}
