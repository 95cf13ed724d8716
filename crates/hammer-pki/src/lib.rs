//! Signature services under load: the documents that are sent to them, what their callers sign of what they answer, and what is read of
//! the files that come back. Requests and answers are state without I/O.

mod inline_document;
pub mod rest_pki;
mod signing_key;

pub use inline_document::InlineDocument;
pub use signing_key::{KeyFault, SigningKey};
