//! The embedded Veraison as a plan writes it.

use std::path::PathBuf;

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::{Count, Share, TimeSpan};
use serde::{Deserialize, Serialize};

/// An embedded Veraison; every key may be left out. What it was provisioned with is kept in memory for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttestLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: discovery, submit, new-session, evidence, session, delete, other.
    pub faults: FaultScript,
    /// The release whose dialect, rules and answers it has.
    pub release: Release,
    /// Seed of the P-256 key that signs attestation results: whoever knows it holds the key.
    pub key_seed: u64,
    /// How long a session is there.
    pub session_ttl: TimeSpan,
    /// Most sessions that are there at once; beyond that the oldest goes, as in a cache.
    pub max_sessions: Count,
    /// PEM files with the certificates that the chain of a signed CoRIM has to lead to. Without any its signature is verified by its own
    /// first certificate, and nobody asks who that is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ca_certs: Vec<PathBuf>,
    /// Who may provision, by name and password; anybody, where there is none. Nobody is asked who verifies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<LabUser>,
    /// What its store takes and bears.
    pub store: StorePlan,
    /// It listens before it is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_late: Option<LateStart>,
    /// Sessions that it loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_sessions: Option<LostSessions>,
    /// Evidence is answered with 202 and appraised later, as its interface allows and no scheme of the real ones does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing: Option<Processing>,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<AttestLieKind>>,
}

impl Default for AttestLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            release: Release::default(),
            key_seed: 1,
            session_ttl: TimeSpan::from_secs(150),
            max_sessions: Count::at_least_one(65_536),
            ca_certs: Vec::new(),
            users: Vec::new(),
            store: StorePlan::default(),
            starts_late: None,
            lost_sessions: None,
            processing: None,
            lies: Vec::new(),
        }
    }
}

/// A user of an embedded target: nobody's secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabUser {
    /// The name, without a colon.
    pub name: String,
    /// The password.
    pub password: String,
    /// Whether the user may provision.
    #[serde(default = "yes")]
    pub provisions: bool,
}

const fn yes() -> bool {
    true
}

/// A release of Veraison's services.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Release {
    /// CoRIMs of the profile `http://arm.com/psa/iot/1`, stored as often as they are sent.
    #[default]
    #[serde(rename = "v0.0.2502")]
    V2502,
    /// CoRIMs of the profile `tag:arm.com,2025:psa#1.0.0`, signed or not, each stored once.
    #[serde(rename = "v0.0.2608")]
    V2608,
}

/// The store of trust anchors and reference values. It takes no time of a processor, but lets who asks wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorePlan {
    /// Time that evidence takes in it for each row that is stored, as where no index helps.
    pub row_time: TimeSpan,
    /// Time that evidence takes in it besides.
    pub read_time: TimeSpan,
    /// Time that a CoRIM takes in it.
    pub write_time: TimeSpan,
    /// Requests that it works on at once; more wait for their turn.
    pub workers: Count,
    /// Requests that are in it at once, those that wait included; one more is refused ("too many clients already"). Any number without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<Count>,
}

impl Default for StorePlan {
    fn default() -> Self {
        Self {
            row_time: TimeSpan::ZERO,
            read_time: TimeSpan::ZERO,
            write_time: TimeSpan::ZERO,
            workers: Count::at_least_one(2),
            max_connections: None,
        }
    }
}

/// A frontend that listens for a while before it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LateStart {
    /// How long, from its start; a restart of its faults changes nothing.
    pub ready_after: TimeSpan,
    /// What it answers until then.
    #[serde(default)]
    pub answer: LateAnswer,
}

/// What a frontend answers that is not ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateAnswer {
    /// All but discovery as if it were ready; discovery says `INITIALIZING`.
    #[default]
    Initializing,
    /// 503 to all.
    Unavailable,
    /// 500 to what needs the trusted services behind it, which are not there: discovery, new sessions, CoRIMs, evidence.
    NoTrustedServices,
}

/// Sessions that are not there any more, as where they are kept in the process of another frontend, or of one that was started anew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostSessions {
    /// The share of sessions that is lost, 0 to 1.
    pub share: Share,
    /// When those that are there are lost, from the start of the service (or the last restart of its faults). Without it each
    /// new one is lost or not as soon as it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeSpan>,
}

/// Evidence whose appraisal is not awaited by its answer. It is over once both are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Processing {
    /// So many looks at the session still show `processing`.
    pub polls: u64,
    /// So long it takes.
    pub time: TimeSpan,
}

/// What a lie of the embedded Veraison is. All that it does not name is right. Rules count attestation results in the order in which they are
/// made, where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttestLieKind {
    /// The result has another nonce.
    WrongNonce,
    /// Another key signed the result.
    AnotherKey,
    /// The result has the evidence of another device. It counts results with evidence.
    AnotherDevice,
    /// The result affirms what should not be. It counts those that affirm nothing.
    AffirmingBad,
    /// The result contraindicates what should be affirmed. It counts those that affirm.
    ContraindicatedGood,
    /// The result is an hour old.
    PastResult,
    /// The result is of another profile.
    AnotherProfile,
    /// From the first on all results are signed by another key, and discovery shows the old one.
    ChangedKey,
    /// A CoRIM is answered with success, and never stored. It counts CoRIMs that should be stored.
    LostDevice,
    /// A session is given the nonce of the one before it. It counts sessions that were asked for without a nonce, but the first.
    RepeatedNonce,
    /// The session that shows the result shows another nonce beside it.
    ShownNonce,
    /// The session that shows the result shows other evidence beside it.
    ShownEvidence,
}

impl AttestLieKind {
    /// Whether it is told of a session as it is opened.
    pub(crate) fn is_of_openings(self) -> bool {
        self == Self::RepeatedNonce
    }

    /// Whether it is told of CoRIMs, and not of results.
    pub(crate) fn is_of_corims(self) -> bool {
        self == Self::LostDevice
    }
}

/// A lie that was told, with what whoever was lied to knows it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldAttestLie {
    /// What the lie was.
    pub kind: AttestLieKind,
    /// The session of a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The session's nonce, in standard base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The device's instance id, in hexadecimal digits, where it was found out; of a CoRIM with several devices the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_survives_its_own_text_and_unknown_keys_are_refused() {
        let text = serde_json::to_string(&AttestLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<AttestLabPlan>(&text).unwrap(), AttestLabPlan::default());
        assert!(serde_json::from_str::<AttestLabPlan>(r#"{"seed": 5}"#).is_err());
    }

    #[test]
    fn a_plan_reads_from_text() {
        let plan: AttestLabPlan = serde_json::from_str(
            r#"{"release": "v0.0.2608", "store": {"row_time": "10us", "workers": 4, "max_connections": 100},
                "starts_late": {"ready_after": "3s", "answer": "no-trusted-services"},
                "lost_sessions": {"share": "5%", "at": "2s"}, "processing": {"polls": 2},
                "lies": [{"kind": "affirming-bad", "times": 1}]}"#,
        )
        .unwrap();
        assert_eq!(plan.release, Release::V2608);
        assert_eq!(plan.store.max_connections, Some(Count::at_least_one(100)));
        assert_eq!(plan.starts_late.unwrap().answer, LateAnswer::NoTrustedServices);
        assert_eq!(plan.lies[0].kind, AttestLieKind::AffirmingBad);
        assert_eq!(plan.processing.unwrap(), Processing { polls: 2, time: TimeSpan::ZERO });
    }
}
