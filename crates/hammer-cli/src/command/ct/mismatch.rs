//! Whether a log of which nothing can be believed is the one that was named.

use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_ct::{LogTarget, Preflight};
use hammer_net::ClientConfig;

use crate::protocol::ct::preflight::in_one_line;

/// What of the log is not as it was named, and the argument that mends it: a sentence; none where the log does not say.
pub(super) async fn hint(log: &LogTarget, client: ClientConfig) -> Option<String> {
    let clock = Rc::new(MonotonicClock::starting_now());
    let found = Preflight { log, client, roots: Vec::new(), is_loaded: true, clock }.look().await.ok()?;
    let mismatch = found.mismatches.into_iter().next()?;
    Some(match in_one_line(&mismatch) {
        Some(argument) => format!("{mismatch}: where that is the log that is meant, `{argument}`"),
        None => mismatch.to_string(),
    })
}
