//! Submissions in a plan that a log has to refuse, or that its own policy decides about.

use hammer_values::{ByteSize, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::window::Window;

/// What is wrong with a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InvalidKind {
    /// The chain leads to a root that the log was not given.
    UnknownRoot,
    /// The leaf's signature does not verify.
    BrokenSignature,
    /// The body is cut off half-way.
    NotJson,
    /// `{"chain":[]}`.
    EmptyChain,
    /// A certificate is not base64.
    BadBase64,
    /// A certificate for `add-pre-chain`, or a precertificate for `add-chain`.
    EndpointSwapped,
    /// A precertificate whose poison is not critical.
    PoisonNotCritical,
    /// The leaf has expired; the log's policy decides.
    Expired,
    /// The body is larger than the log takes, or than 192 KiB where the plan does not say; the log's policy decides.
    Oversized,
    /// The leaf is for TLS clients alone; the log's policy decides.
    NoServerAuthEku,
    /// The leaf's NotAfter is outside of the log's window, or ten years ahead where the plan does not say; the log's policy
    /// decides.
    OutsideNotAfterWindow,
}

impl InvalidKind {
    /// All of them: first those that a log always has to refuse (RFC 6962 sections 3.1, 4.1 and 4.2).
    pub const ALL: [Self; 11] = [
        Self::UnknownRoot,
        Self::BrokenSignature,
        Self::NotJson,
        Self::EmptyChain,
        Self::BadBase64,
        Self::EndpointSwapped,
        Self::PoisonNotCritical,
        Self::Expired,
        Self::Oversized,
        Self::NoServerAuthEku,
        Self::OutsideNotAfterWindow,
    ];

    /// Whether no log may accept it, whatever its policy.
    pub const fn is_always(self) -> bool {
        (self as usize) <= Self::PoisonNotCritical as usize
    }

    /// Its name in a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownRoot => "unknown-root",
            Self::BrokenSignature => "broken-signature",
            Self::NotJson => "not-json",
            Self::EmptyChain => "empty-chain",
            Self::BadBase64 => "bad-base64",
            Self::EndpointSwapped => "endpoint-swapped",
            Self::PoisonNotCritical => "poison-not-critical",
            Self::Expired => "expired",
            Self::Oversized => "oversized",
            Self::NoServerAuthEku => "no-server-auth-eku",
            Self::OutsideNotAfterWindow => "outside-not-after-window",
        }
    }

    /// Whether it takes the key of an authority that the log knows.
    pub(crate) const fn needs_issuer(self) -> bool {
        (self as usize) >= Self::PoisonNotCritical as usize
    }
}

/// What a log says that it accepts; what is left out is not judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyPlan {
    /// Whether it refuses expired leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject_expired: Option<bool>,
    /// The largest body that it takes; up to 4 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body: Option<BodyLimit>,
    /// The extended key usages of which a leaf needs one; an empty list means that it does not look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ext_key_usages: Option<Vec<ExtKeyUsage>>,
}

/// The largest body that a log takes: a byte at least, 4 MiB at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ByteSize", into = "ByteSize")]
#[schemars(with = "ByteSize")]
pub struct BodyLimit(ByteSize);

impl TryFrom<ByteSize> for BodyLimit {
    type Error = ValueError;

    fn try_from(size: ByteSize) -> Result<Self, ValueError> {
        match size {
            size if size < LEAST => Err(ValueError::below(LEAST.to_string())),
            size if size > MOST => Err(ValueError::above(MOST.to_string())),
            size => Ok(Self(size)),
        }
    }
}

impl From<BodyLimit> for ByteSize {
    fn from(limit: BodyLimit) -> Self {
        limit.0
    }
}

/// An extended key usage, by the name that TesseraCT's `--ext_key_usages` has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExtKeyUsage {
    /// Any of them.
    Any,
    /// TLS servers.
    ServerAuth,
    /// TLS clients.
    ClientAuth,
    /// Signed code.
    CodeSigning,
    /// Mail.
    EmailProtection,
    /// Time stamps.
    TimeStamping,
    /// OCSP answers.
    #[serde(rename = "OCSPSigning")]
    OcspSigning,
}

/// A policy as it is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policy<'a> {
    pub(crate) stated: &'a PolicyPlan,
    /// That of the log.
    pub(crate) window: Window,
}

impl Policy<'_> {
    /// Whether such a submission must be refused, or accepted; none where that was not stated.
    pub(crate) fn refuses(&self, kind: InvalidKind, epoch: u64) -> Option<bool> {
        let PolicyPlan { reject_expired, max_body, ext_key_usages } = self.stated;
        match kind {
            kind if kind.is_always() => Some(true),
            InvalidKind::Expired if !self.window.holds(expired_at(epoch)) => Some(true),
            InvalidKind::Expired => *reject_expired,
            InvalidKind::Oversized => max_body.map(|_| true),
            InvalidKind::NoServerAuthEku => ext_key_usages.as_ref().map(|wanted| {
                let taken = [ExtKeyUsage::Any, ExtKeyUsage::ClientAuth];
                !wanted.is_empty() && taken.iter().all(|usage| !wanted.contains(usage))
            }),
            _ => (self.window != Window::ALL).then_some(true),
        }
    }

    /// The largest body, or one that is larger than some logs take.
    pub(crate) fn most_bytes(&self) -> usize {
        self.stated.max_body.map_or(UNSTATED, |limit| limit.0).in_memory()
    }

    /// A NotAfter that the window does not have, or one far ahead.
    pub(crate) fn outside(&self, epoch: u64) -> u64 {
        let before = self.window.start.map(|start| start.saturating_sub(1));
        self.window.limit.or(before).unwrap_or(epoch + TEN_YEARS)
    }
}

/// The NotAfter of a leaf that has expired.
pub(crate) fn expired_at(epoch: u64) -> u64 {
    epoch.saturating_sub(86_400)
}

const LEAST: ByteSize = ByteSize::from_bytes(1);
/// More is not worth sending to be refused.
const MOST: ByteSize = ByteSize::from_mib(4);
/// Sunlight takes 128 KiB.
const UNSTATED: ByteSize = ByteSize::from_kib(192);
const TEN_YEARS: u64 = 3650 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = 1_800_000_000;
    const DAY: u64 = 86_400;

    fn window(start: Option<u64>, limit: Option<u64>) -> Window {
        Window { start, limit }
    }

    #[test]
    fn names_are_those_of_a_plan() {
        for kind in InvalidKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(InvalidKind::ALL[kind as usize], kind);
        }
    }

    #[test]
    fn only_what_the_policy_states_is_judged() {
        use InvalidKind::{Expired, NoServerAuthEku, OutsideNotAfterWindow, Oversized, UnknownRoot};
        let from_today = window(Some(EPOCH), None);
        for (policy, window, kind, judged) in [
            ("{}", Window::ALL, Expired, None),
            ("{}", Window::ALL, Oversized, None),
            ("{}", Window::ALL, NoServerAuthEku, None),
            ("{}", Window::ALL, OutsideNotAfterWindow, None),
            ("{}", Window::ALL, UnknownRoot, Some(true)),
            (r#"{"reject_expired":true}"#, Window::ALL, Expired, Some(true)),
            (r#"{"reject_expired":false}"#, Window::ALL, Expired, Some(false)),
            (r#"{"reject_expired":false}"#, from_today, Expired, Some(true)),
            ("{}", from_today, Expired, Some(true)),
            ("{}", window(None, Some(EPOCH)), Expired, None),
            (r#"{"max_body":"1000B"}"#, Window::ALL, Oversized, Some(true)),
            (r#"{"ext_key_usages":["ServerAuth"]}"#, Window::ALL, NoServerAuthEku, Some(true)),
            (r#"{"ext_key_usages":["ServerAuth","ClientAuth"]}"#, Window::ALL, NoServerAuthEku, Some(false)),
            (r#"{"ext_key_usages":[]}"#, Window::ALL, NoServerAuthEku, Some(false)),
            ("{}", from_today, OutsideNotAfterWindow, Some(true)),
        ] {
            let stated: PolicyPlan = serde_json::from_str(policy).unwrap();
            let policy = Policy { stated: &stated, window };
            assert_eq!(policy.refuses(kind, EPOCH), judged, "{policy:?} {kind:?}");
        }
    }

    #[test]
    fn the_not_after_outside_is_the_first_that_is() {
        let stated = PolicyPlan::default();
        let outside = |window| Policy { stated: &stated, window }.outside(EPOCH);
        assert_eq!(outside(window(Some(EPOCH), Some(EPOCH + DAY))), EPOCH + DAY);
        assert_eq!(outside(window(Some(EPOCH), None)), EPOCH - 1);
        assert_eq!(outside(Window::ALL), EPOCH + TEN_YEARS);
    }

    #[test]
    fn a_policy_that_cannot_be_is_refused() {
        for unknown in [
            r#"{"max_size":1}"#,
            r#"{"ext_key_usages":["Server"]}"#,
            r#"{"max_body":0}"#,
            r#"{"max_body":"5MiB"}"#,
        ] {
            assert!(serde_json::from_str::<PolicyPlan>(unknown).is_err(), "{unknown}");
        }
    }
}
