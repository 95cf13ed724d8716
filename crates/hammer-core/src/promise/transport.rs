//! The way of a record from the shard that received it to the thread that judges it.

pub(super) mod records;
pub(super) mod ring;
pub(super) mod spill;
