//! Attestation from the command line: devices written to files, and plans carried out on an embedded verifier that lives in the test's own
//! process: what is reported is held against what it says that it did.

#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/on_time.rs"]
mod on_time;

mod device;
mod lies;
mod runs;
mod verifier;
