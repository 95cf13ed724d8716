//! Load on attestation verifiers (RFC 9334) that speak Veraison's API: endorsements of devices provisioned, their evidence verified in
//! sessions, discovery documents read. Devices come by the million, each a pure function of a seed and its index; some have something wrong with
//! them on purpose. Every result is a promise, judged beside the load: its signature, nonce, time and profile, and whether it says of the
//! device what it should. Nothing is judged on a shard.

mod auth;
mod device_class;
mod devices;
mod discovered;
mod discovery;
mod error;
mod flow_waits;
mod freshness;
mod judge;
mod keys;
mod plan;
mod private_key;
mod provision;
mod provisioned;
mod record;
#[cfg(test)]
mod recorded;
mod results;
mod seen_nonces;
mod session_object;
mod target;
mod verify;
mod watch;
mod well_known;

pub use auth::AttestAuth;
pub use device_class::DeviceClass;
pub use devices::{DeviceMaterial, DeviceScratch, Devices, Evidence, TokenNumber};
pub use discovered::{Discovered, discover};
pub use discovery::DiscoveryDocument;
pub use error::AttestError;
pub use flow_waits::FlowWaits;
pub use keys::VerificationKeys;
pub use plan::{
    AttestTargetPlan, AuthPlan, BadDevicesPlan, DevicesPlan, DiscoveryKind, NonceSource, ProvisionPlan,
    SignerPlan, TokenProfilePlan, VerifyPlan, WellKnownPlan,
};
pub use private_key::private_pem;
pub use provision::{KNOWN, ProvisionOp, ProvisionSession, ProvisionWorkload, submitted};
pub use provisioned::{ProvisionedDevices, ProvisionedPools};
pub use record::ResultEvidence;
pub use results::ResultCounts;
pub use seen_nonces::SeenNonces;
pub use session_object::{SessionObject, SessionStatus};
pub use target::{AttestRun, AttestService, AttestTarget};
pub use verify::{SessionNonces, VerifyOp, VerifySession, VerifyWorkload};
pub use watch::VerificationWatch;
pub use well_known::{WellKnownOp, WellKnownSession, WellKnownWorkload};
