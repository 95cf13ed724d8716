//! The messages of remote attestation (RFC 9334) between a PSA device and Veraison: endorsements as CoRIM in both dialects that its
//! releases take, evidence as PSA tokens of both profiles, and results as EAR. What is written is a pure function of what it says; nothing
//! here opens a socket or reads a clock.
//!
//! Read in this order: [`base64_text`], [`json_object`], [`cbor`], [`device`], [`corim`], [`token`], [`ear`].

pub mod base64_text;
pub mod cbor;
pub mod corim;
pub mod device;
pub mod ear;
pub mod json_object;
pub mod token;

pub use corim::{Corim, PsaDialect};
pub use device::{PsaDevice, SoftwareComponent};
pub use ear::{
    AnnotatedComponent, AnnotatedEvidence, Appraisal, AttestationResult, EarError, EarVerifier, SignedResult,
    TrustTier, VerificationKey,
};
pub use token::{PsaClaim, PsaToken, TokenProfile};
