//! Schedules of every profile, and what is asked of them: each arrival by name.

use hammer_core::schedule::{Burst, Constant, Profile, Ramp, Schedule, Step, Steps, Trace};

/// One profile of each kind, by name.
pub fn profiles() -> [(&'static str, Profile); 5] {
    let steps = (0..10).map(|step| Step { rate: 1_000.0 * f64::from(step), seconds: 0.5 }).collect();
    let trace: String = (0..MOST_ARRIVALS).map(|index| format!("{}\n", index as f64 / 1e3)).collect();
    [
        ("constant", Profile::Constant(Constant { rate: 1_000.0 })),
        ("ramp", Profile::Ramp(Ramp { from: 10.0, to: 5_000.0, over: 10.0 })),
        ("steps", Profile::Steps(Steps { steps })),
        ("burst", Profile::Burst(Burst { size: 100, every: 0.1, within: 0.01 })),
        ("trace", Profile::Trace(Trace::parse(&trace).expect("ascending seconds"))),
    ]
}

/// The profile spaced evenly and as a Poisson process, by name; `arrivals` are [`MOST_ARRIVALS`] or fewer.
pub fn spacings(profile: &Profile, arrivals: u64) -> [(&'static str, Schedule); 2] {
    [
        ("even", Schedule::even(profile.clone()).operations(arrivals)),
        ("poisson", Schedule::poisson(profile.clone(), 1, 1).operations(arrivals)),
    ]
}

/// Names all arrivals; the last instant, so that each of them is needed.
pub fn name(schedule: &Schedule) -> Option<u64> {
    schedule.arrivals(0, 1).map(|arrival| arrival.at.0).max()
}

/// As many as the trace has.
pub const MOST_ARRIVALS: u64 = 10_000;
