//! Advanced electronic signatures: CAdES (ETSI EN 319 122-1), and what PAdES (ETSI EN 319 142-1) has of it in its `Contents`.

mod fault;
mod known_signer;
mod verifier;

pub use self::fault::SignatureFault;
pub use self::known_signer::{KnownSigner, SignerError};
pub use self::verifier::{ExpectedSignature, SignatureForm, SignatureVerifier, VerifiedSignature};
