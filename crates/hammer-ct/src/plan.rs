//! A log and what is done to it, as a plan writes it.

mod audit_interval;
mod date;
mod invalid;
mod monitoring_url;
mod profile_name;
mod public_key;
mod read;
mod stated_log;
mod submit;
mod target;

pub use audit_interval::AuditInterval;
pub use date::PlanDate;
pub use invalid::{BodyLimit, ExtKeyUsage, InvalidKind, PolicyPlan};
pub(crate) use invalid::{Policy, expired_at};
pub use monitoring_url::MonitoringUrl;
pub use profile_name::ProfileName;
pub use public_key::{PublicKey, UnusableKey};
pub use read::{ReadKind, ReadPlan};
pub use stated_log::StatedLog;
pub use submit::{CaPlan, SignerAlgorithm, SubmitPlan};
pub use target::CtTargetPlan;
