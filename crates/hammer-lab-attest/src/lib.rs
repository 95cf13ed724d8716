//! An embedded Veraison that really does the work, with scripted faults and lies: provisioning of CoRIMs and verification of evidence in
//! one process, appraised by rules of its own and answered as two releases do. It never measures, never follows a plan, and shares no
//! code with the crates that mint what it is sent.

mod accept;
mod appraisal;
mod auth;
mod cbor;
mod cmw;
mod corim;
mod discovery;
mod ear;
mod endpoint;
mod go_json;
mod hex;
mod lab;
mod lab_time;
mod media_type;
mod plan;
mod problem;
mod provisioning;
mod release;
mod session;
mod store;
mod taken_types;
mod token;
mod verification;

pub use endpoint::AttestTarget;
pub use hammer_lab::lie_rule::LieRule;
pub use lab::AttestLabHandle;
pub use plan::{
    AttestLabPlan, AttestLieKind, LabUser, LateAnswer, LateStart, LostSessions, Processing, Release,
    StorePlan, ToldAttestLie,
};
