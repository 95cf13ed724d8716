//! An embedded Veraison that really does the work, with scripted faults and lies: provisioning of CoRIMs and verification of evidence in
//! one process, appraised by rules of its own and answered as two releases do. It never measures, never follows a plan, and shares no
//! code with the crates that mint what it is sent.

mod accept;
mod discovery;
mod endpoint;
mod go_json;
mod lab;
mod lab_time;
mod plan;
mod problem;
mod release;
mod session;

pub use endpoint::AttestTarget;
pub use hammer_lab::lie_rule::LieRule;
pub use lab::AttestLabHandle;
pub use plan::{
    AttestLabPlan, AttestLieKind, LateAnswer, LateStart, LostSessions, Processing, Release, StorePlan,
    ToldAttestLie,
};
