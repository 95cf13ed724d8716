//! What comes back.

use std::borrow::Cow;

use serde::Deserialize;

use crate::answer_fault::{AnswerFault, decoded};

/// A thing of bytes: what is to be signed, or a document.
#[derive(Deserialize)]
struct BytesModel<'a> {
    #[serde(borrow, default)]
    bytes: Option<Cow<'a, str>>,
}

/// What is to be signed.
///
/// # Errors
/// What is not of that form.
pub fn data_to_sign(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    bytes(body)
}

/// The document that was signed: a CMS, or a PDF.
///
/// # Errors
/// What is not of that form.
pub fn signed_document(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    bytes(body)
}

#[derive(Deserialize)]
struct TimestampBinaries<'a> {
    #[serde(borrow, default)]
    binaries: Option<Cow<'a, str>>,
}

/// The token of a timestamp.
///
/// # Errors
/// What is not of that form.
pub fn timestamp_token(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    let model: TimestampBinaries<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
    decoded("binaries", &model.binaries.unwrap_or_default())
}

fn bytes(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    let model: BytesModel<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
    decoded("bytes", &model.bytes.unwrap_or_default())
}
