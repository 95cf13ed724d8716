//! Rekor v2 (package dev.sigstore.rekor.v2, rekor-tiles), and the entry that both versions of Rekor hand out.

mod common;
mod entry;
mod request;

pub use common::{LogId, PublicKeyDetails, X509Certificate};
pub use entry::{Checkpoint, InclusionPromise, InclusionProof, KindVersion, TransparencyLogEntry};
pub use request::{
    CreateEntryRequest, DsseRequestV002, EntrySpec, Envelope, EnvelopeSignature, HashedRekordRequestV002,
    RawPublicKey, Signature, Verifier, VerifierKey,
};

/// Asks for a [`CreateEntryRequest`] and answers with a [`TransparencyLogEntry`].
pub const CREATE_ENTRY: &str = "/dev.sigstore.rekor.v2.Rekor/CreateEntry";
