use hammer_core::promise::PromiseKind;

/// What a log of Trillian promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrillianPromise {
    /// That the leaf that was queued is the one that was sent.
    Leaf,
    /// That a queued leaf gets into the tree in time.
    Integrated,
    /// That a root is one of the log: of its tree there is no other, and it neither forks nor shrinks.
    Root,
    /// That what was read is of the tree of a root.
    Inclusion,
}

impl TrillianPromise {
    /// Their names, in the order of the variants.
    pub(crate) const NAMES: [&'static str; 4] = ["leaf", "integrated", "root", "inclusion"];
}

impl From<TrillianPromise> for PromiseKind {
    fn from(promise: TrillianPromise) -> Self {
        Self(promise as u8)
    }
}
