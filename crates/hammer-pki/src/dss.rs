//! EU DSS's REST services (dss-signature-rest, dss-timestamp-remote-rest and dss-validation-rest, 6.4): stateless, so that the document goes up twice, with the
//! same parameters.

mod answers;
mod requests;
mod validation;

pub use answers::{data_to_sign, signed_document, timestamp_token};
pub use requests::{SignRequest, ToBeSigned};
pub use validation::{VALIDATE_SIGNATURE, validate_signature, verdict};

/// Where it is asked what is to be signed of a document.
pub const DATA_TO_SIGN: &str = "signature/one-document/getDataToSign";
/// Where timestamps are asked for.
pub const TIMESTAMP: &str = "timestamp-service/getTimestampResponse";
/// Where the signature is put around it.
pub const SIGN_DOCUMENT: &str = "signature/one-document/signDocument";
