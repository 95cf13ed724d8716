//! What the benches share: the null target, an operation that is over as soon as it is started, so that what a run of
//! it costs is the engine's own. It never opens a socket.

pub mod cpu;
pub mod null;
