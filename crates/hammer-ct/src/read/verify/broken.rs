use hammer_core::promise::Fault;

pub(super) fn unverified() -> Fault {
    Fault::new(UNVERIFIED, "")
}

/// Not a breach: there was nothing to hold what was read against.
pub(super) const UNVERIFIED: &str = "";
pub(super) const UNREADABLE_PROOF: &str = "unreadable-proof";
pub(super) const TAMPERED_TILE: &str = "tampered-tile";
pub(super) const MISSING_TILE: &str = "missing-tile";
pub(super) const ALTERED_LEAF: &str = "altered-leaf";
