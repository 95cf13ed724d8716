use hammer_core::promise::Fault;

/// That there was nothing to hold what was read against, which is no breach.
pub fn unverified() -> Fault {
    Fault::new(UNVERIFIED, "")
}

/// The same, for that reason.
pub fn unverified_since(why: impl Into<String>) -> Fault {
    Fault::new(UNVERIFIED, why)
}

/// The kind of a fault that is none: a promise with it is unchecked.
pub const UNVERIFIED: &str = "";
/// What should prove a read came whole, and cannot be read.
pub const UNREADABLE_PROOF: &str = "unreadable-proof";
/// A tile that is not of the tree that the log signed.
pub const TAMPERED_TILE: &str = "tampered-tile";
/// A tile of the tree that the log signed, which it does not serve.
pub const MISSING_TILE: &str = "missing-tile";
/// An entry that is not the one whose hash the tree has.
pub const ALTERED_LEAF: &str = "altered-leaf";
