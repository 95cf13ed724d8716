//! JSON Web Tokens in their compact form (RFC 7519, RFC 7515 section 7.1).

mod mint;
mod parse;

pub use mint::{ExtraClaim, IdentityClaims, MintScratch, TokenMinter};
pub use parse::{ParsedToken, TokenClaims, TokenError, TokenHeader, TokenTimes, parse};
