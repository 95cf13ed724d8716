//! An embedded timestamp authority (RFC 3161) that answers as Sigstore's timestamp-server v2.1.3 does.

mod plan;
mod request;
mod stamp;
mod target;

pub use plan::{TsaLabPlan, TsaLieKind};
pub use target::{TsaLabHandle, TsaTarget};
