//! Verify flows in plans.

use hammer_rats::TokenProfile;
use hammer_values::{Share, TimeSpan, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::devices::DevicesPlan;
use crate::device_class::DeviceClass;

/// Verification: each operation is a session with its evidence (newSession, evidence, the polls until there is a result, DELETE), and each
/// of these a series. The result is verified and held against what the device should get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyPlan {
    /// Which devices. Drawn are those that a workload of the run, or its fill, got provisioned; with `count`, all of them.
    pub devices: DevicesPlan,
    /// Devices that earlier runs of the plan got provisioned are enough, where this one provisions none.
    pub from_earlier_runs: bool,
    /// Each user provisions a device as it enters, the one of its number.
    pub provision_at_start: bool,
    /// Who chooses the nonce of a session.
    pub nonce: NonceSource,
    /// By which claims tokens are written.
    pub profile: TokenProfilePlan,
    /// The media type of the evidence.
    pub evidence_type: String,
    /// Devices with which something is wrong.
    pub bad: BadDevicesPlan,
    /// Whether all requests of a session go to the frontend that opened it, where there are several.
    pub pinned: bool,
    /// How long a flow waits before it asks again for a result that is not there yet.
    pub poll_every: TimeSpan,
    /// Whether the result is read again by a request of its own once it is there.
    pub read_result: bool,
    /// Whether the session is deleted in the end.
    pub delete: bool,
}

/// Who chooses the nonce of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NonceSource {
    /// hammer, for each session another one: tokens are signed ahead.
    #[default]
    Own,
    /// The service: tokens are signed within the flow.
    Service,
    /// hammer, one for each device: its sessions all have the same token, as in the published load test of Veraison.
    Device,
}

/// By which claims tokens are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenProfilePlan {
    /// `PSA_IOT_PROFILE_1`
    Psa1,
    /// `http://arm.com/psa/2.0.0`
    #[default]
    Psa2,
}

/// Devices with which something is wrong, and which must be judged so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BadDevicesPlan {
    /// Which of the operations have one.
    pub share: Share,
    /// What is wrong with them, as weights.
    pub mix: Weights<DeviceClass, u16>,
}

impl VerifyPlan {
    /// The key that contradicts the others, below the workload's section, and why.
    pub fn misfit(&self) -> Option<(&'static str, &'static str)> {
        let BadDevicesPlan { share, mix } = &self.bad;
        let has_bad = mix.drawn().any(|(class, _)| *class != DeviceClass::Good);
        let has_good = mix.iter().any(|(class, _)| *class == DeviceClass::Good);
        if has_good || (*share > Share::NONE && !has_bad) {
            return Some(("bad.mix", "name what is wrong with bad devices, and no good ones"));
        }
        if *share == Share::NONE && self.bad != BadDevicesPlan::default() {
            return Some((
                "bad.share",
                "without a share of bad devices none is drawn; give one, or leave out `bad.mix`",
            ));
        }
        if self.poll_every.duration() < LEAST_POLL {
            return Some(("poll_every", "it is 1ms at least"));
        }
        self.devices.misfit()
    }
}

impl Default for VerifyPlan {
    fn default() -> Self {
        Self {
            devices: DevicesPlan::default(),
            from_earlier_runs: false,
            provision_at_start: false,
            nonce: NonceSource::default(),
            profile: TokenProfilePlan::default(),
            evidence_type: "application/psa-attestation-token".to_owned(),
            bad: BadDevicesPlan::default(),
            pinned: true,
            poll_every: TimeSpan::from_millis(100),
            read_result: false,
            delete: true,
        }
    }
}

impl Default for BadDevicesPlan {
    /// None; where there are some, something else is wrong with each.
    fn default() -> Self {
        let bad = DeviceClass::ALL.into_iter().filter(|class| *class != DeviceClass::Good);
        let mix = bad.map(|class| (class, 1)).collect::<std::collections::BTreeMap<_, _>>();
        Self { share: Share::NONE, mix: mix.try_into().unwrap_or_default() }
    }
}

impl From<TokenProfilePlan> for TokenProfile {
    fn from(plan: TokenProfilePlan) -> Self {
        match plan {
            TokenProfilePlan::Psa1 => Self::Psa1,
            TokenProfilePlan::Psa2 => Self::Psa2,
        }
    }
}

/// Polls without a pause would be a load of their own.
const LEAST_POLL: std::time::Duration = std::time::Duration::from_millis(1);
