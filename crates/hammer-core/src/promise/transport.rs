//! The way of a record from the shard that received it to the thread that judges it.
//!
//! Small records go through a bounded ring of bytes. What is large, or finds no room there, is handed over whole by a queue that is
//! bounded in bytes; where that fills up, a thread of the crew moves its records to an unnamed file, which is read once the verifier
//! has nothing else to do. The shard itself writes to no file and takes no lock. Only what not even the queue has room for is unchecked.

pub(super) mod frame;
pub(super) mod overflow;
pub(super) mod reader;
pub(super) mod records;
pub(super) mod ring;
mod spill;
