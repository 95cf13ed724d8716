//! The greatest rate over a window of time.

use std::collections::VecDeque;

use hammer_measure::Nanos;

/// Of something that only grows, the most that it grew by in a second, over a window.
#[derive(Debug)]
pub(super) struct GreatestRate {
    window: Nanos,
    /// So many samples as the window needs.
    recent: VecDeque<(Nanos, f64)>,
    most: Option<f64>,
}

impl GreatestRate {
    /// That of no sample, over a window of this length.
    pub(super) const fn over(window: Nanos) -> Self {
        Self { window, recent: VecDeque::new(), most: None }
    }

    /// Takes a sample.
    pub(super) fn push(&mut self, at: Nanos, value: f64) {
        self.recent.push_back((at, value));
        // The window starts at the last sample that is as old as it is long.
        while self.recent.get(1).is_some_and(|(next, _)| at.since(*next) >= self.window) {
            self.recent.pop_front();
        }
        let Some((from, least)) = self.recent.front().copied() else { return };
        let span = at.since(from);
        if span >= self.window && span > Nanos::ZERO {
            let rate = (value - least) / span.as_secs_f64();
            self.most = Some(self.most.map_or(rate, |most| most.max(rate)));
        }
    }

    /// What follows has no window with what came before.
    pub(super) fn interrupt(&mut self) {
        self.recent.clear();
    }

    /// The greatest so far; `None` where there was no whole window.
    pub(super) const fn most(&self) -> Option<f64> {
        self.most
    }
}
