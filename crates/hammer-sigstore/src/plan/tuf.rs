//! A TUF repository, and refreshes of its clients, in a plan.

use std::path::PathBuf;

use hammer_values::{OneOrMany, ServiceUrl, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The TUF repository from which clients of the instance get what they trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TufTargetPlan {
    /// Where it is: what stands before `/timestamp.json`.
    pub url: OneOrMany<ServiceUrl>,
    /// The file of the root that clients come with (`1.root.json`, say). It is believed as it is.
    pub root: PathBuf,
    /// The target that says whom to trust.
    #[serde(default = "trusted_root")]
    pub target: String,
}

/// Refreshes of a TUF repository: each is all that a client asks for until it has the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TufPlan {
    /// What a client has before a refresh: `none` (nothing but the root that it came with), `root` (the newest root of its refresh
    /// before) or `warm` (all of that).
    pub cache: TufCache,
    /// The target that clients want.
    pub target: String,
    /// How much older than the newest that any client of the run has got metadata may still be: that of a mirror, or of a cache in
    /// front of the repository. What is older is rolled back, and a broken promise.
    pub stale_for: TimeSpan,
}

/// What a client of a TUF repository keeps between its refreshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TufCache {
    /// Nothing: as a fresh machine.
    #[default]
    None,
    /// The newest root.
    Root,
    /// Everything.
    Warm,
}

impl Default for TufPlan {
    fn default() -> Self {
        Self { cache: TufCache::None, target: trusted_root(), stale_for: TimeSpan::from_secs(60) }
    }
}

fn trusted_root() -> String {
    "trusted_root.json".to_owned()
}
