//! Answers that are none.

use std::fmt;

/// Why an answer with a success is none.
#[derive(Debug, thiserror::Error)]
pub enum AnswerFault {
    /// It is not the JSON that it should be.
    #[error("read the answer: {0}")]
    Json(#[from] serde_json::Error),
    /// It is no text.
    #[error("read the answer: {0}")]
    Utf8(#[from] std::str::Utf8Error),
    /// A field is no base64.
    #[error("read the answer's {field}: {source}")]
    Base64 {
        /// The JSON field.
        field: &'static str,
        /// What is wrong with it.
        source: base64::DecodeError,
    },
    /// The service says that something is not valid, with a success.
    #[error("read the answer: the service says {0}")]
    Invalid(ValidationFault),
    /// It asks for another hash than SHA-256.
    #[error("read the answer: it asks for another hash than SHA-256")]
    Hash,
    /// The hash that it gives to be signed is not that of the data that it gives to be signed.
    #[error("read the answer: toSignHash is not the hash of toSignData")]
    AnotherHash,
    /// It is large, and there is no room for it in a file.
    #[error("keep the answer in a file: {0}")]
    Unkept(#[from] std::io::Error),
    /// A field is empty or missing.
    #[error("read the answer: it has no {0}")]
    Missing(&'static str),
    /// A field is there, and of no use.
    #[error("read the answer: its {0}")]
    Unusable(&'static str),
}

impl AnswerFault {
    /// What is wrong, in a few words for a count of causes.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Json(_) | Self::Utf8(_) => "answer of another form",
            Self::Base64 { .. } => "field that is no base64",
            Self::Invalid(_) => "validation errors, with HTTP 200",
            Self::Hash => "hash other than SHA-256",
            Self::AnotherHash => "hash of something else",
            Self::Unkept(_) => "no room for the answer",
            Self::Missing(_) => "field that is missing",
            Self::Unusable(_) => "field that is of no use",
        }
    }
}

/// Something that did not pass the service's validation, though the status says success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationFault {
    /// Its type, as the service names it: `CertificateExpired`.
    pub kind: String,
    /// Its message.
    pub message: String,
}

impl fmt::Display for ValidationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// Whether an answer is text, also where nobody looks at it.
pub(crate) fn check_text(body: &[u8]) -> Result<(), AnswerFault> {
    // Nearly all of it is base64, and found to be ASCII several times faster than to be UTF-8.
    if !body.is_ascii() {
        std::str::from_utf8(body)?;
    }
    Ok(())
}
