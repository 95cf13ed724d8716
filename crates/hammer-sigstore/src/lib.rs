//! Load on Sigstore: flows that sign (an identity token, a certificate of Fulcio, an entry in Rekor, a timestamp) and flows that
//! verify what was signed, and the services one by one. All that is sent follows from the run's seed and a sequence number. Every
//! certificate, entry and timestamp is a promise, judged beside the load; nothing is judged on a shard.

mod answer;
mod bundle;
mod corpus;
mod envelope;
mod error;
mod followed_heads;
mod fulcio;
mod judge;
mod logged;
mod material;
mod pem;
mod plan;
mod preflight;
mod promise;
mod read;
mod record;
mod rekor;
mod rekor_tiles;
mod run;
mod served_trust;
mod sign;
mod signing_config;
mod signing_request;
mod target;
mod timestamp;
mod tokens;
mod trust;
mod tuf;
mod verify;

pub use bundle::files::BundleFiles;
pub use bundle::{BundleError, SignedBundle};
pub use corpus::{
    BadLine, CorpusFile, CorpusProbe, CorpusSink, CorpusStart, CorpusWriter, CorpusWritten, expect_log,
};
pub use error::SigstoreError;
pub use followed_heads::FollowedHeads;
pub use judge::bundle::{BundleFault, BundleVerifier, ExpectedBundle, VerifiedBundle, VerifiedScts};
pub use judge::rekor_log::audit::RekorLog;
pub use judge::rekor_log::follow_link::{EntryReadBack, FollowLink};
pub use judge::search::{FoundEntry, FoundShards, judge_found};
pub use judge::tiles_links::TilesReadLink;
pub use plan::{
    BundlesPlan, CertificateRequest, CorpusDraw, EntryKind, FulcioInterface, IdentityPlan, MixedPlan,
    NewestEntries, ReadRekor, RekorVersion, SearchKey, ServiceReadKind, ServiceReadPlan, SignPlan,
    SigstoreTargetPlan, TimestampFormat, TimestampPlan, TokenSigner, TrustSource, TufCache, TufPlan,
    TufTargetPlan, VerifyBy, VerifyPlan,
};
pub use preflight::TrustMismatch;
pub use read::search::one_found;
pub use read::{ServiceReadOp, ServiceReadSession, ServiceReadWorkload};
pub use rekor_tiles::audit::{RekorTilesLeaves, RekorTilesLog};
pub use run::SigstoreRun;
pub use served_trust::ServedTrust;
pub use sign::{SignOp, SignScratch, SignSession, SignWorkload};
pub use signing_config::{LocatedPlan, SigningConfig};
pub use target::{ServiceEndpoints, SigstoreService, SigstoreTarget};
pub use timestamp::workload::{TimestampOp, TimestampSession, TimestampWorkload};
pub use tokens::{CLOCKS_APART, FlowTokens};
pub use trust::{Trust, TrustedRoot};
pub use tuf::workload::{TufOp, TufUser, TufWorkload};
pub use verify::{VerifyOp, VerifySession, VerifyWorkload};
