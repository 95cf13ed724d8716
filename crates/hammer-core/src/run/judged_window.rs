//! The last while of measurement, which a threshold that ends the run is held against.

use std::collections::VecDeque;

use hammer_measure::Nanos;

use super::scoped_figures::ScopedFigures;

/// What was recorded in the last while, in pieces of which the oldest are dropped.
#[derive(Debug)]
pub(super) struct JudgedWindow {
    length: Nanos,
    pieces: VecDeque<WindowPiece>,
}

#[derive(Debug)]
struct WindowPiece {
    start: Nanos,
    end: Nanos,
    figures: ScopedFigures,
}

impl JudgedWindow {
    /// One of that length, which has seen nothing yet.
    pub(super) fn new(length: Nanos) -> Self {
        Self { length, pieces: VecDeque::new() }
    }

    /// Adds what was recorded from `start` to `end`, which follows what was added before.
    pub(super) fn add(&mut self, (start, end): (Nanos, Nanos), figures: ScopedFigures) {
        // Intervals may be of milliseconds, and each piece holds histograms.
        match self.pieces.back_mut().filter(|last| last.end.since(last.start) < Nanos(self.length.0 / PIECES))
        {
            Some(last) => {
                last.end = end;
                last.figures.merge(&figures);
            }
            None => self.pieces.push_back(WindowPiece { start, end, figures }),
        }
        while self.pieces.get(1).is_some_and(|second| end.since(second.start) >= self.length) {
            self.pieces.pop_front();
        }
    }

    /// All of it with how long it is, once it is as long as it should be.
    pub(super) fn whole(&self) -> Option<(ScopedFigures, Nanos)> {
        let (first, last) = (self.pieces.front()?, self.pieces.back()?);
        let length = last.end.since(first.start);
        let mut all = ScopedFigures::default();
        self.pieces.iter().for_each(|piece| all.merge(&piece.figures));
        (length >= self.length).then_some((all, length))
    }
}

/// As many pieces as a window has, and two more.
const PIECES: u64 = 10;

#[cfg(test)]
mod tests {
    use hammer_measure::recorder::Interval;
    use hammer_measure::{Phase, Recorder};

    use super::*;

    fn shed(count: u64) -> ScopedFigures {
        let mut recorder = Recorder::new(1);
        for _ in 0..count {
            recorder.offer(0, Phase::Measurement);
            recorder.shed(0, Phase::Measurement);
        }
        let mut figures = ScopedFigures::default();
        figures.add(&recorder.swap(Nanos(1), Interval::with_series(1)).series[0], false);
        figures
    }

    fn millis(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    /// What a window of a second has seen at the end of each interval of so many milliseconds, in each of which one more was shed.
    fn seen(interval: u64, intervals: u64) -> Vec<Option<(u64, Nanos)>> {
        let mut window = JudgedWindow::new(millis(1_000));
        let step = |number| {
            window.add((millis(number * interval), millis((number + 1) * interval)), shed(number + 1));
            assert!(window.pieces.len() <= 12, "{}", window.pieces.len());
            window.whole().map(|(figures, length)| (figures.record().offered, length))
        };
        (0..intervals).map(step).collect()
    }

    #[test]
    fn nothing_is_told_before_the_window_is_whole_and_then_what_was_recorded_in_it() {
        assert_eq!(seen(400, 4), [None, None, Some((6, millis(1_200))), Some((9, millis(1_200)))]);
        assert_eq!(seen(2_000, 2), [Some((1, millis(2_000))), Some((2, millis(2_000)))]);
    }

    #[test]
    fn short_intervals_are_put_together_and_the_window_stays_about_as_long_as_it_should_be() {
        let seen = seen(10, 400);
        assert!(seen[..99].iter().all(Option::is_none));
        for of_end in &seen[99..] {
            let (offered, length) = of_end.unwrap();
            assert!(length >= millis(1_000) && length <= millis(1_110), "{length}");
            assert!(offered > 0);
        }
    }
}
