//! What the embedded signature service makes, held against what others make of it.

mod cades;
mod opened;
mod pades;
mod revocation;
mod service;
mod signer;
