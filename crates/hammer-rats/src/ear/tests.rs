//! Claims that servers write in another way than the recorded ones.

use serde_json::{Value, json};

use super::*;

fn claims(change: impl FnOnce(&mut Value)) -> Result<AttestationResult, EarError> {
    let mut claims = json!({
        "ear.verifier-id": { "build": "test", "developer": "test" },
        "eat_nonce": "-_-_-w==",
        "eat_profile": "tag:github.com,2023:veraison/ear",
        "iat": 1_795_242_950,
        "submods": { "PSA_IOT": {
            "ear.status": "contraindicated",
            "ear.veraison.annotated-evidence": { "psa-instance-id": "+/+/+w==" },
            "ear.veraison.policy-claims": { "problem": "why" },
        } },
    });
    change(&mut claims);
    let [header, claims] =
        [json!({ "alg": "ES256" }), claims].map(|part| BASE64_URL.encode(part.to_string()));
    let jwt = format!("{header}.{claims}.{}", BASE64_URL.encode([0; 64]));
    SignedResult::parse(&jwt)?.claims()
}

fn of_device(name: &str, claim: Value) -> Appraisal {
    let result = claims(|claims| claims["submods"]["PSA_IOT"][name] = claim).unwrap();
    result.appraisals.into_values().next().unwrap()
}

#[test]
fn a_nonce_is_read_in_either_alphabet_and_has_to_be_one() {
    let bytes = [0xfb, 0xff, 0xbf, 0xfb];
    for text in ["-_-_-w==", "-_-_-w", "+/+/+w=="] {
        let result = claims(|claims| claims["eat_nonce"] = json!(text)).unwrap();
        assert_eq!(result.nonce.as_deref(), Some(&bytes[..]), "{text}");
    }
    for none in [json!("no nonce"), json!(7)] {
        let refused = claims(|claims| claims["eat_nonce"] = none);
        assert!(matches!(refused, Err(EarError::Claims(_))), "{refused:?}");
    }
}

#[test]
fn what_a_policy_adds_may_be_of_any_type() {
    let problem = |claim| of_device("ear.veraison.policy-claims", claim).policy.unwrap().problem;
    assert_eq!(problem(json!({ "problem": "why" })).as_deref(), Some("why"));
    for other in [json!({ "problem": ["a", 7] }), json!({ "problem": null }), json!({ "checked": true })] {
        assert_eq!(problem(other), None);
    }
}

#[test]
fn evidence_that_is_repeated_in_another_way_says_nothing() {
    let instance = |claim| of_device("ear.veraison.annotated-evidence", claim).evidence.unwrap().instance_id;
    for text in ["+/+/+w==", "-_-_-w"] {
        assert_eq!(instance(json!({ "psa-instance-id": text })), Some(vec![0xfb, 0xff, 0xbf, 0xfb]));
    }
    for other in [json!({ "psa-instance-id": "01:23" }), json!({ "psa-instance-id": [1, 2] }), json!({})] {
        assert_eq!(instance(other), None);
    }
}

#[test]
fn an_error_tells_the_start_of_what_was_written() {
    let long = format!("\u{1b}[2J{}", "é".repeat(100_000));
    let header = json!({ "alg": long }).to_string();
    let algorithm = SignedResult::parse(&format!("{}.e30.AA", BASE64_URL.encode(header))).unwrap_err();
    let status = claims(|claims| claims["submods"]["PSA_IOT"]["ear.status"] = json!(long)).unwrap_err();
    for error in [algorithm, status] {
        let told = error.to_string();
        assert!(told.len() < 600 && told.contains("[2Jé") && !told.contains('\u{1b}'), "{told}");
    }
}
