//! An embedded Fulcio: certificates of ten minutes for whoever shows an identity token and holds the key, with an SCT of a
//! log embedded where it has one. It answers as Fulcio v1.8.8 does.

mod config;
mod ct_log;
mod endpoint;
mod grpc;
mod issuance;
mod leaf;
mod plan;
mod rest;
mod sct;
mod signing_request;
mod target;

pub use config::FulcioConfig;
pub use ct_log::CtLogForFulcio;
pub use plan::{FulcioLabPlan, FulcioLieKind, SctPlace};
pub use target::{FulcioLabHandle, FulcioTarget};
