//! Requests for timestamps in the JSON that Sigstore's server takes as well as DER, and how it refuses either.

use hammer_lab_authority::timestamp::ImprintHash;
use hammer_lab_authority::timestamp_query::{StampRefusal, StampRequest};
use hammer_tlog::encoding::Base64;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Why a request is refused, as the server says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestRefusal(pub(super) &'static str);

impl From<StampRefusal> for RequestRefusal {
    fn from(refusal: StampRefusal) -> Self {
        match refusal {
            StampRefusal::Form | StampRefusal::UnknownHash => GENERIC,
            StampRefusal::WeakHash => WEAK_HASH,
            StampRefusal::ImprintLength => WRONG_LENGTH,
            StampRefusal::Policy => OTHER_POLICY,
            StampRefusal::Extensions => EXTENSIONS,
        }
    }
}

/// The hash of that name.
fn hash_of_name(name: &str) -> Result<ImprintHash, RequestRefusal> {
    match name.to_ascii_lowercase().as_str() {
        "sha256" => Ok(ImprintHash::Sha256),
        "sha384" => Ok(ImprintHash::Sha384),
        "sha512" => Ok(ImprintHash::Sha512),
        "sha1" => Err(WEAK_HASH),
        _ => Err(GENERIC),
    }
}

/// Reads the JSON form: names of hashes, the imprint in base64, the nonce a decimal number of any length.
pub(super) fn from_json(bytes: &[u8]) -> Result<StampRequest, RequestRefusal> {
    if bytes.len() > MOST_JSON {
        return Err(TOO_LARGE);
    }
    let request: JsonRequest<'_> = serde_json::from_slice(bytes).map_err(|_| GENERIC)?;
    let hash = hash_of_name(&request.hash_algorithm)?;
    let nonce = match request.nonce.map(RawValue::get) {
        None => None,
        Some(digits) => Some(integer_content(digits).ok_or(GENERIC)?),
    };
    let is_policy = ["", POLICY_TEXT].contains(&request.tsa_policy_oid.as_str());
    let (imprint, certificates) = (request.artifact_hash.0, request.certificates);
    Ok(StampRequest { hash, imprint, nonce, certificates }.accepted(is_policy, false)?)
}

/// The content of an `INTEGER` from decimal digits; none where they are no number that is not negative.
fn integer_content(digits: &str) -> Option<Vec<u8>> {
    let mut little_endian = vec![0_u8];
    for digit in digits.bytes() {
        let mut carry = u32::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        for byte in &mut little_endian {
            carry += u32::from(*byte) * 10;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            little_endian.push(carry as u8);
        }
    }
    if little_endian.last().is_some_and(|first| first & 0x80 != 0) {
        little_endian.push(0);
    }
    little_endian.reverse();
    Some(little_endian)
}

/// The body of a request in JSON; unknown fields are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonRequest<'a> {
    #[serde(default)]
    artifact_hash: Base64,
    #[serde(default)]
    certificates: bool,
    #[serde(default)]
    hash_algorithm: String,
    #[serde(borrow)]
    nonce: Option<&'a RawValue>,
    #[serde(default, rename = "tsaPolicyOID")]
    tsa_policy_oid: String,
}

/// The content of 1.3.6.1.4.1.57264.2, the one policy.
pub(super) const POLICY: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x02];
const POLICY_TEXT: &str = "1.3.6.1.4.1.57264.2";
/// Bytes of the longest request in JSON.
const MOST_JSON: usize = 1024;

/// What the server says where it has nothing better to say.
pub(super) const GENERIC: RequestRefusal = RequestRefusal("Error generating timestamp response");
const TOO_LARGE: RequestRefusal = RequestRefusal("timestamp request is too large");
const WEAK_HASH: RequestRefusal = RequestRefusal("Weak hash algorithm in timestamp request");
const WRONG_LENGTH: RequestRefusal =
    RequestRefusal("Message digest has incorrect length for specified algorithm");
const OTHER_POLICY: RequestRefusal =
    RequestRefusal("unaccepted policy: requested TSA policy is not supported by the TSA");
const EXTENSIONS: RequestRefusal =
    RequestRefusal("unaccepted extension: requested extensions are not supported by the TSA");

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};

    use super::*;

    const RECORDED_JSON: &[u8] = include_bytes!("../../testdata/tsa/request.json");

    fn json_of(text: &str) -> Result<StampRequest, RequestRefusal> {
        from_json(text.as_bytes())
    }

    #[test]
    fn a_recorded_request_in_json_is_read_whole() {
        let request = from_json(RECORDED_JSON).unwrap();
        assert_eq!(request.hash, ImprintHash::Sha256);
        assert_eq!(request.imprint[..2], [0xdf, 0xa3]);
        assert_eq!(request.nonce.unwrap(), 1_123_343_434_u32.to_be_bytes());
        assert!(request.certificates);
    }

    #[test]
    fn json_is_refused_for_what_is_wrong_with_it() {
        let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let whole = format!(r#"{{"artifactHash":"{hash}","hashAlgorithm":"SHA256"}}"#);
        assert!(json_of(&whole).is_ok());
        for (text, refusal) in [
            (whole.replace("SHA256", "sha1"), WEAK_HASH),
            (whole.replace("SHA256", "md5"), GENERIC),
            (whole.replace("SHA256", "sha512"), WRONG_LENGTH),
            (whole.replace(hash, "!"), GENERIC),
            (whole.replace('}', r#","tsaPolicyOID":"1.2.3"}"#), OTHER_POLICY),
            (whole.replace('}', r#","nonce":-1}"#), GENERIC),
            (whole.replace('}', r#","nonce":1.5}"#), GENERIC),
            (whole.replace('}', &" ".repeat(1024)), TOO_LARGE),
            ("{".to_owned(), GENERIC),
        ] {
            assert_eq!(json_of(&text), Err(refusal), "{text}");
        }
    }

    #[test]
    fn a_decimal_nonce_of_any_length_becomes_an_integer() {
        for (digits, content) in [
            ("0", &[0][..]),
            ("127", &[0x7f]),
            ("128", &[0, 0x80]),
            ("256", &[1, 0]),
            ("18446744073709551616", &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(integer_content(digits).unwrap(), content, "{digits}");
        }
        assert_eq!(integer_content("1e3"), None);
    }

    #[test]
    fn what_is_read_of_an_altered_request_has_an_imprint_of_its_hashs_length() {
        let mut mutator = Mutator::new(1);
        let mut read = 0;
        for _ in 0..cases(4000) {
            if let Ok(request) = from_json(&mutator.any(RECORDED_JSON, b"{\"nonce\":1}")) {
                assert_eq!(request.imprint.len(), request.hash.length());
                read += 1;
            }
        }
        assert!(read > 0);
    }
}
