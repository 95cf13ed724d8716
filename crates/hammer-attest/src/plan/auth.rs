//! Who may provision, in plans.

use hammer_exchange::basic::BasicPlan;
use hammer_exchange::bearer::BearerPlan;
use hammer_values::{KeyConflict, PlanBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What requests to provisioning are let in by: a user with a password, or a token. Verification asks nobody, nor do discovery documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthPlan {
    /// A user with a password (RFC 7617).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic: Option<BasicPlan>,
    /// A bearer token (RFC 6750).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<BearerPlan>,
}

impl PlanBlock for AuthPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if let Some(conflict) = self.basic.as_ref().and_then(BasicPlan::conflict) {
            return Some(conflict.below("basic"));
        }
        let grant = self.bearer.as_ref().and_then(BearerPlan::grant);
        if let Some(conflict) = grant.and_then(|grant| grant.placed(None).err()) {
            return Some(conflict.below("bearer.grant"));
        }
        match (&self.basic, &self.bearer) {
            (Some(_), Some(_)) => {
                Some(KeyConflict::at("bearer", "there is `basic` already: give one of both"))
            }
            (None, None) => Some(KeyConflict::at("basic", "give one of basic, bearer")),
            _ => None,
        }
    }
}
