//! The services of a verifier in plans.

use std::collections::BTreeMap;

use hammer_rats::TrustTier;
use hammer_values::{Agreed, OneOrMany, ServiceUrl, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::auth::AuthPlan;
use crate::device_class::DeviceClass;

/// A verifier (Veraison): its services, and what they are held to. Their discovery documents say the rest: paths, media types, the key of
/// results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AttestTargetPlan {
    /// Provisioning: what stands before `/.well-known/veraison/provisioning`; several frontends of one service, of which balancing chooses.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub provisioning_url: OneOrMany<ServiceUrl>,
    /// Verification: what stands before `/.well-known/veraison/verification`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub verification_url: OneOrMany<ServiceUrl>,
    /// Management: what stands before `/.well-known/veraison/management`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub management_url: OneOrMany<ServiceUrl>,
    /// What provisioning lets in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<Agreed<AuthPlan>>,
    /// How far the clock of verification may be from this machine's.
    pub skew: TimeSpan,
    /// The longest time from a device that provisioning took in to a verification that knows it. No flow shows a device before that.
    pub provisioning_delay: TimeSpan,
    /// What the service's policy says of devices, where that is another than the one which comes with its release.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expected: BTreeMap<DeviceClass, ExpectedTier>,
}

/// A trustworthiness tier (draft-ietf-rats-ar4si, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedTier {
    /// Nothing is said.
    None,
    /// The device is as it should be.
    Affirming,
    /// It may be relied on with care.
    Warning,
    /// It is not to be relied on.
    Contraindicated,
}

impl From<ExpectedTier> for TrustTier {
    fn from(tier: ExpectedTier) -> Self {
        match tier {
            ExpectedTier::None => Self::None,
            ExpectedTier::Affirming => Self::Affirming,
            ExpectedTier::Warning => Self::Warning,
            ExpectedTier::Contraindicated => Self::Contraindicated,
        }
    }
}

impl Default for AttestTargetPlan {
    fn default() -> Self {
        Self {
            provisioning_url: OneOrMany::default(),
            verification_url: OneOrMany::default(),
            management_url: OneOrMany::default(),
            auth: None,
            skew: TimeSpan::from_secs(60),
            provisioning_delay: TimeSpan::from_secs(1),
            expected: BTreeMap::new(),
        }
    }
}
