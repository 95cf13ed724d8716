//! Sign and verify flows by weight, in a plan.

use hammer_values::{KeyConflict, PlanBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sign::SignPlan;
use super::verify::{ReadRekor, VerifyPlan};

/// Flows that sign and flows that verify, mixed by weight: 20 and 80 make every fifth flow one that signs, however long each takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MixedPlan {
    /// Of so many flows as both weights sum up to, this many sign.
    pub sign_weight: u16,
    /// And this many verify.
    pub verify_weight: u16,
    /// The flows that sign.
    pub sign: SignPlan,
    /// The flows that verify.
    pub verify: VerifyPlan,
}

impl Default for MixedPlan {
    fn default() -> Self {
        Self { sign_weight: 20, verify_weight: 80, sign: SignPlan::default(), verify: VerifyPlan::default() }
    }
}

impl PlanBlock for MixedPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.sign_weight == 0 {
            return Some(KeyConflict::at(
                "sign_weight",
                "flows that verify read what others sign: it is 1 at least",
            ));
        }
        if let Some(conflict) = self.verify.conflict() {
            return Some(conflict.below("verify"));
        }
        let is_read = self.verify.corpus.is_some() || self.verify.rekor.has(self.sign.rekor);
        let reads = match self.verify.rekor {
            ReadRekor::V1 => "flows that verify read entries of Rekor v1: `rekor: v1`, or `verify.rekor: v2`",
            ReadRekor::V2 => "flows that verify read entries of Rekor v2: `rekor: v2`, or `v2-grpc`",
        };
        if is_read {
            self.sign.conflict().map(|conflict| conflict.below("sign"))
        } else {
            Some(KeyConflict::at("sign.rekor", reads))
        }
    }
}
