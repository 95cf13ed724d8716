//! What later requests of a flow have from an answer.

use hammer_exchange::ServiceClient;
use hammer_measure::credential::{is_credential, is_credential_parameter};
use hammer_net::Answer;
use hammer_values::JsonPlace;
use http::header::{HeaderName, LOCATION, SET_COOKIE};
use http::uri::PathAndQuery;
use serde_json::Value;

use crate::plan::Extraction;
use crate::pool::text_of;

/// Something that is taken from an answer, and its place among what an operation has taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) slot: usize,
    /// By which later requests have it.
    pub(crate) name: String,
    from: Extraction,
    /// Nobody may read it in a report.
    pub(crate) is_secret: bool,
}

impl Taken {
    /// What is taken by that name.
    pub(crate) fn new(name: &str, from: &Extraction, slot: usize) -> Self {
        let is_secret = match from {
            Extraction::Cookie(_) => true,
            Extraction::Header(header) => {
                is_credential(header.name().as_str()) || is_credential_parameter(name)
            }
            Extraction::Json(place) => {
                let mut members = place.as_str().split(['/', '.', '[', ']', '\'', '"']);
                members.any(is_credential_parameter) || is_credential_parameter(name)
            }
            Extraction::Location => false,
        };
        Self { slot, name: name.to_owned(), from: from.clone(), is_secret }
    }

    /// The header that it is in.
    pub(crate) fn header(&self) -> Option<HeaderName> {
        match &self.from {
            Extraction::Header(header) => Some(header.name().clone()),
            Extraction::Cookie(_) => Some(SET_COOKIE),
            Extraction::Location => Some(LOCATION),
            Extraction::Json(_) => None,
        }
    }

    /// Whether it is in a body that is JSON.
    pub(crate) fn is_of_json(&self) -> bool {
        matches!(self.from, Extraction::Json(_))
    }

    /// Puts it into `out`; false where the answer does not have it.
    pub(crate) fn take(
        &self,
        answer: &Answer,
        json: Option<&Value>,
        (service, base): (&ServiceClient, &PathAndQuery),
        out: &mut Vec<u8>,
    ) -> bool {
        out.clear();
        let found = match &self.from {
            Extraction::Json(place) => json.and_then(|json| of_json(place, json, out)),
            Extraction::Header(header) => {
                answer.headers.get(header.name()).map(|value| out.extend_from_slice(value.as_bytes()))
            }
            Extraction::Cookie(name) => {
                let set = answer.headers.get_all(SET_COOKIE).iter();
                // The last one replaces those before it (RFC 6265 section 5.3), and one without a value takes it away.
                let value = set.filter_map(|set| cookie(set.as_bytes(), name.as_bytes())).next_back();
                value.filter(|value| !value.is_empty()).map(|value| out.extend_from_slice(value))
            }
            Extraction::Location => location(answer, service, base, out),
        };
        found.is_some()
    }
}

fn of_json(place: &JsonPlace, json: &Value, out: &mut Vec<u8>) -> Option<()> {
    let found = place.find(json).filter(|found| !found.is_null())?;
    out.extend_from_slice(&text_of(found));
    Some(())
}

/// The value of the cookie of that name, as a header sets it (RFC 6265 section 5.2).
fn cookie<'a>(set: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let pair = set.split(|byte| *byte == b';').next()?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (own, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    (own == name).then_some(value)
}

/// Behind the path of the service's URL, before which the next request's path is put again.
fn location(answer: &Answer, service: &ServiceClient, base: &PathAndQuery, out: &mut Vec<u8>) -> Option<()> {
    // What it is relative to is known of the request alone, and not of where that was sent on to.
    if answer.redirects > 0 {
        return None;
    }
    let location = answer.headers.get(LOCATION)?.to_str().ok()?;
    let path = service.path_of_location(location, base)?;
    let prefix = service.path("").ok()?;
    let prefix = if prefix.as_str() == "/" { "" } else { prefix.as_str() };
    // Another path that starts alike is none below it.
    let below = path
        .as_str()
        .strip_prefix(prefix)
        .filter(|below| below.is_empty() || below.starts_with(['/', '?']))?;
    out.extend_from_slice(below.as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_known_by_its_name_alone() {
        let value = |set: &'static str| {
            cookie(set.as_bytes(), b"sid").map(|value| std::str::from_utf8(value).unwrap())
        };
        assert_eq!(value("sid=a=b; Path=/; HttpOnly"), Some("a=b"));
        assert_eq!(value(" sid = \"x y\" ;a=b"), Some("\"x y\""));
        assert_eq!(value("sid="), Some(""));
        for other in ["SID=a", "sid2=a", "a=b; sid=c", "sid", ""] {
            assert_eq!(value(other), None, "{other}");
        }
    }
}
