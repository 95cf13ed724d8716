use hammer_core::promise::PromiseKind;

/// What a service promises by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPromise {
    /// That a checkpoint is the log's.
    TreeHead,
    /// That a later tree has an earlier one as its prefix.
    Consistency,
    /// That what was read is of the tree that a checkpoint was signed for.
    Inclusion,
    /// That what a search finds are entries.
    Search,
    /// That the log's key is the trusted one.
    PublicKey,
    /// That the chain of the timestamp authority is the trusted one.
    TimestampChain,
    /// That the chains of Fulcio are the trusted ones.
    TrustBundle,
    /// That issuers are named by whose tokens certificates are issued.
    Configuration,
}

impl ReadPromise {
    /// Their names, in the order of the variants.
    pub(super) const NAMES: [&'static str; 8] = [
        "tree-head",
        "consistency",
        "inclusion",
        "search",
        "public-key",
        "timestamp-chain",
        "trust-bundle",
        "configuration",
    ];
}

impl From<ReadPromise> for PromiseKind {
    fn from(promise: ReadPromise) -> Self {
        Self(promise as u8)
    }
}
