//! Authorities of embedded services: keys that follow from seeds, the certificates that they issue, the timestamps (RFC 3161) that they
//! are asked for and sign, the tokens (RFC 7519) that they grant, and the DER and PEM that these are written in. What they sign is right: lies are told by whoever asks them. They share no
//! code with what verifies it.

mod authority;
pub mod certificate;
pub mod der;
mod hex;
pub mod pem;
mod signer;
pub mod timestamp;
pub mod timestamp_query;
mod token_key;

pub use authority::{Authority, AuthorityCurve, CertifiedUse};
pub use hex::hex;
pub use signer::{LabSigner, SignerAlgorithm};
pub use token_key::TokenKey;
