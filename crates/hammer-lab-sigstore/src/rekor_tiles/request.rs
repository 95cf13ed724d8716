//! A request in JSON (Protocol Buffers, "ProtoJSON Format"): unknown names are refused, as rekor-tiles does.

use hammer_messages::rekor::{
    CreateEntryRequest, DsseRequestV002, EntrySpec, Envelope, EnvelopeSignature, HashedRekordRequestV002,
    PublicKeyDetails, RawPublicKey, Signature, Verifier, VerifierKey, X509Certificate,
};
use hammer_tlog::encoding::from_base64;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::refusal::TilesRefusal;

/// Reads the body of `POST /api/v2/log/entries`.
pub(super) fn read(body: &[u8]) -> Result<CreateEntryRequest, TilesRefusal> {
    let request: CreateEntryJson = serde_json::from_slice(body).map_err(|error| {
        TilesRefusal::invalid(format!("proto: (line {}:{}): {error}", error.line(), error.column()))
    })?;
    let spec = match (request.hashed_rekord_request_v002, request.dsse_request_v002) {
        (Some(request), None) => Some(EntrySpec::HashedRekordRequestV002(request.into())),
        (None, Some(request)) => Some(EntrySpec::DsseRequestV002(request.into())),
        (None, None) => None,
        (Some(_), Some(_)) => {
            return Err(TilesRefusal::invalid(
                "proto: oneof dev.sigstore.rekor.v2.CreateEntryRequest.spec is already set",
            ));
        }
    };
    Ok(CreateEntryRequest { spec })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateEntryJson {
    #[serde(rename = "hashedRekordRequestV002", alias = "hashed_rekord_request_v002")]
    hashed_rekord_request_v002: Option<HashedRekordJson>,
    #[serde(rename = "dsseRequestV002", alias = "dsse_request_v002")]
    dsse_request_v002: Option<DsseJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HashedRekordJson {
    #[serde(default)]
    digest: ProtoBytes,
    signature: Option<SignatureJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureJson {
    #[serde(default)]
    content: ProtoBytes,
    verifier: Option<VerifierJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifierJson {
    #[serde(rename = "publicKey", alias = "public_key")]
    public_key: Option<RawBytesJson>,
    #[serde(rename = "x509Certificate", alias = "x509_certificate")]
    x509_certificate: Option<RawBytesJson>,
    #[serde(rename = "keyDetails", alias = "key_details", default)]
    key_details: KeyDetailsJson,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBytesJson {
    #[serde(rename = "rawBytes", alias = "raw_bytes", default)]
    raw_bytes: ProtoBytes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DsseJson {
    envelope: Option<EnvelopeJson>,
    #[serde(default)]
    verifiers: Vec<VerifierJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeJson {
    #[serde(default)]
    payload: ProtoBytes,
    #[serde(rename = "payloadType", alias = "payload_type", default)]
    payload_type: String,
    #[serde(default)]
    signatures: Vec<EnvelopeSignatureJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeSignatureJson {
    #[serde(default)]
    sig: ProtoBytes,
    #[serde(default)]
    keyid: String,
}

impl From<HashedRekordJson> for HashedRekordRequestV002 {
    fn from(request: HashedRekordJson) -> Self {
        let signature = request.signature.map(|signature| Signature {
            content: signature.content.0,
            verifier: signature.verifier.map(Verifier::from),
        });
        Self { digest: request.digest.0, signature }
    }
}

impl From<VerifierJson> for Verifier {
    fn from(verifier: VerifierJson) -> Self {
        let key = verifier
            .public_key
            .map(|key| VerifierKey::PublicKey(RawPublicKey { raw_bytes: key.raw_bytes.0 }));
        let certificate = verifier.x509_certificate.map(|certificate| {
            VerifierKey::X509Certificate(X509Certificate { raw_bytes: certificate.raw_bytes.0 })
        });
        Self { verifier: key.or(certificate), key_details: verifier.key_details.0 }
    }
}

impl From<DsseJson> for DsseRequestV002 {
    fn from(request: DsseJson) -> Self {
        let signature = |signature: EnvelopeSignatureJson| {
            let (sig, keyid) = (signature.sig.0, signature.keyid);
            EnvelopeSignature { sig, keyid }
        };
        let envelope = request.envelope.map(|envelope| Envelope {
            payload: envelope.payload.0,
            payload_type: envelope.payload_type,
            signatures: envelope.signatures.into_iter().map(signature).collect(),
        });
        Self { envelope, verifiers: request.verifiers.into_iter().map(Verifier::from).collect() }
    }
}

/// Bytes in base64, of either alphabet, with or without padding.
#[derive(Debug, Default)]
struct ProtoBytes(Vec<u8>);

impl<'de> Deserialize<'de> for ProtoBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
        while !text.len().is_multiple_of(4) {
            text.push('=');
        }
        from_base64(text).map(Self).map_err(|_| D::Error::custom("invalid value for bytes field"))
    }
}

/// An enumeration's value, by its name or its number.
#[derive(Debug, Default)]
struct KeyDetailsJson(i32);

#[derive(Deserialize)]
#[serde(untagged)]
enum NameOrNumber {
    Number(i32),
    Name(String),
}

impl<'de> Deserialize<'de> for KeyDetailsJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = match NameOrNumber::deserialize(deserializer)? {
            NameOrNumber::Number(number) => return Ok(Self(number)),
            NameOrNumber::Name(name) => name,
        };
        let mut known = (0..MOST_KEY_DETAILS).filter_map(|number| PublicKeyDetails::try_from(number).ok());
        let found = known.find(|details| details.name() == name);
        let unknown = || D::Error::custom(format_args!("invalid value for enum field keyDetails: {name:?}"));
        found.map(|details| Self(details as i32)).ok_or_else(unknown)
    }
}

/// Beyond the numbers of [`PublicKeyDetails`].
const MOST_KEY_DETAILS: i32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        read(body.as_bytes()).unwrap_err().grpc.message
    }

    #[test]
    fn unknown_names_and_values_are_refused() {
        assert!(refused(r#"{"hashedRekordRequestV003": {}}"#).contains("unknown field"));
        let text = r#"{"hashedRekordRequestV002": {"signature": {"verifier": {"keyDetails": "PKIX"}}}}"#;
        assert!(refused(text).contains("keyDetails"));
        assert!(refused(r#"{"hashedRekordRequestV002": {"digest": "?"}}"#).contains("bytes field"));
        assert!(refused(r#"{"hashedRekordRequestV002": {}, "dsseRequestV002": {}}"#).contains("oneof"));
        assert!(refused("{").starts_with("proto: (line 1:1)"));
    }

    #[test]
    fn names_may_be_those_of_the_proto_and_base64_of_the_other_alphabet() {
        let text = r#"{"hashed_rekord_request_v002": {"digest": "-_8", "signature": {"verifier":
            {"public_key": {"raw_bytes": "AQ=="}, "key_details": 7}}}}"#;
        let Some(EntrySpec::HashedRekordRequestV002(request)) = read(text.as_bytes()).unwrap().spec else {
            panic!("another spec");
        };
        assert_eq!(request.digest, [0xfb, 0xff]);
        let verifier = request.signature.unwrap().verifier.unwrap();
        assert_eq!(verifier.key_details, PublicKeyDetails::PkixEd25519 as i32);
    }
}
