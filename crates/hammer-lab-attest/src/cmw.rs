//! Conceptual message wrappers (draft-ietf-rats-msg-wrap): records of a media type and a message.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;

use crate::{cbor, problem::Problem};

/// What such a wrapper holds: a media type, and evidence of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unwrapped {
    pub(crate) media_type: String,
    pub(crate) evidence: Bytes,
}

/// Unwraps evidence, where its media type is that of a wrapper; none where it is not.
///
/// # Errors
/// 400 of a wrapper that is none.
pub(crate) fn unwrapped(media_type: &str, body: &[u8]) -> Result<Option<Unwrapped>, Problem> {
    if !TYPES.contains(&media_type) {
        return Ok(None);
    }
    let record = if body.first() == Some(&b'[') { of_json(body) } else { of_cbor(body) };
    let unwrapped = record.map_err(|why| Problem::bad_request(format!("could not unwrap the CMW: {why}")))?;
    Ok(Some(unwrapped))
}

/// `["media/type", "base64url", indicator]`.
fn of_json(body: &[u8]) -> Result<Unwrapped, String> {
    let record: Vec<serde_json::Value> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let [media_type, value, ..] = record.as_slice() else { return Err(NO_RECORD.to_owned()) };
    let (media_type, value) = media_type.as_str().zip(value.as_str()).ok_or(NO_RECORD)?;
    let evidence = URL_SAFE_NO_PAD.decode(value).map_err(|error| error.to_string())?;
    Ok(Unwrapped { media_type: media_type.to_owned(), evidence: evidence.into() })
}

/// The same as an array of CBOR, whose value is a byte string.
fn of_cbor(body: &[u8]) -> Result<Unwrapped, String> {
    let record = cbor::read(body)?;
    let [media_type, value, ..] = record.as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(NO_RECORD.to_owned());
    };
    let record = media_type.as_text().zip(value.as_bytes());
    let (media_type, value): (&str, &Vec<u8>) = record.ok_or(NO_RECORD)?;
    Ok(Unwrapped { media_type: media_type.to_owned(), evidence: value.clone().into() })
}

const TYPES: [&str; 6] = [
    "application/cmw",
    "application/cmw+json",
    "application/cmw+cbor",
    "application/vnd.veraison.cmw",
    "application/vnd.veraison.cmw+cbor",
    "application/vnd.veraison.cmw+json",
];
const NO_RECORD: &str = "no record of a media type and a value";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_and_what_is_no_wrapper_stays_as_it_is() {
        let held = Unwrapped { media_type: "a/b".to_owned(), evidence: Bytes::from_static(b"\x01\xff") };
        for body in [br#"["a/b","Af8"]"#.as_slice(), br#"["a/b","Af8",4]"#, b"\x82\x63a/b\x42\x01\xff"] {
            assert_eq!(unwrapped("application/vnd.veraison.cmw", body), Ok(Some(held.clone())));
            assert_eq!(unwrapped("application/psa-attestation-token", body), Ok(None));
        }
        for body in ["", "[", "[]", r#"["a/b"]"#, r#"["a/b","?"]"#, r#"[1,"Af8"]"#, "\u{1}"] {
            assert!(unwrapped("application/cmw", body.as_bytes()).is_err(), "{body}");
        }
    }
}
