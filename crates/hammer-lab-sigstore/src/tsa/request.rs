//! Requests for timestamps: `TimeStampReq` (RFC 3161 section 2.4.1), and the JSON that Sigstore's server takes as well.

use hammer_lab_authority::timestamp::ImprintHash;
use hammer_tlog::{
    encoding::Base64,
    keys::der::{self, DerError, DerReader, Tlv, context},
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a timestamp is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StampRequest {
    pub(super) hash: ImprintHash,
    pub(super) imprint: Vec<u8>,
    /// The content of the nonce's `INTEGER`.
    pub(super) nonce: Option<Vec<u8>>,
    /// Whether the timestamp is to hold its signing certificate.
    pub(super) certificates: bool,
}

/// Why a request is refused, as the server says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestRefusal(pub(super) &'static str);

impl From<DerError> for RequestRefusal {
    fn from(_: DerError) -> Self {
        GENERIC
    }
}

/// The hash with that object identifier.
fn hash_of_oid(oid: &[u8]) -> Result<ImprintHash, RequestRefusal> {
    if oid == SHA1 {
        return Err(WEAK_HASH);
    }
    ImprintHash::ALL.into_iter().find(|hash| hash.oid() == oid).ok_or(GENERIC)
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

impl StampRequest {
    /// Reads the DER of a `TimeStampReq`.
    pub(super) fn from_der(bytes: &[u8]) -> Result<Self, RequestRefusal> {
        let mut fields = Tlv::parse(bytes, der::SEQUENCE)?.content();
        if fields.expect(der::INTEGER)?.value != [1] {
            return Err(GENERIC);
        }
        let mut imprint = fields.expect(der::SEQUENCE)?.content();
        let hash = imprint.expect(der::SEQUENCE)?.content().expect(der::OBJECT_IDENTIFIER)?.value;
        let hashed = imprint.expect(der::OCTET_STRING)?.value;
        imprint.finish()?;
        let policy = fields.optional(der::OBJECT_IDENTIFIER)?.map(|policy| policy.value);
        let nonce = fields.optional(der::INTEGER)?.map(|nonce| nonce.value.to_vec());
        let certificates = fields.optional(der::BOOLEAN)?.is_some_and(|asked| asked.value == [0xff]);
        let has_extensions = has_extensions(&mut fields)?;
        fields.finish()?;
        let hash = hash_of_oid(hash)?;
        let request = Self { hash, imprint: hashed.to_vec(), nonce, certificates };
        request.accepted(policy.is_none_or(|policy| policy == POLICY), has_extensions)
    }

    /// Reads the JSON form: names of hashes, the imprint in base64, the nonce a decimal number of any length.
    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, RequestRefusal> {
        if bytes.len() > MOST_JSON {
            return Err(TOO_LARGE);
        }
        let request: JsonRequest<'_> = serde_json::from_slice(bytes).map_err(|_| GENERIC)?;
        let hash = hash_of_name(&request.hash_algorithm)?;
        let nonce = match request.nonce.map(RawValue::get) {
            None => None,
            Some(digits) => Some(integer_content(digits).ok_or(GENERIC)?),
        };
        let imprint = request.artifact_hash.0;
        let accepted = ["", POLICY_TEXT].contains(&request.tsa_policy_oid.as_str());
        Self { hash, imprint, nonce, certificates: request.certificates }.accepted(accepted, false)
    }

    fn accepted(self, policy: bool, has_extensions: bool) -> Result<Self, RequestRefusal> {
        if self.imprint.len() != self.hash.length() {
            return Err(WRONG_LENGTH);
        }
        if !policy {
            return Err(OTHER_POLICY);
        }
        if has_extensions {
            return Err(EXTENSIONS);
        }
        Ok(self)
    }
}

fn has_extensions(fields: &mut DerReader<'_>) -> Result<bool, DerError> {
    Ok(fields.optional(context(0))?.is_some_and(|extensions| !extensions.value.is_empty()))
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
/// The content of 1.3.14.3.2.26.
const SHA1: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];
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
    use hammer_lab_authority::der::{NULL, element, octet_string, oid, sequence};

    const RECORDED: &[u8] = include_bytes!("../../testdata/tsa/request.tsq");
    const RECORDED_JSON: &[u8] = include_bytes!("../../testdata/tsa/request.json");

    /// A request for a timestamp over zeros, with whatever follows the imprint.
    fn der_of(hash: &[u8], length: usize, rest: &[&[u8]]) -> Vec<u8> {
        let hash = sequence(&[&oid(hash), NULL]);
        let imprint = sequence(&[&hash, &octet_string(&vec![0; length])]);
        sequence(&[&[&[2, 1, 1], imprint.as_slice()], rest].concat())
    }

    fn json_of(text: &str) -> Result<StampRequest, RequestRefusal> {
        StampRequest::from_json(text.as_bytes())
    }

    #[test]
    fn a_recorded_request_is_read_whole() {
        let request = StampRequest::from_der(RECORDED).unwrap();
        assert_eq!(request.hash, ImprintHash::Sha256);
        assert_eq!(request.imprint[..4], [0x6f, 0xda, 0xf7, 0x25]);
        assert_eq!(request.nonce.unwrap(), [0, 0xb8, 0xc9, 0xc9, 0xb5, 0x2e, 0x5f, 0xde, 0x88]);
        assert!(request.certificates);
    }

    #[test]
    fn a_recorded_request_in_json_is_read_whole() {
        let request = StampRequest::from_json(RECORDED_JSON).unwrap();
        assert_eq!(request.hash, ImprintHash::Sha256);
        assert_eq!(request.imprint[..2], [0xdf, 0xa3]);
        assert_eq!(request.nonce.unwrap(), 1_123_343_434_u32.to_be_bytes());
        assert!(request.certificates);
    }

    #[test]
    fn what_der_may_leave_out_is_absent() {
        let request = StampRequest::from_der(&der_of(ImprintHash::Sha384.oid(), 48, &[])).unwrap();
        let imprint = vec![0; 48];
        let expected = StampRequest { hash: ImprintHash::Sha384, imprint, nonce: None, certificates: false };
        assert_eq!(request, expected);
    }

    #[test]
    fn der_is_refused_for_what_is_wrong_with_it() {
        let sha256 = ImprintHash::Sha256.oid();
        let extensions = element(context(0), &[&sequence(&[])]);
        for (request, refusal) in [
            (der_of(SHA1, 20, &[]), WEAK_HASH),
            (der_of(&[0x2a], 20, &[]), GENERIC),
            (der_of(sha256, 31, &[]), WRONG_LENGTH),
            (der_of(sha256, 32, &[&oid(&[0x2b, 6, 1])]), OTHER_POLICY),
            (der_of(sha256, 32, &[&extensions]), EXTENSIONS),
            (der_of(sha256, 32, &[NULL]), GENERIC),
            (RECORDED[..RECORDED.len() - 1].to_vec(), GENERIC),
            ([RECORDED, &[0]].concat(), GENERIC),
            (Vec::new(), GENERIC),
        ] {
            assert_eq!(StampRequest::from_der(&request), Err(refusal));
        }
        assert!(StampRequest::from_der(&der_of(sha256, 32, &[&oid(POLICY)])).is_ok());
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
            let der = StampRequest::from_der(&mutator.bytes(RECORDED, RECORDED_JSON));
            let json = StampRequest::from_json(&mutator.any(RECORDED_JSON, RECORDED));
            for request in [der, json].into_iter().flatten() {
                assert_eq!(request.imprint.len(), request.hash.length());
                read += 1;
            }
        }
        assert!(read > 0);
    }
}
