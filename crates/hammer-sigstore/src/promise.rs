//! What the services of Sigstore promise.

use hammer_core::promise::PromiseKind;

/// A promise of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SigstorePromise {
    /// That a certificate is of the key and the identity that were shown to Fulcio, that it leads to a trusted root, and that a CT
    /// log has it (Fulcio, "Certificate Specification"; RFC 6962 section 3.3).
    Certificate,
    /// That what was sent stands in the transparency log: entry, inclusion promise or proof, and checkpoint.
    Entry,
    /// That a hash existed when a timestamp says so (RFC 3161 section 2.4.2).
    Timestamp,
    /// That the chain of the timestamp authority is the trusted one.
    TimestampChain,
    /// That what an entry of the log says of an artifact holds: its signature, and the certificate behind it.
    Artifact,
    /// That the index of the log finds, by the hash of what was signed, the entry that was logged for it.
    Search,
    /// That what a flow was answered makes a bundle which holds for somebody who has nothing else.
    Bundle,
    /// That a checkpoint which did not lead a flow to its entry is the log's all the same.
    Checkpoint,
}

impl SigstorePromise {
    /// Their names, in the order of the variants.
    pub(crate) const NAMES: [&'static str; 8] = [
        "certificate",
        "entry",
        "timestamp",
        "timestamp-chain",
        "artifact",
        "search",
        "bundle",
        "checkpoint",
    ];
}

impl From<SigstorePromise> for PromiseKind {
    fn from(promise: SigstorePromise) -> Self {
        Self(promise as u8)
    }
}
