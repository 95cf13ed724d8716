use hammer_core::promise::Fault;
use hammer_tlog::logs::tile::TileId;

/// That there was nothing to hold what was read against, which is no breach.
pub fn unverified() -> Fault {
    Fault::new(UNVERIFIED, "")
}

/// The same, for that reason.
pub fn unverified_since(why: impl Into<String>) -> Fault {
    Fault::new(UNVERIFIED, why)
}

/// A head that a read is held against, where it is the log's. Each head that is served is promised by itself as it is read: one that is not
/// the log's is accused there, once, and not again with everything that a session holds against it.
///
/// # Errors
/// That there is nothing to hold the read against, with what is wrong with the head.
pub fn known_head<T>(head: Result<T, Fault>) -> Result<T, Fault> {
    head.map_err(|Fault { detail, .. }| {
        unverified_since(format!("a head that was served is not the log's: {detail}"))
    })
}

/// That the log does not serve a tile of the tree of `head`, which is no fault of its where the head is not its own.
pub fn missing_tile<T>(head: Result<T, Fault>, tile: TileId) -> Fault {
    match known_head(head) {
        Ok(_) => Fault::new(MISSING_TILE, format!("{tile} is not served")),
        Err(nothing) => nothing,
    }
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
