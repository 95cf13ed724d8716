//! A window of a run's time, which charts may be of.

use hammer_measure::Nanos;

use crate::report::Report;

/// A stretch of a run, by its ends since the run's epoch. What was counted over some time is in it where its middle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    from: Nanos,
    to: Nanos,
    /// Whether it has the end of the run, and what was seen after that.
    is_open: bool,
}

/// A window that a run has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// It ends before it starts.
    #[error("chart the run from {from} to {to}: nothing lies between them")]
    Empty {
        /// Its start.
        from: Nanos,
        /// Its end.
        to: Nanos,
    },
    /// It lies within one interval, and has the middle of none.
    #[error("chart the run from {from} to {to}: no interval of the run has its middle between them")]
    NoInterval {
        /// Its start.
        from: Nanos,
        /// Its end.
        to: Nanos,
    },
    /// It starts when the run was over.
    #[error("chart the run from {from} on: it ended {end} after its start")]
    Behind {
        /// Its start.
        from: Nanos,
        /// The run's end.
        end: Nanos,
    },
}

impl Window {
    /// All of a run, drain included.
    pub fn whole(report: &Report) -> Self {
        let phases = report.phases.iter().map(|span| span.end_ns);
        let end = phases.chain(report.intervals.last().map(|last| last.at_ns)).max();
        Self { from: Nanos::ZERO, to: Nanos(end.unwrap_or_default()), is_open: true }
    }

    /// From one instant of a run to another, its own start and end where they are not given; what is beyond its end is its end.
    ///
    /// # Errors
    /// Where nothing of the run lies between them.
    pub fn of(report: &Report, from: Option<Nanos>, to: Option<Nanos>) -> Result<Self, WindowError> {
        let whole = Self::whole(report);
        let from = from.unwrap_or(whole.from);
        let to = to.unwrap_or(whole.to);
        if from > whole.from && from >= whole.to {
            return Err(WindowError::Behind { from, end: whole.to });
        }
        if from >= to && from < whole.to {
            return Err(WindowError::Empty { from, to });
        }
        let window = Self { from, to: to.min(whole.to), is_open: to >= whole.to };
        let intervals = &report.intervals;
        if !intervals.is_empty() && !intervals.iter().any(|of| window.has(of.at_ns, of.span_ns)) {
            return Err(WindowError::NoInterval { from, to: window.to });
        }
        Ok(window)
    }

    /// Its start, since the run's epoch.
    pub const fn from(self) -> Nanos {
        self.from
    }

    /// Its end.
    pub const fn to(self) -> Nanos {
        self.to
    }

    /// Whether it has what ends at `at_ns` and is so long, of which no time is an instant.
    pub const fn has(self, at_ns: u64, span_ns: u64) -> bool {
        let middle = at_ns.saturating_sub(span_ns / 2);
        self.from.0 <= middle && (self.is_open || middle <= self.to.0)
    }
}
