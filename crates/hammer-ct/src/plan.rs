//! A log and what is done to it, as a plan writes it.

mod audit_interval;
mod dates;
mod invalid;
mod read;
mod submit;
mod target;

pub use audit_interval::AuditInterval;
pub use invalid::{BodyLimit, ExtKeyUsage, InvalidKind, PolicyPlan};
pub(crate) use invalid::{Policy, expired_at};
pub use read::{ReadKind, ReadPattern, ReadPlan};
pub use submit::{CaPlan, SignerAlgorithm, SubmitPlan};
pub use target::CtTargetPlan;
