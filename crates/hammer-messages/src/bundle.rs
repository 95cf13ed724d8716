//! What somebody who verifies a signature needs (package dev.sigstore.bundle.v1, `sigstore_bundle.proto`; io.intoto, `envelope.proto`),
//! in JSON alone, as files have it.

use serde::{Deserialize, Serialize};

use crate::json;
use crate::rekor::TransparencyLogEntry;

/// The media type of version 0.3.
pub const MEDIA_TYPE_V03: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The media types of the versions before that start so, and name the version behind it (`0.1`).
pub const MEDIA_TYPE_BEFORE: &str = "application/vnd.dev.sigstore.bundle+json;version=";

/// A signature, and what shows whose it is and when it was made. What is missing has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Bundle {
    /// Its version.
    #[serde(deserialize_with = "json::or_default", alias = "media_type")]
    pub media_type: String,
    /// Who signed, and when.
    #[serde(skip_serializing_if = "Option::is_none", alias = "verification_material")]
    pub verification_material: Option<VerificationMaterial>,
    /// A signature over an artifact that is not in the bundle.
    #[serde(skip_serializing_if = "Option::is_none", alias = "message_signature")]
    pub message_signature: Option<MessageSignature>,
    /// Signatures over a payload that is in the bundle.
    #[serde(skip_serializing_if = "Option::is_none", alias = "dsse_envelope")]
    pub dsse_envelope: Option<DsseEnvelope>,
}

/// Who signed, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VerificationMaterial {
    /// A key that the verifier knows.
    #[serde(skip_serializing_if = "Option::is_none", alias = "public_key")]
    pub public_key: Option<PublicKeyIdentifier>,
    /// The signer's certificate and some of its issuers, in versions before 0.3.
    #[serde(
        rename = "x509CertificateChain",
        skip_serializing_if = "Option::is_none",
        alias = "x509_certificate_chain"
    )]
    pub x509_certificate_chain: Option<X509CertificateChain>,
    /// The signer's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<BundleCertificate>,
    /// What transparency logs know of the signature.
    #[serde(deserialize_with = "json::or_default", alias = "tlog_entries")]
    pub tlog_entries: Vec<TransparencyLogEntry>,
    /// Timestamps over the signature.
    #[serde(skip_serializing_if = "Option::is_none", alias = "timestamp_verification_data")]
    pub timestamp_verification_data: Option<TimestampVerificationData>,
}

/// A hint at a key (dev.sigstore.common.v1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicKeyIdentifier {
    /// By which the verifier finds it.
    #[serde(deserialize_with = "json::or_default")]
    pub hint: String,
}

/// Certificates, the leaf first (dev.sigstore.common.v1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct X509CertificateChain {
    /// In DER.
    #[serde(deserialize_with = "json::or_default")]
    pub certificates: Vec<BundleCertificate>,
}

/// A certificate (dev.sigstore.common.v1.X509Certificate).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BundleCertificate {
    /// In DER.
    #[serde(with = "json::bytes", alias = "raw_bytes")]
    pub raw_bytes: Vec<u8>,
}

/// Timestamps over a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimestampVerificationData {
    /// Those of RFC 3161.
    #[serde(
        rename = "rfc3161Timestamps",
        deserialize_with = "json::or_default",
        alias = "rfc3161_timestamps"
    )]
    pub rfc3161_timestamps: Vec<Rfc3161SignedTimestamp>,
}

/// A timestamp (dev.sigstore.common.v1.RFC3161SignedTimestamp).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rfc3161SignedTimestamp {
    /// The DER of a whole `TimeStampResp`.
    #[serde(with = "json::bytes", alias = "signed_timestamp")]
    pub signed_timestamp: Vec<u8>,
}

/// A signature over an artifact (dev.sigstore.common.v1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSignature {
    /// The artifact's hash.
    #[serde(skip_serializing_if = "Option::is_none", alias = "message_digest")]
    pub message_digest: Option<HashOutput>,
    /// The signature: of ECDSA in DER.
    #[serde(with = "json::bytes")]
    pub signature: Vec<u8>,
}

/// A hash (dev.sigstore.common.v1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HashOutput {
    /// `SHA2_256`, `SHA2_384` or `SHA2_512`.
    #[serde(deserialize_with = "json::hash_algorithm::deserialize")]
    pub algorithm: String,
    /// The hash itself.
    #[serde(with = "json::bytes")]
    pub digest: Vec<u8>,
}

/// A payload with signatures over it and its type (DSSE 1.0).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DsseEnvelope {
    /// The payload.
    #[serde(with = "json::bytes")]
    pub payload: Vec<u8>,
    /// Its media type.
    #[serde(deserialize_with = "json::or_default", alias = "payload_type")]
    pub payload_type: String,
    /// Over the pre-authentication encoding of both.
    #[serde(deserialize_with = "json::or_default")]
    pub signatures: Vec<DsseSignature>,
}

/// A signature of an envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DsseSignature {
    /// The signature.
    #[serde(with = "json::bytes")]
    pub sig: Vec<u8>,
    /// A hint at the key; may be empty.
    #[serde(deserialize_with = "json::or_default", skip_serializing_if = "String::is_empty")]
    pub keyid: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_that_cosign_wrote_is_read_and_written_again() {
        for text in [
            include_str!("../testdata/cosign-bundle-rekor-v1.json"),
            include_str!("../testdata/cosign-bundle-rekor-v2.json"),
        ] {
            let bundle: Bundle = serde_json::from_str(text).unwrap();
            assert_eq!(bundle.media_type, MEDIA_TYPE_V03);
            let material = bundle.verification_material.as_ref().unwrap();
            assert_eq!(material.tlog_entries.len(), 1);
            assert_eq!(material.timestamp_verification_data.as_ref().unwrap().rfc3161_timestamps.len(), 1);
            assert!(!bundle.message_signature.as_ref().unwrap().signature.is_empty());
            let written = serde_json::to_string(&bundle).unwrap();
            assert_eq!(serde_json::from_str::<Bundle>(&written).unwrap(), bundle);
        }
    }

    #[test]
    fn a_bundle_in_the_words_of_its_definition_says_the_same() {
        let usual: Bundle =
            serde_json::from_str(include_str!("../testdata/cosign-bundle-rekor-v1.json")).unwrap();
        let mut value: serde_json::Value = serde_json::to_value(&usual).unwrap();
        in_other_words(&mut value);
        let text = value.to_string();
        assert!(text.contains("\"verification_material\"") && text.contains(".0,"), "{text}");
        assert_eq!(serde_json::from_str::<Bundle>(&text).unwrap(), usual);
    }

    /// Names as in `.proto` files, integers as numbers with an exponent, base64url without padding, enumerations by their numbers, and a
    /// `null` for what is not there.
    fn in_other_words(value: &mut serde_json::Value) {
        use serde_json::{Map, Value};
        match value {
            Value::Array(all) => all.iter_mut().for_each(in_other_words),
            Value::Object(fields) => {
                let mut others = Map::new();
                for (name, mut value) in std::mem::take(fields) {
                    in_other_words(&mut value);
                    if ["logIndex", "treeSize", "integratedTime"].contains(&name.as_str()) {
                        let text = format!("{}e0", value.as_str().unwrap());
                        value = serde_json::from_str(&text).unwrap();
                    }
                    others.insert(snake(&name), value);
                }
                others.insert("public_key".to_owned(), Value::Null);
                *fields = others;
            }
            Value::String(text) => match text.as_str() {
                "SHA2_256" => *value = Value::from(1),
                text if !text.contains(['\n', ' ', ';', '.']) => {
                    *value = text.replace('+', "-").replace('/', "_").trim_end_matches('=').into();
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn snake(name: &str) -> String {
        name.replace("x509C", "x509_c").chars().fold(String::new(), |mut out, letter| {
            if letter.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(letter.to_ascii_lowercase());
            out
        })
    }

    #[test]
    fn null_and_what_is_missing_are_defaults() {
        let text = r#"{"mediaType":null,"verificationMaterial":{"tlogEntries":null,"certificate":{"rawBytes":null}},"other":1}"#;
        let bundle: Bundle = serde_json::from_str(text).unwrap();
        let certificate = Some(BundleCertificate::default());
        let material = VerificationMaterial { certificate, ..VerificationMaterial::default() };
        assert_eq!(bundle, Bundle { verification_material: Some(material), ..Bundle::default() });
    }
}
