//! What comes back.

use std::borrow::Cow;

use ring::digest::{SHA256 as SHA256_DIGEST, digest};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answer_fault::{AnswerFault, ValidationFault, check_text};
use crate::json_base64::Base64Text;
use crate::path_token::path_token;

/// What was started: its token, and what is to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// By which it is finished.
    pub token: String,
    /// To be signed by the key of the certificate, with the hash that the service names.
    pub to_be_signed: Vec<u8>,
}

/// A nonce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(pub Vec<u8>);

/// The file that was signed: in the answer, or where it is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finished {
    /// Its bytes.
    File(Vec<u8>),
    /// Its URL, below the service's own.
    At(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedModel<'a> {
    #[serde(borrow)]
    token: Cow<'a, str>,
    #[serde(borrow)]
    to_sign_data: Base64Text<'a>,
    #[serde(borrow, default)]
    to_sign_hash: Option<Base64Text<'a>>,
    #[serde(borrow)]
    digest_algorithm_oid: Cow<'a, str>,
}

#[derive(Deserialize)]
struct NonceModel<'a> {
    #[serde(borrow)]
    nonce: Base64Text<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FinishedModel<'a> {
    #[serde(borrow, default)]
    signature_file: Option<FileModel<'a>>,
    #[serde(default)]
    validation_results: Option<ResultsModel>,
}

#[derive(Deserialize)]
struct FileModel<'a> {
    #[serde(borrow, default)]
    content: Option<Base64Text<'a>>,
    #[serde(default)]
    url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthenticatedModel {
    validation_results: ResultsModel,
    #[serde(default)]
    certificate: Option<CertificateModel>,
}

/// A certificate as far as it says which one it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CertificateModel {
    serial_number: Value,
    #[serde(rename = "binaryThumbprintSHA256")]
    thumbprint: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ValidatedModel {
    #[serde(default)]
    validation_results: Option<ResultsModel>,
}

#[derive(Deserialize)]
pub(super) struct ResultsModel {
    #[serde(deserialize_with = "null_or_some")]
    pub(super) errors: Vec<ErrorModel>,
}

/// What may be `null` where there is none, but has to be there.
fn null_or_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ErrorModel>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
pub(super) struct ErrorModel {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: Option<String>,
}

impl Started {
    /// Reads the answer that starts a signature, or an authentication by a token. One that asks for another hash than SHA-256 lacks what is signed
    /// here.
    ///
    /// # Errors
    /// What is not of that form.
    pub fn read(body: &[u8]) -> Result<Self, AnswerFault> {
        check_text(body)?;
        refuses_none(serde_json::from_slice::<ValidatedModel>(body)?.validation_results)?;
        let model: StartedModel<'_> = serde_json::from_slice(body)?;
        if model.digest_algorithm_oid != SHA_256 {
            return Err(AnswerFault::Hash);
        }
        let token = path_token(&model.token)?.to_owned();
        let to_be_signed = model.to_sign_data.decoded("toSignData")?;
        // Clients whose keys sign hashes alone sign that one.
        let hash = model.to_sign_hash.filter(|hash| !hash.is_empty());
        let hash = hash.map(|hash| hash.decoded("toSignHash")).transpose()?;
        if hash.is_some_and(|hash| hash != digest(&SHA256_DIGEST, &to_be_signed).as_ref()) {
            return Err(AnswerFault::AnotherHash);
        }
        Ok(Self { token, to_be_signed })
    }
}

impl Nonce {
    /// Reads the answer with a nonce.
    ///
    /// # Errors
    /// What is not of that form.
    pub fn read(body: &[u8]) -> Result<Self, AnswerFault> {
        check_text(body)?;
        let model: NonceModel<'_> = serde_json::from_slice(body)?;
        model.nonce.decoded("nonce").map(Self)
    }
}

impl Finished {
    /// Reads the answer that finishes a signature.
    ///
    /// # Errors
    /// What is not of that form.
    pub fn read(body: &[u8]) -> Result<Self, AnswerFault> {
        check_text(body)?;
        // Read once, since there is a document in it.
        let model: FinishedModel<'_> = serde_json::from_slice(body)?;
        refuses_none(model.validation_results)?;
        let missing = AnswerFault::Missing("signatureFile");
        let FileModel { content, url } = model.signature_file.ok_or(missing)?;
        match (content.filter(|content| !content.is_empty()), url) {
            (Some(content), _) => content.decoded("signatureFile").map(Self::File),
            (None, Some(url)) if !url.is_empty() => Ok(Self::At(url)),
            _ => Err(AnswerFault::Missing("signatureFile")),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimestampModel<'a> {
    #[serde(borrow)]
    encoded_value: Base64Text<'a>,
}

/// The token of a timestamp.
///
/// # Errors
/// What is not of that form.
pub fn timestamp_token(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    check_text(body)?;
    let model: TimestampModel<'_> = serde_json::from_slice(body)?;
    model.encoded_value.decoded("encodedValue")
}

/// The answer to a signed nonce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// What did not pass validation: 200 alone says nothing.
    pub fault: Option<ValidationFault>,
    /// The serial number of the certificate that was let in, as it is written.
    pub serial_number: Option<String>,
    /// The SHA-256 of that certificate, as it is written.
    pub thumbprint: Option<String>,
}

impl Authenticated {
    /// Reads the answer.
    ///
    /// # Errors
    /// What is not of that form.
    pub fn read(body: &[u8]) -> Result<Self, AnswerFault> {
        let model: AuthenticatedModel = serde_json::from_str(std::str::from_utf8(body)?)?;
        let first = model.validation_results.errors.into_iter().next();
        let CertificateModel { serial_number, thumbprint } = model.certificate.unwrap_or_default();
        let serial_number = match serial_number {
            Value::String(text) => Some(text),
            // One of more than 64 bits was rounded as it was read, and is none.
            Value::Number(number) => number.as_u64().map(|number| number.to_string()),
            _ => None,
        };
        Ok(Self { fault: first.map(ValidationFault::from), serial_number, thumbprint })
    }
}

impl From<ErrorModel> for ValidationFault {
    fn from(error: ErrorModel) -> Self {
        Self { kind: error.kind, message: error.message.unwrap_or_default() }
    }
}

/// Whether nothing did not pass validation, by an answer that may say so beside what was asked for, or in its place.
fn refuses_none(results: Option<ResultsModel>) -> Result<(), AnswerFault> {
    let mut errors = results.into_iter().flat_map(|results| results.errors);
    errors.next().map_or(Ok(()), |error| Err(AnswerFault::Invalid(error.into())))
}

const SHA_256: &str = "2.16.840.1.101.3.4.2.1";
