//! Why a promise is not kept.

/// What was found in place of what was promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault, in the field's words (`bad-sct-signature`): one of those that the protocol lists.
    pub kind: &'static str,
    /// The index of the leaf or entry that it is about, where there is one.
    pub place: Option<u64>,
    /// What was found.
    pub detail: String,
}

impl Fault {
    /// A fault of that kind, about no entry.
    pub fn new(kind: &'static str, detail: impl Into<String>) -> Self {
        Self { kind, place: None, detail: detail.into() }
    }

    /// A fault about the entry of that index.
    pub fn at(kind: &'static str, place: u64, detail: impl Into<String>) -> Self {
        Self { kind, place: Some(place), detail: detail.into() }
    }
}
