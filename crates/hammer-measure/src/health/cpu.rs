//! What the generator used of its processors, and what took them from it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The generator's CPU over measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuEvidence {
    /// How long measurement was, in seconds.
    pub seconds: f64,
    /// CPU seconds used per second and core that it has, 0 to 1; a quota counts as cores.
    pub share: f64,
    /// The share of one core that the busiest thread that sends used, 0 to 1.
    pub busiest_shard: f64,
    /// Seconds for which a quota held it back, added up over cores.
    pub throttled: f64,
    /// The share of the machine's cores that its host gave to others, 0 to 1.
    pub stolen: f64,
    /// The share of the time in which something on the machine waited for a processor, 0 to 1.
    pub pressed: f64,
}

/// What took processors from the generator while it was found wanting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthCause {
    /// A quota of its control group held it back.
    Throttled {
        /// For so long, added up over cores.
        seconds: f64,
    },
    /// The host gave processors of the machine to others.
    Stolen {
        /// So much of them.
        share: f64,
    },
    /// More wanted processors than there were.
    Pressed {
        /// So much of the time.
        share: f64,
    },
}

impl CpuEvidence {
    /// Whether the process, or a thread of it that sends, had nothing left.
    pub(super) fn is_full(&self) -> bool {
        self.share > FULL || self.busiest_shard > FULL
    }

    /// What was in its way, the most telling first.
    pub(super) fn causes(&self) -> Vec<HealthCause> {
        let Self { seconds, throttled, stolen, pressed, .. } = *self;
        let causes = [
            (throttled > seconds * NOTICED).then_some(HealthCause::Throttled { seconds: throttled }),
            (stolen > NOTICED).then_some(HealthCause::Stolen { share: stolen }),
            (pressed > PRESSED).then_some(HealthCause::Pressed { share: pressed }),
        ];
        causes.into_iter().flatten().collect()
    }
}

impl fmt::Display for HealthCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throttled { seconds } => {
                write!(f, "a quota of hammer's control group held it back for {seconds:.2} s (cpu.max)")
            }
            Self::Stolen { share } => {
                let share = share * 100.0;
                write!(f, "the host gave {share:.0} % of the machine's cores to others (steal)")
            }
            Self::Pressed { share } => {
                let share = share * 100.0;
                write!(f, "for {share:.0} % of the time something waited for a core (pressure)")
            }
        }
    }
}

/// Of a core, or of all.
pub(super) const FULL: f64 = 0.9;
/// Of the time, or of the cores.
const NOTICED: f64 = 0.01;
/// Threads of hammer wait for each other now and then.
const PRESSED: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_processors_is_told_from_where_it_matters_on() {
        let quiet =
            CpuEvidence { seconds: 10.0, throttled: 0.1, stolen: 0.01, pressed: 0.1, ..Default::default() };
        assert_eq!(quiet.causes(), []);
        let busy = CpuEvidence { throttled: 2.0, stolen: 0.12, pressed: 0.6, ..quiet };
        let words: Vec<String> = busy.causes().iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "a quota of hammer's control group held it back for 2.00 s (cpu.max)",
                "the host gave 12 % of the machine's cores to others (steal)",
                "for 60 % of the time something waited for a core (pressure)",
            ]
        );
    }

    #[test]
    fn one_full_thread_is_full_however_many_cores_there_are() {
        let of = |share, busiest_shard| CpuEvidence { share, busiest_shard, ..Default::default() }.is_full();
        assert!(of(0.3, 0.95) && of(0.95, 0.5));
        assert!(!of(0.9, 0.9) && !of(f64::NAN, 0.0));
    }
}
