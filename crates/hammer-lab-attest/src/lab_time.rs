//! The time of answers: that of the target's clock, to the nanosecond.

use std::{sync::Arc, time::Duration};

use hammer_lab::{clock::Clock, date::rfc3339};

/// Where a target has the time of its answers from.
#[derive(Debug, Clone)]
pub(crate) struct LabTime {
    clock: Arc<dyn Clock>,
    /// The Unix time of the zero of the clock's monotonic time.
    zero: Duration,
}

impl LabTime {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let zero = Duration::from_millis(clock.unix_ms()).saturating_sub(clock.elapsed());
        Self { clock, zero }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Monotonic time.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Since the Unix epoch; it never goes back.
    pub(crate) fn unix(&self) -> Duration {
        self.zero + self.clock.elapsed()
    }
}

/// `2026-11-21T06:34:18.602369608Z`, without zeros at the end of the fraction, as Go writes it.
pub(crate) fn rfc3339_nano(unix: Duration) -> String {
    let mut text = rfc3339(unix.as_secs());
    if unix.subsec_nanos() > 0 {
        text.pop();
        let fraction = format!(".{:09}", unix.subsec_nanos());
        text.push_str(fraction.trim_end_matches('0'));
        text.push('Z');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_has_no_zeros_at_its_end() {
        for (nanos, text) in
            [(0, "18Z"), (602_369_608, "18.602369608Z"), (291_824_660, "18.29182466Z"), (1, "18.000000001Z")]
        {
            let text = format!("2026-11-21T06:34:{text}");
            assert_eq!(rfc3339_nano(Duration::new(1_795_242_858, nanos)), text);
        }
    }
}
