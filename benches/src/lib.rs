//! What the benches and the counts of instructions share: the null target, an operation that is over as soon as it is
//! started, so that what a run of it costs is the engine's own, and the bodies that are both timed and counted. It never
//! opens a socket.

pub mod cpu;
pub mod encode;
pub mod null;
pub mod record;
pub mod schedule;
