//! What the services tell of themselves.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use hammer_lab::{
    date::civil,
    serve::answer::{self, AnswerBody},
};
use http::{
    HeaderMap, HeaderValue, Response,
    header::{CACHE_CONTROL, EXPIRES},
};

use crate::{accept, go_json, plan::Release, problem::Answered};

/// The paths of the documents, of which the last is that of the management service.
pub(crate) const PROVISIONING: &str = "/.well-known/veraison/provisioning";
pub(crate) const VERIFICATION: &str = "/.well-known/veraison/verification";
pub(crate) const MANAGEMENT: &str = "/.well-known/veraison/management";

/// The documents of one release and key.
#[derive(Debug)]
pub(crate) struct Discovery {
    release: Release,
    ready: Documents,
    initializing: Documents,
}

/// One for each service.
#[derive(Debug)]
struct Documents {
    provisioning: Bytes,
    verification: Bytes,
    management: Bytes,
}

impl Discovery {
    /// The documents with this public key, uncompressed (SEC 1 section 2.3.3).
    pub(crate) fn new(release: Release, key: &[u8; 65]) -> Self {
        let documents = |state| Documents::new(release, key, state);
        Self { release, ready: documents("READY"), initializing: documents("INITIALIZING") }
    }

    /// The document at this path, which is one of them, at `unix_seconds`.
    pub(crate) fn document(
        &self,
        path: &str,
        headers: &HeaderMap,
        is_ready: bool,
        unix_seconds: u64,
    ) -> Answered {
        accept::check(headers, &[DISCOVERY_TYPE, "application/json"])?;
        let documents = if is_ready { &self.ready } else { &self.initializing };
        let body = match path {
            PROVISIONING => &documents.provisioning,
            VERIFICATION => &documents.verification,
            _ => &documents.management,
        };
        let answer = answer::ok(DISCOVERY_TYPE, body.clone());
        Ok(match self.release {
            Release::V2502 => answer,
            Release::V2608 => cached(answer, unix_seconds),
        })
    }
}

impl Documents {
    fn new(release: Release, key: &[u8; 65], state: &str) -> Self {
        let shared = format!(r#""version":"{}","service-state":"{state}""#, release.version());
        let types = go_json::strings(release.corim_types());
        let provisioning = format!(
            r#"{{"media-types":{types},{shared},"api-endpoints":{{"provisioningSubmit":"/endorsement-provisioning/v1/submit"}}}}"#
        );
        let types = go_json::strings(release.evidence_types());
        let [x, y] = [&key[1..33], &key[33..]].map(|half| URL_SAFE_NO_PAD.encode(half));
        let jwk = format!(r#"{{"alg":"ES256","crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let verification = format!(
            r#"{{"ear-verification-key":{jwk},"media-types":{types},{shared},"api-endpoints":{{"newChallengeResponseSession":"/challenge-response/v1/newSession"}}}}"#
        );
        let management =
            format!(r#"{{"attestation-schemes":{SCHEMES},{shared},"api-endpoints":{{{MANAGED}}}}}"#);
        let [provisioning, verification, management] =
            [provisioning, verification, management].map(Bytes::from);
        Self { provisioning, verification, management }
    }
}

/// The same for a minute.
fn cached(mut answer: Response<AnswerBody>, unix_seconds: u64) -> Response<AnswerBody> {
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=60"));
    if let Ok(expires) = HeaderValue::from_str(&expires(unix_seconds + 60)) {
        headers.insert(EXPIRES, expires);
    }
    answer
}

/// `Sat, 21 Nov 2026 06:41:19 UTC`: not quite the date that HTTP asks for (RFC 9110 section 5.6.7), but what is answered.
fn expires(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let (year, month, day) = civil(days);
    // The first day of 1970 was a Thursday.
    let weekday = WEEKDAYS[days as usize % 7];
    let month = MONTHS[month as usize - 1];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} UTC")
}

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DISCOVERY_TYPE: &str = "application/vnd.veraison.discovery+json";
const SCHEMES: &str = r#"["riot","ARM_CCA","TPM_ENACTTRUST","PARSEC_TPM","PSA_IOT","PARSEC_CCA"]"#;
const MANAGED: &str = r#""activatePolicy":"/management/v1/policy/:scheme/:uuid/activate","createPolicy":"/management/v1/policy/:scheme","deactivatePolicies":"/management/v1/policies/:scheme/deactivate","getActivePolicy":"/management/v1/policy/:scheme","getPolicies":"/management/v1/policies/:scheme","getPolicy":"/management/v1/policy/:scheme/:uuid""#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_expires_at_a_date_of_the_services_own_form() {
        assert_eq!(expires(1_795_243_279), "Sat, 21 Nov 2026 06:41:19 UTC");
        assert_eq!(expires(951_782_400), "Tue, 29 Feb 2000 00:00:00 UTC");
    }
}
