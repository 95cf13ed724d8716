//! Embedded Sigstore services that really do the work, with scripted faults and lies: a Fulcio that validates tokens and
//! issues certificates, an RFC 3161 timestamp authority, both Rekors, a TUF repository, an OpenID provider that grants tokens, and the static documents of one. They never measure,
//! never follow a plan, and share no validation code with the crates that mint what they are sent.

pub mod artifact;
pub mod fulcio;
pub mod issuer;
pub mod provider;
pub mod rekor;
pub mod rekor_tiles;
pub mod stack;
mod subject_key;
mod token;
pub mod trillian;
pub mod tsa;
pub mod tuf;

pub use fulcio::{FulcioConfig, FulcioLabHandle, FulcioLabPlan};
pub use hammer_lab::lie_rule::{LieRecord, LieRule};
pub use hammer_lab_authority::{Authority, AuthorityCurve, LabSigner, SignerAlgorithm};
pub use issuer::{IssuerConfig, IssuerLabHandle, IssuerLabPlan};
pub use provider::{ProviderConfig, ProviderLabHandle, ProviderLabPlan};
pub use rekor::{RekorLabHandle, RekorLabPlan};
pub use rekor_tiles::{RekorTilesLabHandle, RekorTilesLabPlan};
pub use stack::{SigstoreLab, SigstoreLabPlan, TokenSignature};
pub use token::{IssuerType, TrustedIssuer};
pub use trillian::{TrillianLabHandle, TrillianLabPlan, TrillianLieKind};
pub use tsa::{TsaLabHandle, TsaLabPlan};
pub use tuf::{TufLabHandle, TufLabPlan};
