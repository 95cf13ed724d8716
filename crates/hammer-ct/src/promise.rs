//! What a log promises, in the words of RFC 6962 and static-ct-api.

use hammer_core::promise::PromiseKind;

/// A promise of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogPromise {
    /// A signed certificate timestamp: that the leaf will be in the tree (RFC 6962 section 3).
    Sct,
    /// That what is invalid is refused, and what the stated policy allows is not.
    Policy,
    /// A signed tree head, or a checkpoint.
    TreeHead,
    /// That what was read is of the tree that a head was signed for.
    Inclusion,
    /// That a later tree has an earlier one as its prefix.
    Consistency,
    /// That a certificate is the one of its fingerprint.
    Issuer,
    /// That roots are certificates.
    Roots,
}

impl LogPromise {
    /// Their names, in the order of the variants.
    pub(crate) const NAMES: [&'static str; 7] =
        ["sct", "policy", "tree-head", "inclusion", "consistency", "issuer", "roots"];
}

impl From<LogPromise> for PromiseKind {
    fn from(promise: LogPromise) -> Self {
        Self(promise as u8)
    }
}
