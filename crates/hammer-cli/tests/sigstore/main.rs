//! `hammer run` on embedded services of Sigstore that live in the test's own process: what is reported is held against what each service
//! says that it did.

mod disrupted;
mod draws;
mod fates;
mod follow;
mod forks;
#[path = "../support/front.rs"]
#[expect(dead_code, reason = "other tests read at the log itself")]
mod front;
mod grants;
#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/issuer.rs"]
mod issuer;
mod issuers;
mod lies;
#[path = "../support/on_time.rs"]
mod on_time;
mod places;
mod reads;
#[path = "../support/server.rs"]
#[expect(dead_code, reason = "other tests look at what was asked")]
mod server;
mod services;
mod trust;
mod tuf;
mod variants;
mod withheld;
