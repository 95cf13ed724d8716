//! The embedded provider as a plan writes it.

use hammer_lab::{FaultScript, serve::ServePlan};
use hammer_values::TimeSpan;
use serde::{Deserialize, Serialize};

/// The embedded provider in a plan file; every key may be left out. For whom its tokens are is settled by what starts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: discovery, jwks, token, other.
    pub faults: FaultScript,
    /// Seed of its P-256 key: whoever knows it holds the key.
    pub key_seed: u64,
    /// How long a token lives, in whole seconds.
    pub expires_in: TimeSpan,
}

impl Default for ProviderLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            // As Keycloak's access tokens.
            expires_in: TimeSpan::from_secs(300),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let plan: ProviderLabPlan = serde_json::from_str(r#"{"expires_in":"3s"}"#).unwrap();
        assert_eq!(plan.expires_in, TimeSpan::from_secs(3));
        assert!(serde_json::from_str::<ProviderLabPlan>(r#"{"expires":"3s"}"#).is_err());
    }
}
