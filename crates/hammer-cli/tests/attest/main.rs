//! Attestation from the command line: devices written to files, what the arguments of lines become, and plans carried out on an embedded verifier that lives in the test's own
//! process: what is reported is held against what it says that it did.

#[path = "../support/attended.rs"]
mod attended;
#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/issuer.rs"]
#[expect(dead_code, reason = "other tests have issuers that say nothing")]
mod issuer;
#[path = "../support/on_time.rs"]
mod on_time;
#[path = "../support/plan.rs"]
#[expect(dead_code, reason = "other tests refuse whole plans")]
mod plan;
#[path = "../support/server.rs"]
#[expect(dead_code, reason = "other tests look at bodies and connections")]
mod server;

mod asked;
mod auth;
mod device;
mod flags;
mod frontends;
mod lab;
mod lies;
mod recorded;
mod recordings;
mod refusals;
mod rotation;
mod runs;
mod signed;
mod verifier;
