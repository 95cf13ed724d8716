//! The engine on a simulated clock: what is released, started, shed and recorded, to the nanosecond; and once for real.

mod closed;
mod compose;
mod connections;
mod flows;
mod harness;
mod memory;
mod observed;
mod open;
mod overload;
mod parts;
mod promises;
mod read_lag;
mod real;
mod sampled;
mod standstills;
mod upkeep;
