//! When to send, and keeping that promise: schedules, supply, dispatch, shards, phases and the run that holds them
//! together. It never knows a protocol, a terminal or a file format, and has no arrow from an outcome back to the schedule.

pub mod answers;
pub mod background;
pub mod clock;
pub mod compose;
pub mod crew;
pub mod dispatch;
pub mod draw;
mod ended;
mod message;
pub mod observe;
mod panics;
pub mod phase;
pub mod promise;
pub mod record;
pub mod run;
mod run_error;
pub mod runtime;
pub mod sample;
pub mod schedule;
pub mod shard;
pub mod shard_range;
pub mod standstill;
pub mod supply;
pub mod workload;
