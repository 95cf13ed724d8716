//! Where heads of Rekor go that were verified beside whoever follows its logs.

use hammer_audit::HeadMemory;

/// Where heads of either log go that were verified and that no promise waits for; nowhere where nobody follows that log.
#[derive(Clone, Debug, Default)]
pub struct FollowedHeads {
    /// Those of Rekor v1.
    pub rekor: Option<HeadMemory>,
    /// Those of Rekor v2.
    pub tiles: Option<HeadMemory>,
}
