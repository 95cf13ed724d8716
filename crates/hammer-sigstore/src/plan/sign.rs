//! Sign flows in a plan.

use std::path::PathBuf;

use hammer_values::{Count, KeyConflict, PlanBlock, SampleShare, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bundles::BundlesPlan;

/// Sign flows: a certificate of Fulcio, a signature over an artifact, an entry in Rekor, a timestamp. A flow is one operation;
/// each of its steps has a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignPlan {
    /// How Fulcio is asked: `v1` or `v2` over HTTP, or `grpc`; `none` logs the flow's bare key in place of a certificate.
    pub fulcio: FulcioInterface,
    /// Where the signature is logged: `v1`, `v2` (Rekor on tiles), `v2-grpc`, or `none`.
    pub rekor: RekorVersion,
    /// How Fulcio is shown that the key is at hand: `key` and a signature over the identity, or `csr`, a request of PKCS #10 that the key
    /// signs.
    pub request: CertificateRequest,
    /// What is signed, and logged: `hashedrekord` of an artifact, or `dsse`, an envelope around a statement about it. Rekor v2 takes no
    /// envelopes: it logs a hashedrekord of what is signed in one, as cosign has it.
    pub entry: EntryKind,
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
    /// A file that every flow signs, of 1 MiB at most, in place of artifacts of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_file: Option<PathBuf>,
    /// Bundles of the first flows, for others to verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundles: Option<BundlesPlan>,
    /// Which flows under the same seed; by default the workload's place in the plan. Runs of one seed and different streams sign
    /// with different keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// Whether the log is followed along with the load: an accepted entry of Rekor v1 stays a pending promise until its checkpoint was joined
    /// to the followed tree, one of Rekor v2 until it was found in its bundle. Drain waits until nothing is pending.
    pub audit: bool,
    /// Which entries of Rekor v1 are read back once the load is over: `all`, `none` or a share of them; 10 % by default, where the log is
    /// audited. A read costs the log several milliseconds, and drain has to have the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<SampleShare>,
    /// How long after it was answered an entry of Rekor v1 may be unknown where it is read back, and log information may be of a smaller tree
    /// than what was answered: a replica that lags, or a cache, has it later. After that an entry is lost, and a tree has shrunk.
    pub missing_after: TimeSpan,
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

/// How Fulcio is shown that the key of a flow is at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CertificateRequest {
    /// The public key, and a signature over the identity.
    #[default]
    Key,
    /// A certification request (RFC 2986).
    Csr,
}

/// What a flow signs and gets logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// An artifact.
    #[default]
    HashedRekord,
    /// An envelope (DSSE) around a statement (in-toto) about an artifact.
    Dsse,
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

impl SignPlan {
    /// Which entries are read back.
    pub fn read_back(&self) -> SampleShare {
        self.read_back.unwrap_or(SampleShare::percent(10))
    }
}

impl Default for SignPlan {
    fn default() -> Self {
        Self {
            fulcio: FulcioInterface::default(),
            rekor: RekorVersion::default(),
            request: CertificateRequest::default(),
            entry: EntryKind::default(),
            timestamp: true,
            timestamp_entry: false,
            identities: None,
            artifacts: None,
            artifact_file: None,
            bundles: None,
            stream: None,
            audit: true,
            read_back: None,
            missing_after: TimeSpan::from_secs(60),
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
        if self.request == CertificateRequest::Csr && self.fulcio == FulcioInterface::None {
            return Some(KeyConflict::at("request", "nobody is asked for a certificate: `fulcio` is `none`"));
        }
        if self.entry == EntryKind::Dsse && self.rekor == RekorVersion::None {
            return Some(KeyConflict::at(
                "entry",
                "there is no log that it is an entry of: `rekor` is `none`",
            ));
        }
        if self.artifact_file.is_some() && self.artifacts.is_some() {
            return Some(KeyConflict::at(
                "artifact_file",
                "it is the one artifact, and there is no pool of `artifacts`",
            ));
        }
        let on_v1 = self.rekor == RekorVersion::V1;
        if self.timestamp_entry && !on_v1 {
            let only = "only Rekor v1 takes rfc3161 entries (`rekor: v1`)";
            return Some(KeyConflict::at("timestamp_entry", only));
        }
        if self.read_back.is_some() && !on_v1 {
            return Some(KeyConflict::at(
                "read_back",
                "only entries of Rekor v1 are read back (`rekor: v1`)",
            ));
        }
        if self.read_back.is_some_and(|share| share != SampleShare::NONE) && !self.audit {
            return Some(KeyConflict::at("read_back", "without `audit: true` nothing is read back"));
        }
        self.bundles.as_ref().and_then(|bundles| bundles.conflict().or_else(|| self.bundle_conflict()))
    }
}

impl SignPlan {
    /// What flows lack that a bundle has to hold.
    fn bundle_conflict(&self) -> Option<KeyConflict> {
        let lacks = |what| Some(KeyConflict::at("bundles", what));
        match (self.fulcio, self.rekor) {
            (FulcioInterface::None, _) => lacks("a bundle holds a certificate: `fulcio` is not `none`"),
            (_, RekorVersion::None) => lacks("a bundle holds an entry: `rekor` is not `none`"),
            (_, rekor) if rekor.is_on_tiles() && !self.timestamp => {
                lacks("Rekor v2 does not say when something was signed: it needs `timestamp: true`")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_is_asked_for_has_no_form() {
        let conflict = |plan: &str| {
            let plan: SignPlan = serde_json::from_str(plan).unwrap();
            plan.conflict().map(|conflict| conflict.to_string())
        };
        for plan in [
            r#"{"request": "csr", "entry": "dsse"}"#,
            r#"{"request": "csr", "rekor": "none"}"#,
            r#"{"entry": "dsse", "rekor": "v2-grpc", "fulcio": "none"}"#,
        ] {
            assert_eq!(conflict(plan), None, "{plan}");
        }
        for (plan, part) in [
            (r#"{"request": "csr", "fulcio": "none"}"#, "nobody is asked"),
            (r#"{"entry": "dsse", "rekor": "none"}"#, "there is no log"),
        ] {
            assert!(conflict(plan).is_some_and(|told| told.contains(part)), "{plan}");
        }
    }

    #[test]
    fn entries_are_read_back_of_a_rekor_v1_that_is_audited_alone() {
        let conflict = |plan: &str| {
            let plan: SignPlan = serde_json::from_str(plan).unwrap();
            plan.conflict().map(|conflict| conflict.to_string())
        };
        for plan in [
            "{}",
            r#"{"read_back": "all"}"#,
            r#"{"read_back": "none", "audit": false}"#,
            r#"{"audit": false}"#,
        ] {
            assert_eq!(conflict(plan), None, "{plan}");
        }
        for plan in [r#"{"read_back": "10%", "rekor": "v2"}"#, r#"{"read_back": "all", "audit": false}"#] {
            assert!(conflict(plan).is_some_and(|told| told.contains("read back")), "{plan}");
        }
        assert_eq!(SignPlan::default().read_back(), SampleShare::percent(10));
    }
}
