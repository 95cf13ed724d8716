//! Certificate Transparency: the structures of RFC 6962 and static-ct-api, SCTs, and what a log signs.

pub mod bundle;
pub mod embedded;
pub mod issuance;
pub mod log_list;
pub mod names;
pub mod precert;
pub mod rfc6962;
pub mod sct;
