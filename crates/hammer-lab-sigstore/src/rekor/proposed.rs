//! What is proposed: read, verified, and made canonical as Rekor stores it (RFC 8785).

pub(crate) mod canonical_entry;
mod dsse;
mod hashedrekord;
mod rfc3161;
mod timestamp;

use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use super::refusal::RekorRefusal;

use canonical_entry::{CanonicalEntry, VERSION};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProposedEntry {
    kind: Option<String>,
    api_version: Option<String>,
    spec: Option<Value>,
}

/// Reads the body of `POST /api/v1/log/entries`.
pub(crate) fn propose(body: &[u8]) -> Result<CanonicalEntry, RekorRefusal> {
    let proposed: ProposedEntry = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
    let kind = proposed.kind.ok_or_else(|| RekorRefusal::required("kind in body"))?;
    let canonicalize = match kind.as_str() {
        hashedrekord::KIND => hashedrekord::canonical,
        dsse::KIND => dsse::canonical,
        rfc3161::KIND => rfc3161::canonical,
        _ => return Err(RekorRefusal::schema(422, format!("invalid kind value: {kind:?}"))),
    };
    let version = proposed.api_version.ok_or_else(|| RekorRefusal::required("apiVersion in body"))?;
    let spec = proposed.spec.ok_or_else(|| RekorRefusal::required("spec in body"))?;
    if version != VERSION {
        let reason = format!("{kind} implementation for version '{version}' not found");
        return Err(RekorRefusal::entry(reason));
    }
    canonicalize(spec)
}

/// A body that is no JSON, as Go's decoder says it.
fn unreadable(error: &serde_json::Error) -> RekorRefusal {
    let message = if error.is_eof() { "unexpected EOF".to_owned() } else { error.to_string() };
    let status =
        if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::INTERNAL_SERVER_ERROR };
    RekorRefusal::of(status, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (u16, u16, String) {
        let refusal = propose(body.as_bytes()).unwrap_err();
        (refusal.status.as_u16(), refusal.code, refusal.message)
    }

    #[test]
    fn what_breaks_the_schema_is_told_by_the_rule_that_it_breaks() {
        assert_eq!(refusal("{"), (500, 500, "unexpected EOF".to_owned()));
        assert_eq!(refusal("{}"), (422, 602, "kind in body is required".to_owned()));
        assert_eq!(refusal(r#"{"kind":"x"}"#), (422, 422, "invalid kind value: \"x\"".to_owned()));
        assert_eq!(refusal(r#"{"kind":"dsse"}"#).2, "apiVersion in body is required");
        assert_eq!(refusal(r#"{"kind":"dsse","apiVersion":"0.0.1"}"#).2, "spec in body is required");
        let other = refusal(r#"{"kind":"dsse","apiVersion":"0.0.9","spec":{}}"#);
        assert_eq!((other.0, other.1), (400, 400));
    }
}
