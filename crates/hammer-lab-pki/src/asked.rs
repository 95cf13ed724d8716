//! What callers ask for, as far as the service looks at it (restpki-client 1.3.1).

use serde::{Deserialize, Deserializer};

use crate::refusal::Refusal;
use hammer_tlog::encoding::from_base64;

/// A file, in the request or uploaded before.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AskedFile {
    #[serde(deserialize_with = "bytes")]
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) blob_token: Option<String>,
}

/// The hash of a document that stays with the caller.
#[derive(Debug, Deserialize)]
pub(crate) struct AskedHash {
    pub(crate) algorithm: String,
    pub(crate) value: String,
}

/// A signature that is started.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AskedSignature {
    #[serde(deserialize_with = "bytes")]
    pub(crate) certificate: Option<Vec<u8>>,
    pub(crate) signature_policy_id: String,
    pub(crate) callback_argument: Option<String>,
    pub(crate) encapsulate_content: Option<bool>,
    pub(crate) ignore_revocation_status_unknown: bool,
    pub(crate) file_to_sign: Option<AskedFile>,
    pub(crate) pdf_to_sign: Option<AskedFile>,
    pub(crate) data_hashes: Option<Vec<AskedHash>>,
}

/// A signature that was made where the key is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AskedCompletion {
    #[serde(deserialize_with = "bytes")]
    pub(crate) signature: Option<Vec<u8>>,
    #[serde(deserialize_with = "bytes")]
    pub(crate) certificate: Option<Vec<u8>>,
    #[serde(deserialize_with = "bytes")]
    pub(crate) nonce: Option<Vec<u8>>,
    pub(crate) force_blob_result: Option<bool>,
    pub(crate) ignore_revocation_status_unknown: bool,
}

/// Reads what is asked for.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refusal> {
    let bad = |why: serde_json::Error| Refusal::status(http::StatusCode::BAD_REQUEST, &why.to_string());
    serde_json::from_slice(body).map_err(bad)
}

/// What has to be there.
pub(crate) fn given<T>(value: Option<T>, name: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::status(http::StatusCode::BAD_REQUEST, &format!("{name} is required")))
}

fn bytes<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| from_base64(&text).map_err(serde::de::Error::custom)).transpose()
}
