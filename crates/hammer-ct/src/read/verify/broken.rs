/// The kind of a broken promise, the index of the entry that it is about, where there is one, and what was found.
pub(super) type Broken = (&'static str, Option<u64>, String);

pub(super) fn unverified() -> Broken {
    (UNVERIFIED, None, String::new())
}

/// Not a breach: there was nothing to hold what was read against.
pub(super) const UNVERIFIED: &str = "";
pub(super) const UNREADABLE_PROOF: &str = "unreadable-proof";
pub(super) const TAMPERED_TILE: &str = "tampered-tile";
pub(super) const MISSING_TILE: &str = "missing-tile";
pub(super) const ALTERED_LEAF: &str = "altered-leaf";
