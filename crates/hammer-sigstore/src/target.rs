//! The services of Sigstore under load, and what they are held to.

use std::sync::Arc;

use http::Uri;

use crate::error::SigstoreError;
use crate::plan::{
    FulcioInterface, ReadRekor, RekorVersion, ServiceReadKind, ServiceReadPlan, SignPlan, SigstoreTargetPlan,
    VerifyPlan,
};
use crate::tokens::FlowTokens;
use crate::trust::Trust;

/// The services of a run.
#[derive(Clone, Debug)]
pub struct SigstoreTarget {
    /// Where each service is: its URLs, of which balancing chooses; none where there is no such service.
    pub endpoints: ServiceEndpoints,
    /// What answers are held to.
    pub trust: Arc<Trust>,
    /// Whose tokens Fulcio is shown; none where nobody signs.
    pub tokens: Option<Arc<FlowTokens>>,
    /// By whom certificates have to say that the token was issued; not looked at where it is not known.
    pub certified_issuer: Option<String>,
    /// What certificates have to name; where nobody states it, the address that is in the token, and nothing where there is none.
    pub certified_subject: Option<String>,
}

/// Where the services are.
#[derive(Clone, Debug, Default)]
pub struct ServiceEndpoints {
    fulcio: Vec<Uri>,
    fulcio_grpc: Vec<Uri>,
    rekor: Vec<Uri>,
    rekor_tiles: Vec<Uri>,
    rekor_tiles_grpc: Vec<Uri>,
    rekor_tiles_read: Vec<Uri>,
    timestamp: Vec<Uri>,
    tuf: Vec<Uri>,
}

/// A service of Sigstore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigstoreService {
    /// Fulcio over HTTP.
    Fulcio,
    /// Fulcio over gRPC.
    FulcioGrpc,
    /// Rekor v1.
    Rekor,
    /// Rekor v2, written over HTTP.
    RekorTiles,
    /// Rekor v2, written over gRPC.
    RekorTilesGrpc,
    /// Rekor v2, read.
    RekorTilesRead,
    /// The timestamp authority.
    Timestamp,
    /// The TUF repository.
    Tuf,
}

impl SigstoreService {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Fulcio,
        Self::FulcioGrpc,
        Self::Rekor,
        Self::RekorTiles,
        Self::RekorTilesGrpc,
        Self::RekorTilesRead,
        Self::Timestamp,
        Self::Tuf,
    ];

    /// The name by which the report tells of its connections.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fulcio => "fulcio",
            Self::FulcioGrpc => "fulcio-grpc",
            Self::Rekor => "rekor",
            Self::RekorTiles => "rekor-tiles",
            Self::RekorTilesGrpc => "rekor-tiles-grpc",
            Self::RekorTilesRead => "rekor-tiles-read",
            Self::Timestamp => "timestamp",
            Self::Tuf => "tuf",
        }
    }

    /// Whether it is called over gRPC.
    pub const fn is_called(self) -> bool {
        matches!(self, Self::FulcioGrpc | Self::RekorTilesGrpc)
    }

    /// The key of the target that says where it is.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fulcio => "fulcio_url",
            Self::FulcioGrpc => "fulcio_grpc_url",
            Self::Rekor => "rekor_url",
            Self::RekorTiles => "rekor_tiles_url",
            Self::RekorTilesGrpc => "rekor_tiles_grpc_url",
            Self::RekorTilesRead => "rekor_tiles_read_url",
            Self::Timestamp => "timestamp_url",
            Self::Tuf => "tuf",
        }
    }

    /// Whether it is called over gRPC.
    pub const fn is_grpc(self) -> bool {
        matches!(self, Self::FulcioGrpc | Self::RekorTilesGrpc)
    }

    /// The Fulcio of a sign flow.
    pub(crate) const fn of_fulcio(interface: FulcioInterface) -> Option<Self> {
        match interface {
            FulcioInterface::V1 | FulcioInterface::V2 => Some(Self::Fulcio),
            FulcioInterface::Grpc => Some(Self::FulcioGrpc),
            FulcioInterface::None => None,
        }
    }

    /// The Rekor of a sign flow.
    pub(crate) const fn of_rekor(version: RekorVersion) -> Option<Self> {
        match version {
            RekorVersion::V1 => Some(Self::Rekor),
            RekorVersion::V2 => Some(Self::RekorTiles),
            RekorVersion::V2Grpc => Some(Self::RekorTilesGrpc),
            RekorVersion::None => None,
        }
    }
}

impl SignPlan {
    /// The services that its flows go to.
    pub fn services(&self) -> impl Iterator<Item = SigstoreService> + use<> {
        let (fulcio, rekor) =
            (SigstoreService::of_fulcio(self.fulcio), SigstoreService::of_rekor(self.rekor));
        let timestamp = self.timestamp.then_some(SigstoreService::Timestamp);
        fulcio.into_iter().chain(rekor).chain(timestamp)
    }
}

impl VerifyPlan {
    /// The services that its flows go to.
    pub fn services(&self) -> impl Iterator<Item = SigstoreService> + use<> {
        let timestamp = self.timestamp_chain.then_some(SigstoreService::Timestamp);
        let rekor = match self.rekor {
            ReadRekor::V1 => SigstoreService::Rekor,
            ReadRekor::V2 => SigstoreService::RekorTilesRead,
        };
        std::iter::once(rekor).chain(timestamp)
    }
}

impl ServiceReadKind {
    /// Who is asked for it.
    pub const fn service(self) -> SigstoreService {
        match self {
            Self::LogInfo | Self::LogProof | Self::Search | Self::PublicKey => SigstoreService::Rekor,
            Self::Certchain => SigstoreService::Timestamp,
            Self::TrustBundle | Self::Configuration => SigstoreService::Fulcio,
            Self::Checkpoint | Self::Tile | Self::Bundle => SigstoreService::RekorTilesRead,
        }
    }
}

impl ServiceReadPlan {
    /// The services that it reads.
    pub fn services(&self) -> impl Iterator<Item = SigstoreService> + use<> {
        let mut services: Vec<SigstoreService> = Vec::new();
        for (kind, _) in self.mix.drawn() {
            if !services.contains(&kind.service()) {
                services.push(kind.service());
            }
        }
        services.into_iter()
    }
}

impl ServiceEndpoints {
    /// Where a plan says that they are. Rekor v2 is read below `/api/v2` of where it is written, unless the plan says otherwise.
    pub fn of(plan: &SigstoreTargetPlan) -> Self {
        let urls = |urls: &hammer_values::OneOrMany<hammer_values::ServiceUrl>| {
            urls.as_slice().iter().map(|url| url.url().clone()).collect::<Vec<Uri>>()
        };
        let rekor_tiles = urls(&plan.rekor_tiles_url);
        let rekor_tiles_read = match urls(&plan.rekor_tiles_read_url) {
            stated if !stated.is_empty() => stated,
            _ => rekor_tiles.iter().filter_map(below_api).collect(),
        };
        Self {
            fulcio: urls(&plan.fulcio_url),
            fulcio_grpc: urls(&plan.fulcio_grpc_url),
            rekor: urls(&plan.rekor_url),
            rekor_tiles,
            rekor_tiles_grpc: urls(&plan.rekor_tiles_grpc_url),
            rekor_tiles_read,
            timestamp: urls(&plan.timestamp_url),
            tuf: plan.tuf.as_ref().map_or_else(Vec::new, |tuf| urls(&tuf.url)),
        }
    }

    /// The URLs of a service.
    pub fn at(&self, service: SigstoreService) -> &[Uri] {
        match service {
            SigstoreService::Fulcio => &self.fulcio,
            SigstoreService::FulcioGrpc => &self.fulcio_grpc,
            SigstoreService::Rekor => &self.rekor,
            SigstoreService::RekorTiles => &self.rekor_tiles,
            SigstoreService::RekorTilesGrpc => &self.rekor_tiles_grpc,
            SigstoreService::RekorTilesRead => &self.rekor_tiles_read,
            SigstoreService::Timestamp => &self.timestamp,
            SigstoreService::Tuf => &self.tuf,
        }
    }

    /// The URLs of a service that is needed.
    ///
    /// # Errors
    /// When there are none.
    pub fn needed(&self, service: SigstoreService) -> Result<&[Uri], SigstoreError> {
        match self.at(service) {
            [] => Err(SigstoreError::Missing { key: service.key(), what: "service that flows go to" }),
            urls => Ok(urls),
        }
    }
}

/// What production serves its log below.
fn below_api(url: &Uri) -> Option<Uri> {
    format!("{}/api/v2", url.to_string().trim_end_matches('/')).parse().ok()
}

impl SigstoreTarget {
    /// Whether all that flows of `plan` are answered with can be judged.
    ///
    /// # Errors
    /// When there is nothing that an answer would be held to.
    pub fn can_judge(&self, plan: &SignPlan) -> Result<(), SigstoreError> {
        if plan.fulcio != FulcioInterface::None {
            self.trust.expect_fulcio()?;
        }
        match plan.rekor {
            RekorVersion::V1 => self.trust.expect_rekor().map(drop)?,
            RekorVersion::V2 | RekorVersion::V2Grpc => self.trust.expect_rekor_tiles().map(drop)?,
            RekorVersion::None => {}
        }
        if plan.timestamp { self.trust.expect_timestamp_chain() } else { Ok(()) }
    }

    /// The same of flows that verify.
    ///
    /// # Errors
    /// When there is nothing that an answer would be held to.
    pub fn can_judge_reads(&self, plan: &VerifyPlan) -> Result<(), SigstoreError> {
        match plan.rekor {
            ReadRekor::V1 => self.trust.expect_rekor().map(drop)?,
            ReadRekor::V2 => self.trust.expect_rekor_tiles().map(drop)?,
        }
        self.trust.expect_fulcio()?;
        if plan.timestamp_chain { self.trust.expect_timestamp_chain() } else { Ok(()) }
    }
}
