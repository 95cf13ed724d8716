//! What a service says of a signed file.

/// What it says of all signatures in it together, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every signature passed, and there is one at least.
    Valid,
    /// One failed, or there is none.
    Invalid(String),
    /// Neither: something that it takes to say so is missing (ETSI EN 319 102-1 section 5.1.3: INDETERMINATE).
    Indeterminate(String),
}

impl Verdict {
    /// That of several signatures, each with its own.
    pub(crate) fn of_all(signatures: impl IntoIterator<Item = Self>) -> Self {
        let worst = signatures.into_iter().max_by_key(Self::weight);
        worst.unwrap_or_else(|| Self::Invalid("it finds no signature".to_owned()))
    }

    fn weight(&self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Indeterminate(_) => 1,
            Self::Invalid(_) => 2,
        }
    }
}
