//! Instants recorded elsewhere.

use std::sync::Arc;

/// Recorded instants, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    seconds: Arc<[f64]>,
}

/// A trace that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is no number of seconds.
    #[error("read line {line} of the trace: `{text}` is no number of seconds")]
    Number {
        /// From 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A line lies before the one above it.
    #[error("read line {line} of the trace: it lies before the line above it")]
    Order {
        /// From 1.
        line: usize,
    },
    /// There is no instant in it.
    #[error("read the trace: it has no instants")]
    Empty,
}

impl Trace {
    /// Reads seconds since the start, one a line, ascending; empty lines and those that start with `#` are passed over.
    ///
    /// # Errors
    /// When a line is no number, or out of order, or there is none.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut seconds: Vec<f64> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let value = line_text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            let value =
                value.ok_or_else(|| TraceError::Number { line: index + 1, text: line_text.to_owned() })?;
            if seconds.last().is_some_and(|last| *last > value) {
                return Err(TraceError::Order { line: index + 1 });
            }
            seconds.push(value);
        }
        if seconds.is_empty() {
            return Err(TraceError::Empty);
        }
        Ok(Self { seconds: seconds.into() })
    }

    /// The last instant, seconds.
    pub fn last_seconds(&self) -> f64 {
        self.seconds.last().copied().unwrap_or(0.0)
    }

    pub(super) fn seconds_at(&self, count: f64) -> Option<f64> {
        self.seconds.get(count as usize).copied()
    }
}
