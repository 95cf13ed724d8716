//! Sigstore in plans: the target, who signs, and the workloads.

mod bundles;
mod identity;
mod mixed;
mod read;
mod sign;
mod target;
mod timestamp;
mod tuf;
mod verify;

pub use bundles::BundlesPlan;
pub use identity::{IdentityPlan, TokenSigner};
pub use mixed::MixedPlan;
pub use read::{SearchKey, ServiceReadKind, ServiceReadPlan};
pub use sign::{CertificateRequest, EntryKind, FulcioInterface, RekorVersion, SignPlan};
pub use target::{SigstoreTargetPlan, TrustSource};
pub use timestamp::{TimestampFormat, TimestampPlan};
pub use tuf::{TufCache, TufPlan, TufTargetPlan};
pub use verify::{CorpusDraw, NewestEntries, ReadRekor, VerifyBy, VerifyPlan};
