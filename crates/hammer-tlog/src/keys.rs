//! Keys and certificates, and the DER that both are written in.

pub mod algorithm_identifier;
pub mod certificate;
pub mod chain;
pub mod der;
pub mod digest;
pub mod key;
pub mod scheme;
