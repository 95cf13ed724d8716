//! What kind of submission an operation is.

use crate::plan::InvalidKind;

/// What is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A chain of its own.
    Fresh,
    /// A chain that this run got an SCT for.
    Duplicate,
    /// A chain of its own in place of a duplicate: the log has not answered anything yet. Found out once it is due.
    NothingToRepeat,
    /// What a log must refuse, or may.
    Invalid(Invalid),
}

/// A submission that is wrong on purpose: what is wrong, and what the log must make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    pub(crate) kind: InvalidKind,
    /// Whether it must be refused, or accepted; none where the log may do either.
    pub(crate) refuse: Option<bool>,
}

impl Invalid {
    /// Whether a chain was sent, so that an SCT would be of something.
    pub(crate) fn has_chain(self) -> bool {
        !matches!(self.kind, InvalidKind::NotJson | InvalidKind::EmptyChain | InvalidKind::BadBase64)
    }
}
