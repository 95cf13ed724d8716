//! What comes back.

use serde::Deserialize;

use crate::answer_fault::{AnswerFault, check_text};
use crate::json_base64::Base64Text;

/// A thing of bytes: what is to be signed, or a document.
#[derive(Deserialize)]
struct BytesModel<'a> {
    #[serde(borrow, default)]
    bytes: Option<Base64Text<'a>>,
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
    binaries: Option<Base64Text<'a>>,
}

/// The token of a timestamp.
///
/// # Errors
/// What is not of that form.
pub fn timestamp_token(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    check_text(body)?;
    let model: TimestampBinaries<'_> = serde_json::from_slice(body)?;
    model.binaries.unwrap_or_default().decoded("binaries")
}

fn bytes(body: &[u8]) -> Result<Vec<u8>, AnswerFault> {
    check_text(body)?;
    let model: BytesModel<'_> = serde_json::from_slice(body)?;
    model.bytes.unwrap_or_default().decoded("bytes")
}
