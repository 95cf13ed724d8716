//! Files of `/proc` (proc(5)).

mod machine;
mod process;

pub use machine::{CORE_MODES, MachineTicks, TICKS_PER_SECOND, core_ticks, cores, kilobytes, pressure_us};
pub use process::{ProcessStat, ProgramName};
