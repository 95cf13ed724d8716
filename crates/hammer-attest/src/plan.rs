//! Attestation in plans: the services, and what is asked of them.

mod auth;
mod devices;
mod target;
mod verify;

pub use auth::AuthPlan;
pub use devices::{DevicesPlan, ProvisionPlan, SignerPlan};
pub use target::AttestTargetPlan;
pub use verify::{BadDevicesPlan, NonceSource, TokenProfilePlan, VerifyPlan};

use hammer_values::Weights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads of discovery documents, each one operation: it has to be one, and to say that its service is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WellKnownPlan {
    /// How often each document is read, as weights. Each is a series: `provisioning`, `verification`, `management`.
    pub mix: Weights<DiscoveryKind, u16>,
}

/// Whose discovery document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiscoveryKind {
    /// `/.well-known/veraison/provisioning`
    Provisioning,
    /// `/.well-known/veraison/verification`
    Verification,
    /// `/.well-known/veraison/management`
    Management,
}

impl Default for WellKnownPlan {
    /// As the published load test of Veraison read it.
    fn default() -> Self {
        let mix =
            [(DiscoveryKind::Provisioning, 1)].into_iter().collect::<std::collections::BTreeMap<_, _>>();
        Self { mix: mix.try_into().unwrap_or_default() }
    }
}

impl DiscoveryKind {
    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Verification => "verification",
            Self::Management => "management",
        }
    }

    /// The path of the document.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Provisioning => "/.well-known/veraison/provisioning",
            Self::Verification => "/.well-known/veraison/verification",
            Self::Management => "/.well-known/veraison/management",
        }
    }
}
