//! What an entry is made of (package dev.sigstore.rekor.v2: `entry.proto`, `hashedrekord.proto`, `dsse.proto`, `verifier.proto`).

use prost::{Message, Oneof};

use super::common::{PublicKeyDetails, X509Certificate};

/// Asks for an entry.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct CreateEntryRequest {
    /// What the entry is made of.
    #[prost(oneof = "EntrySpec", tags = "1, 2")]
    pub spec: Option<EntrySpec>,
}

/// What an entry is made of.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum EntrySpec {
    /// A signature over an artifact of which the log sees the hash.
    #[prost(message, tag = "1")]
    HashedRekordRequestV002(HashedRekordRequestV002),
    /// A signed envelope; deprecated by Rekor.
    #[prost(message, tag = "2")]
    DsseRequestV002(DsseRequestV002),
}

/// A signature over an artifact of which the log sees the hash.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct HashedRekordRequestV002 {
    /// The hash of the artifact, by the algorithm that the key's details say.
    #[prost(bytes = "vec", tag = "1")]
    pub digest: Vec<u8>,
    /// The signature.
    #[prost(message, optional, tag = "2")]
    pub signature: Option<Signature>,
}

/// A signature, and who verifies it.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Signature {
    /// The signature: of ECDSA in DER.
    #[prost(bytes = "vec", tag = "1")]
    pub content: Vec<u8>,
    /// What verifies it.
    #[prost(message, optional, tag = "2")]
    pub verifier: Option<Verifier>,
}

/// What verifies a signature.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Verifier {
    /// The key, alone or in a certificate.
    #[prost(oneof = "VerifierKey", tags = "1, 2")]
    pub verifier: Option<VerifierKey>,
    /// How it signs.
    #[prost(enumeration = "PublicKeyDetails", tag = "3")]
    pub key_details: i32,
}

/// A key, alone or in a certificate.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum VerifierKey {
    /// The key alone.
    #[prost(message, tag = "1")]
    PublicKey(RawPublicKey),
    /// A certificate that holds it.
    #[prost(message, tag = "2")]
    X509Certificate(X509Certificate),
}

/// A key (dev.sigstore.rekor.v2.PublicKey).
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct RawPublicKey {
    /// Its `SubjectPublicKeyInfo` in DER.
    #[prost(bytes = "vec", tag = "1")]
    pub raw_bytes: Vec<u8>,
}

/// A signed envelope.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct DsseRequestV002 {
    /// The envelope.
    #[prost(message, optional, tag = "1")]
    pub envelope: Option<Envelope>,
    /// What verifies its signatures, one of them each.
    #[prost(message, repeated, tag = "2")]
    pub verifiers: Vec<Verifier>,
}

/// A payload with signatures (package io.intoto, `envelope.proto`; DSSE 1.0).
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Envelope {
    /// The payload.
    #[prost(bytes = "vec", tag = "1")]
    pub payload: Vec<u8>,
    /// Its media type.
    #[prost(string, tag = "2")]
    pub payload_type: String,
    /// Over the pre-authentication encoding of both.
    #[prost(message, repeated, tag = "3")]
    pub signatures: Vec<EnvelopeSignature>,
}

/// A signature of an envelope (io.intoto.Signature).
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct EnvelopeSignature {
    /// The signature.
    #[prost(bytes = "vec", tag = "1")]
    pub sig: Vec<u8>,
    /// A hint at the key; may be empty.
    #[prost(string, tag = "2")]
    pub keyid: String,
}
