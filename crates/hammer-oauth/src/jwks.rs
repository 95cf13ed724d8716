//! Keys of issuers (RFC 7517), and what they verify.

mod set;
mod verify;

pub use set::{JwkSet, JwkSetError};
pub use verify::{ExpectedClaims, VerifyError, verify};
