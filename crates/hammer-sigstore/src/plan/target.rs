//! The services of Sigstore in a plan, and what they are held to.

use std::path::PathBuf;

use hammer_values::{Agreed, OneOrMany, ServiceUrl, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::IdentityPlan;
use super::tuf::TufTargetPlan;

/// The services of Sigstore in a plan file or on a command line; those that no workload uses may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SigstoreTargetPlan {
    /// Fulcio over HTTP: what stands before `/api/v1/signingCert`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub fulcio_url: OneOrMany<ServiceUrl>,
    /// Fulcio over gRPC.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub fulcio_grpc_url: OneOrMany<ServiceUrl>,
    /// Rekor v1: what stands before `/api/v1/log/entries`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub rekor_url: OneOrMany<ServiceUrl>,
    /// Rekor v2, where entries are written: what stands before `/api/v2/log/entries`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub rekor_tiles_url: OneOrMany<ServiceUrl>,
    /// Rekor v2 over gRPC.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub rekor_tiles_grpc_url: OneOrMany<ServiceUrl>,
    /// Rekor v2, where its log is read: what stands before `/checkpoint` and `/tile/`; by default `rekor_tiles_url` and `/api/v2`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub rekor_tiles_read_url: OneOrMany<ServiceUrl>,
    /// The timestamp authority: what stands before `/api/v1/timestamp`.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub timestamp_url: OneOrMany<ServiceUrl>,
    /// The file that says where the services are: `signing_config.json` (version 0.2), as cosign and sigstore-go read it. URLs that are given
    /// beside it win.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_config: Option<PathBuf>,
    /// The TUF repository of the instance: what `sigstore_tuf` refreshes, and where what is trusted comes from before the run where
    /// there is no `trusted_root`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuf: Option<TufTargetPlan>,
    /// Who says whom to trust, where no file does: the plan and its TUF repository (`plan`), or the services themselves (`servers`).
    pub trust: TrustSource,
    /// The file of all that is trusted: `trusted_root.json` as cosign and sigstore-go read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_root: Option<PathBuf>,
    /// PEM file of Fulcio's chain, its root last; with or in place of `trusted_root`, as the keys that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fulcio_chain: Option<PathBuf>,
    /// PEM file of the key of the CT log behind Fulcio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ct_log_key: Option<PathBuf>,
    /// PEM file of Rekor v1's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rekor_key: Option<PathBuf>,
    /// PEM file of Rekor v2's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rekor_tiles_key: Option<PathBuf>,
    /// The first line of Rekor v2's checkpoints; by default the host without port of `rekor_tiles_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rekor_tiles_origin: Option<String>,
    /// PEM file of the timestamp authority's chain, its root last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_chain: Option<PathBuf>,
    /// Whether Fulcio's certificates have to carry an SCT: by default where the key of a CT log is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_sct: Option<bool>,
    /// How far the clocks of the services may be from this machine's.
    pub skew: TimeSpan,
    /// The longest time from an accepted entry of Rekor v2 to a checkpoint that covers it.
    pub publication_delay: TimeSpan,
    /// Whose tokens Fulcio is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Agreed<IdentityPlan>>,
}

impl SigstoreTargetPlan {
    /// Whose tokens Fulcio is shown; where the plan does not say it, nobody's.
    pub fn identity(&self) -> IdentityPlan {
        self.identity.as_deref().cloned().unwrap_or_default()
    }
}

/// Who says whom to trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustSource {
    /// The files of the plan, or its TUF repository.
    #[default]
    Plan,
    /// The services, each of itself, before the run: nobody vouches for them.
    Servers,
}

impl Default for SigstoreTargetPlan {
    fn default() -> Self {
        Self {
            fulcio_url: OneOrMany::default(),
            fulcio_grpc_url: OneOrMany::default(),
            rekor_url: OneOrMany::default(),
            rekor_tiles_url: OneOrMany::default(),
            rekor_tiles_grpc_url: OneOrMany::default(),
            rekor_tiles_read_url: OneOrMany::default(),
            timestamp_url: OneOrMany::default(),
            signing_config: None,
            tuf: None,
            trust: TrustSource::default(),
            trusted_root: None,
            fulcio_chain: None,
            ct_log_key: None,
            rekor_key: None,
            rekor_tiles_key: None,
            rekor_tiles_origin: None,
            timestamp_chain: None,
            require_sct: None,
            skew: TimeSpan::from_secs(60),
            publication_delay: TimeSpan::from_secs(60),
            identity: None,
        }
    }
}
