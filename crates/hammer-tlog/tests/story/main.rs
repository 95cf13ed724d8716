//! A log's story, told by a log in memory: it grows, it is followed and audited, and each of its lies is found.

mod any;
mod entries;
mod false_proofs;
mod follow;
mod log;
mod spill;
mod strays;
mod sweep;
mod tiles;
mod watch;
