//! Why a workload on a verifier cannot be set up.

use std::path::PathBuf;

use hammer_exchange::token::TokenError;
use hammer_net::{ConfigError, SecretError};

use crate::plan::DiscoveryKind;

/// A fragment that completes "failed to ...", naming the key or file at fault.
#[derive(Debug, thiserror::Error)]
pub enum AttestError {
    /// A service without which a workload can do nothing.
    #[error("find {service}: `{key}` is not given")]
    NoUrl {
        /// Which service.
        service: &'static str,
        /// The key of the target that says where it is.
        key: &'static str,
    },
    /// There can be no client of a service.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// A service does not say what it is.
    #[error("read the discovery document of {}: {why}", kind.name())]
    Undiscovered {
        /// Which service.
        kind: DiscoveryKind,
        /// Why.
        why: String,
    },
    /// A document lacks what a workload lives by.
    #[error("find {what} in the discovery document of {}", kind.name())]
    Unsaid {
        /// Which service.
        kind: DiscoveryKind,
        /// What it does not say.
        what: &'static str,
    },
    /// What a document has in place of a path is none.
    #[error("use {what} in the discovery document of {}: it is no path that starts with `/`", kind.name())]
    NoPath {
        /// Which service.
        kind: DiscoveryKind,
        /// What it says wrongly.
        what: &'static str,
    },
    /// The service takes no endorsements of PSA devices.
    #[error(
        "provision PSA devices: the service takes neither application/rim+cbor of tag:arm.com,2025:psa#1.0.0 nor application/corim-unsigned+cbor of http://arm.com/psa/iot/1"
    )]
    NoDialect,
    /// It takes no signed ones.
    #[error("sign endorsements: the service takes none that are signed")]
    UnsignedAlone,
    /// It takes no such evidence.
    #[error("send evidence of the type `{0}`: the service does not take it")]
    EvidenceType(String),
    /// There is nothing to verify.
    #[error(
        "draw a device to verify: no workload of the plan provisions such devices, and neither `devices.count`, `provision_at_start` nor `from_earlier_runs` is given"
    )]
    NothingProvisioned,
    /// A workload that reads nothing.
    #[error(
        "draw a document: `mix` names nothing with a weight; give it provisioning, verification or management"
    )]
    NothingToRead,
    /// A password or a token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A secret that no header can hold.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The signer of endorsements.
    #[error("sign endorsements by {path}: {why}")]
    Signer {
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl AttestError {
    /// The service that is at fault by what it is, or by where it should be, whoever goes to it.
    pub const fn service(&self) -> Option<DiscoveryKind> {
        match self {
            Self::Undiscovered { kind, .. } | Self::Unsaid { kind, .. } | Self::NoPath { kind, .. } => {
                Some(*kind)
            }
            Self::NoDialect => Some(DiscoveryKind::Provisioning),
            _ => None,
        }
    }

    /// The key at fault, below the block that the caller knows: of the target, or of the workload.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::NoUrl { key, .. } | Self::Signer { key, .. } => Some(key),
            Self::EvidenceType(_) => Some("evidence_type"),
            Self::UnsignedAlone => Some("signer"),
            Self::NothingToRead => Some("mix"),
            Self::Undiscovered { .. }
            | Self::Unsaid { .. }
            | Self::NoPath { .. }
            | Self::Client(_)
            | Self::NoDialect
            | Self::NothingProvisioned
            | Self::Token(_)
            | Self::Secret(_) => None,
        }
    }
}
