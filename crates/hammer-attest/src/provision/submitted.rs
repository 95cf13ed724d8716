//! What provisioning says of a submission: HTTP 200 alone is no success.

use std::borrow::Cow;

use hammer_core::workload::Ended;
use hammer_measure::Outcome;
use hammer_rats::json_object;
use serde::Deserialize;

/// `application/vnd.veraison.provisioning-session+json`
#[derive(Deserialize)]
struct ProvisioningSession<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, rename = "failure-reason", default)]
    reason: Cow<'a, str>,
}

/// What an answer of provisioning with HTTP 200 says.
///
/// # Errors
/// How the operation ends where the device was not taken in, and the reason that the service gives; empty where it gives none.
pub fn submitted(body: &[u8]) -> Result<Ended, (Ended, &'_ str)> {
    let Ok(session) = json_object::read::<ProvisioningSession<'_>>(body) else {
        return Err((Ended::failed(Outcome::Malformed, "no provisioning session"), ""));
    };
    match (&*session.status, &session.reason) {
        ("success", _) => Ok(Ended::accepted(200)),
        ("failed", reason) if reason.contains(ALREADY) => Ok(Ended::failed(Outcome::Accepted, KNOWN)),
        ("failed", reason) => {
            let cause =
                CAUSES.iter().find(|(said, _)| reason.contains(said)).map_or(FAILED, |(_, cause)| cause);
            let reason = match reason {
                Cow::Borrowed(reason) => reason,
                Cow::Owned(_) => std::str::from_utf8(body).unwrap_or_default(),
            };
            Err((Ended::failed(Outcome::Refused, cause), reason))
        }
        _ => Err((Ended::failed(Outcome::Malformed, "provisioning neither succeeded nor failed"), "")),
    }
}

/// v0.0.2608: "token already in store".
const ALREADY: &str = "already in store";
/// What lies behind the acceptance of a device that is there already, as it would be behind a success.
pub const KNOWN: &str = "in store before";
const FAILED: &str = "failed with HTTP 200";
/// What stores were seen to fail by, and its name as a cause.
const CAUSES: [(&str, &str); 5] = [
    ("too many clients", "too many clients, with HTTP 200"),
    ("remaining connection slots", "too many clients, with HTTP 200"),
    ("database is locked", "database locked, with HTTP 200"),
    ("deadlock", "database deadlocked, with HTTP 200"),
    ("connection refused", "store unreachable, with HTTP 200"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::body;

    #[test]
    fn http_200_alone_is_no_success() {
        let of =
            |json: &str| submitted(json.as_bytes()).map_err(|(ended, reason)| (ended, reason.to_owned()));
        let refused = |cause, reason: &str| Err((Ended::failed(Outcome::Refused, cause), reason.to_owned()));
        assert_eq!(of(r#"{"status":"success","expiry":"2026-11-21T06:31:48Z"}"#), Ok(Ended::accepted(200)));
        let failed =
            |reason: &str| format!(r#"{{"status":"failed","expiry":"x","failure-reason":"{reason}"}}"#);
        assert_eq!(of(&failed("CBOR decoding failed")), refused(FAILED, "CBOR decoding failed"));
        let clients = "FATAL: sorry, too many clients already (SQLSTATE 53300)";
        assert_eq!(of(&failed(clients)), refused("too many clients, with HTTP 200", clients));
        let known = "submit endorsement returned error: submit endorsements failed: token already in store";
        assert_eq!(of(&failed(known)), Ok(Ended::failed(Outcome::Accepted, KNOWN)));
        for none in ["", "{}", "<html>", r#"{"status":"done"}"#] {
            assert_eq!(of(none).unwrap_err().0.outcome, Outcome::Malformed, "{none}");
        }
    }

    #[test]
    fn what_both_releases_answered_with_http_200_is_told_apart() {
        let of = |name: &str| {
            let body = body(name);
            submitted(&body).map_err(|(ended, reason)| (ended, reason.to_owned()))
        };
        assert_eq!(of("03-submit-unsigned"), Ok(Ended::accepted(200)));
        assert_eq!(of("v2608-03-submit-again"), Ok(Ended::failed(Outcome::Accepted, KNOWN)));
        for (name, why) in [
            ("e04-submit-garbage", "found Major Type 3"),
            ("v2608-e02-legacy-body", "did not see unsigned CoRIM tag"),
            ("v2608-e03-garbage", "did not see unsigned CoRIM tag"),
            ("v2608-e04-unsigned-as-signed", "invalid COSE_Sign1_Tagged object"),
            (
                "v2608-e05-profile-mismatch",
                "does not match media type profile (tag:arm.com,2025:cca_platform#1.0.0)",
            ),
        ] {
            let (ended, reason) = of(name).unwrap_err();
            assert_eq!(ended, Ended::failed(Outcome::Refused, FAILED));
            assert!(reason.ends_with(why), "{reason}");
        }
        // A problem is for its status to tell; it is no session.
        for name in ["e03-submit-empty-body", "e18-404", "04-newsession-nonce"] {
            assert_eq!(of(name).unwrap_err().0.outcome, Outcome::Malformed, "{name}");
        }
    }
}
