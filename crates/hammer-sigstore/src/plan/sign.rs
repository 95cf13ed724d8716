//! Sign flows in a plan.

use hammer_values::{Count, KeyConflict, PlanBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sign flows: a certificate of Fulcio, a signature over an artifact, an entry in Rekor, a timestamp. A flow is one operation;
/// each of its steps has a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignPlan {
    /// How Fulcio is asked: `v1` or `v2` over HTTP, or `grpc`; `none` logs the flow's bare key in place of a certificate.
    pub fulcio: FulcioInterface,
    /// Where the signature is logged: `v1`, `v2` (Rekor on tiles), `v2-grpc`, or `none`.
    pub rekor: RekorVersion,
    /// Whether a timestamp authority is asked for a timestamp over the signature.
    pub timestamp: bool,
    /// Whether that timestamp is logged in Rekor too (`rfc3161`, Rekor v1 alone).
    pub timestamp_entry: bool,
    /// Among so many identities each flow draws its own; without it each has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identities: Option<Count>,
    /// Among so many artifacts each flow draws its own; without it each has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Count>,
    /// Which flows under the same seed; by default the workload's place in the plan. Runs of one seed and different streams sign
    /// with different keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// Whether every accepted entry of Rekor v2 stays a pending promise until it was found in its bundle: the log is then followed and read
    /// along with the load, and drain waits until nothing is pending.
    pub audit: bool,
}

/// How Fulcio is asked for a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FulcioInterface {
    /// `POST /api/v1/signingCert`.
    #[default]
    V1,
    /// `POST /api/v2/signingCert`.
    V2,
    /// `dev.sigstore.fulcio.v2.CA/CreateSigningCertificate`.
    Grpc,
    /// Not at all.
    None,
}

/// Which Rekor logs a signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RekorVersion {
    /// Rekor v1, on Trillian.
    #[default]
    V1,
    /// Rekor v2, on tiles.
    V2,
    /// Rekor v2 over gRPC.
    V2Grpc,
    /// No log.
    None,
}

impl RekorVersion {
    /// Whether the log is one on tiles.
    pub const fn is_on_tiles(self) -> bool {
        matches!(self, Self::V2 | Self::V2Grpc)
    }
}

impl Default for SignPlan {
    fn default() -> Self {
        Self {
            fulcio: FulcioInterface::default(),
            rekor: RekorVersion::default(),
            timestamp: true,
            timestamp_entry: false,
            identities: None,
            artifacts: None,
            stream: None,
            audit: true,
        }
    }
}

impl PlanBlock for SignPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.timestamp_entry && !self.timestamp {
            return Some(KeyConflict::at(
                "timestamp_entry",
                "without `timestamp: true` there is none to log",
            ));
        }
        if self.fulcio == FulcioInterface::None && self.rekor == RekorVersion::None && !self.timestamp {
            return Some(KeyConflict::at("fulcio", "a flow without any step sends nothing"));
        }
        let on_v1 = self.rekor == RekorVersion::V1;
        (self.timestamp_entry && !on_v1)
            .then(|| KeyConflict::at("timestamp_entry", "only Rekor v1 takes rfc3161 entries (`rekor: v1`)"))
    }
}
