//! The embedded timestamp authority as a plan writes it.

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use serde::{Deserialize, Serialize};

use hammer_lab_authority::AuthorityCurve;

/// What a lie of the embedded timestamp authority is. All that it does not name is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TsaLieKind {
    /// The timestamp is of another imprint of the same length.
    TimestampOverAnotherImprint,
    /// The timestamp has another nonce, or one where none was asked for.
    TimestampWithAnotherNonce,
    /// An authority of the same names and other keys, which the served chain does not lead to, made the timestamp.
    TimestampByAnUntrustedChain,
    /// The signature over the timestamp does not verify.
    BadTimestampSignature,
    /// The time of the timestamp is an hour before that at which it was made.
    TimestampInThePast,
    /// The chain that is served is one of the same names that no timestamp leads to. It is told of answers with the chain, and counts
    /// those alone.
    AnotherChain,
}

impl TsaLieKind {
    /// Whether it is about the chain that is served, and not about a timestamp.
    pub(super) fn is_of_chains(self) -> bool {
        self == Self::AnotherChain
    }
}

/// The embedded timestamp authority in a plan file; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TsaLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: timestamp, certchain, ping, other.
    pub faults: FaultScript,
    /// Seed of the P-256 keys of the chain: whoever knows it holds them.
    pub key_seed: u64,
    /// The curve of every key of the chain.
    pub curve: AuthorityCurve,
    /// Whether a timestamp is answered with 201, as older servers do, and not with 200.
    pub use_http_201: bool,
    /// Whether the issuers of the signing certificate are in the timestamp as well, where certificates are asked for.
    pub include_chain_in_response: bool,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<TsaLieKind>>,
}

impl Default for TsaLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            curve: AuthorityCurve::default(),
            use_http_201: false,
            include_chain_in_response: false,
            lies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"use_http_201": true, "lies": [{"kind": "timestamp-in-the-past", "times": 1}]}"#;
        let plan: TsaLabPlan = serde_json::from_str(text).unwrap();
        assert!(plan.use_http_201);
        assert_eq!(plan.lies[0].kind, TsaLieKind::TimestampInThePast);
        assert!(serde_json::from_str::<TsaLabPlan>(r#"{"http_201": true}"#).is_err());
    }

    #[test]
    fn the_default_plan_survives_its_own_text() {
        let text = serde_json::to_string(&TsaLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<TsaLabPlan>(&text).unwrap(), TsaLabPlan::default());
    }
}
