//! How long answers of a log may be.

/// Most bytes of an answer, by what it is of: a log that writes more has its answer refused, and costs no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBound(usize);

impl AnswerBound {
    /// A tree head, or a checkpoint with all of its signatures.
    pub const HEAD: Self = Self(64 << 10);
    /// 256 hashes.
    pub const HASH_TILE: Self = Self(8 << 10);
    /// Hashes that lead from one node to another.
    pub const PROOF: Self = Self(64 << 10);
    /// A certificate of an authority.
    pub const ISSUER: Self = Self(256 << 10);
    /// A bundle of 256 entries, or a thousand entries of RFC 6962 with long chains, in base64.
    pub const ENTRIES: Self = Self(64 << 20);

    /// A bound of so many bytes.
    pub const fn of(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Bytes of what an answer stands for.
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// Bytes of an answer as it is transferred: what cannot be compressed grows by being compressed.
    pub const fn on_the_wire(self) -> usize {
        self.0 + self.0 / 64 + (1 << 10)
    }
}
