//! Load on Certificate Transparency logs, of RFC 6962 and of static-ct-api: chains are submitted, checkpoints, tiles
//! and entries are read, the tree is followed, every SCT and tree head is held against the log's key, and the leaf of every accepted submission
//! is looked for. It never
//! checks a signature on a thread that sends, never retries what a log refused, and decides no rate.

mod audit;
mod error;
mod log;
mod plan;
mod preflight;
mod promise;
mod read;
mod record;
mod roots;
mod route;
mod run;
mod submit;
mod tree_head;
mod verify;
mod window;

pub use audit::{
    Accepted, Auditor, CtLog, LogSweep, LookedUp, MOST_FLAWS, ReceiptError, ReceiptLookup, RootsWatch,
    Signed, Standing, Swept, WrittenReceipt,
};
pub use error::CtError;
pub use hammer_audit::LOG_FORKED;
pub use log::{DEFAULT_MMD, DEFAULT_SKEW, LogKind, LogTarget};
pub use plan::{
    AuditInterval, BodyLimit, CaPlan, CtTargetPlan, ExtKeyUsage, InvalidKind, MonitoringUrl, PlanDate,
    PolicyPlan, ProfileName, PublicKey, ReadKind, ReadPlan, SignerAlgorithm, StatedLog, SubmitPlan,
    UnusableKey,
};
pub use preflight::{LogMismatch, Preflight, PreflightFinding};
pub use read::{ReadOp, ReadSession, ReadVerifier, ReadWorkload};
pub use roots::{Roots, roots};
pub use route::LogRoute;
pub use run::CtRun;
pub use submit::{Chains, SubmitOp, SubmitSession, SubmitWorkload};
pub use verify::SctVerifier;
pub use window::Window;
