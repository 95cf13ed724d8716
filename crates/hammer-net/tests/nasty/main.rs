//! The client against servers that misbehave in one known way each. Every request carries its number, and every server keeps a
//! ledger: what the client says of each request must agree with what the server saw of it, whatever became of the connection.

mod case;
mod client;
mod clock;
mod frames;
mod http1;
mod http2;
mod ledger;
mod oracle;
mod places;
mod reply;
mod server;
mod verdict;

use case::Case;

/// Plays every case of `table`; the test fails by all that was wrong in any of them.
fn play(table: &'static [Case]) {
    let faults: Vec<_> = table.iter().flat_map(verdict::of).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
