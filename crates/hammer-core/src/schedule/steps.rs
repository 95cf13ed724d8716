//! A rate for each of several spans; the last one holds.

/// One span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Arrivals a second.
    pub rate: f64,
    /// Seconds; the last step goes on after it.
    pub seconds: f64,
}

/// Spans, one after another.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Steps {
    /// In their order.
    pub steps: Vec<Step>,
}

impl Steps {
    pub(super) fn seconds_at(&self, count: f64) -> Option<f64> {
        let (mut start, mut before) = (0.0, 0.0);
        for (index, step) in self.steps.iter().enumerate() {
            let within = step.rate * step.seconds;
            let last = index + 1 == self.steps.len();
            if step.rate > 0.0 && (count - before < within || last) {
                return Some(start + (count - before) / step.rate);
            }
            start += step.seconds;
            before += within;
        }
        None
    }
}
