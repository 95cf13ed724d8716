//! `hammer run` on embedded services of Sigstore that live in the test's own process: what is reported is held against what each service
//! says that it did.

mod fates;
mod follow;
mod grants;
#[path = "../support/hammer.rs"]
mod hammer;
mod lies;
#[path = "../support/on_time.rs"]
mod on_time;
mod reads;
mod services;
mod tuf;
mod variants;
