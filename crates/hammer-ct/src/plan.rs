//! A log and what is done to it, as a plan writes it.

mod dates;
mod invalid;
mod read;
mod submit;
mod target;

pub use invalid::{ExtKeyUsage, InvalidKind, PolicyPlan};
pub(crate) use invalid::{Policy, expired_at};
pub use read::{ReadKind, ReadPattern, ReadPlan};
pub use submit::{CaPlan, DEFAULT_AUDIT_INTERVAL, SignerAlgorithm, SubmitPlan};
pub use target::CtTargetPlan;
