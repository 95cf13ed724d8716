//! Tokens from their minting to their verification.

mod minting;
mod verifying;
