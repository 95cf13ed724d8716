//! An embedded signature service that really does the work, with scripted faults and lies: it makes what is to be signed of a document, and
//! puts around the signature that its caller made the CMS of CAdES (ETSI EN 319 122-1), or behind the document the revision of PAdES (ETSI
//! EN 319 142-1); and it says of signed files what is wrong with them. It never measures and never follows a plan. With
//! what verifies what it makes it shares the reading of DER, certificates and chains (`hammer-tlog`), and nothing that reads or writes a signature.

pub mod advanced_signature;
mod asked;
mod blobs;
mod caller;
mod distribution_point;
mod models;
mod open;
mod pending;
mod plan;
mod refusal;
mod revocation;
mod service;
pub mod signed_revision;
mod stored_file;
mod target;
mod timestamps;
mod validation;

pub use hammer_lab::lie_rule::LieRule;
pub use plan::{PkiLabPlan, PkiLieKind, RevocationPlan};
pub use target::{PkiLabHandle, PkiTarget};
