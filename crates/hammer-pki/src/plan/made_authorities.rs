//! Authorities that are made in plans.

use std::net::SocketAddr;

use hammer_values::{ByteSize, Count, ServiceUrl, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Authorities (CA) that are made, and issue the certificates of made signers in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeAuthoritiesPlan {
    /// How many: P-256 keys and certificates that follow from the seed, byte for byte.
    pub number: Count,
    /// The list of revoked certificates (CRL) of each, which hammer serves while the run lasts.
    #[serde(default)]
    pub crl: CrlPlan,
}

/// A list of revoked certificates (CRL, RFC 5280 section 5) as it is served. No signer is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CrlPlan {
    /// How long it is: filled with serial numbers of nobody, as many as have room.
    pub size: ByteSize,
    /// How long a fetch waits for its first byte.
    pub delay: TimeSpan,
    /// How long it is current; whoever fetches shortly before its end has a new one.
    pub valid_for: TimeSpan,
    /// Where lists are served; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// What certificates name in place of that address, where the service reaches hammer by another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
}

impl Default for CrlPlan {
    fn default() -> Self {
        Self {
            size: ByteSize::from_kib(64),
            delay: TimeSpan::ZERO,
            valid_for: TimeSpan::from_secs(3600),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            url: None,
        }
    }
}
