//! Keys and certificates, and the DER that both are written in.

pub mod certificate;
pub mod der;
pub mod key;
