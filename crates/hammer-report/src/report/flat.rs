//! A run in one flat object, for scripts and spreadsheets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::{Standing, Verdict};

/// A run in numbers, texts and truth values alone, nothing nested. Counts, rates and times are of measurement, over all operation series
/// together: times are of one histogram, into which those of the series were merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatSummary {
    /// The verdict's standing.
    pub verdict: Standing,
    /// The exit code.
    pub exit_code: u8,
    /// Whether the generator kept its own plan.
    pub healthy: bool,
    /// The thresholds.
    pub thresholds: u64,
    /// Those that do not hold.
    pub thresholds_failed: u64,
    /// The version of hammer.
    pub version: String,
    /// The wall clock at the run's epoch, RFC 3339, UTC.
    pub started: String,
    /// The seed, a decimal integer below 2^64.
    pub seed: String,
    /// The measured length.
    pub measured_seconds: f64,
    /// From the start of the first phase to the end of the last, warm-up and drain included.
    pub duration_seconds: f64,
    /// Arrivals that the schedule named (closed loop: that users started).
    pub offered: u64,
    /// Those that got a slot.
    pub dispatched: u64,
    /// Ended by an answer, a failure or their deadline.
    pub completed: u64,
    /// The server did what it was asked.
    pub accepted: u64,
    /// Ended in any other way than accepted.
    pub failed: u64,
    /// The server said no.
    pub refused: u64,
    /// 429 or 503.
    pub pushback: u64,
    /// Any other 5xx.
    pub server_error: u64,
    /// An answer that cannot be understood.
    pub malformed: u64,
    /// No answer: connection, TLS or name look-up failed.
    pub unreachable: u64,
    /// No answer within the operation's deadline.
    pub timed_out: u64,
    /// Cut off by the end of drain.
    pub abandoned: u64,
    /// The backlog was full.
    pub shed: u64,
    /// Due and not prepared: the generator's own fault.
    pub starved: u64,
    /// Offered a second; `null` when no time was measured, as of the other rates.
    pub offered_per_s: Option<f64>,
    /// Completed within measurement, a second.
    pub completed_per_s: Option<f64>,
    /// Accepted within measurement, a second.
    pub accepted_per_s: Option<f64>,
    /// Bytes handed to connections, a second.
    pub bytes_out_per_s: Option<f64>,
    /// Bytes read from connections, a second.
    pub bytes_in_per_s: Option<f64>,
    /// Response times recorded, those that never ended included.
    pub response_times: u64,
    /// Those that never ended: shed, starved and abandoned arrivals.
    pub never_ended: u64,
    /// Whether one of the times below is `null` because it falls on arrivals that never ended, and so is longer than any other.
    pub beyond: bool,
    /// The mean response time, from the planned instant; `null` when nothing was recorded or it is beyond what ended, as of the other times.
    pub mean_ns: Option<u64>,
    /// The shortest.
    pub min_ns: Option<u64>,
    /// The median.
    pub p50_ns: Option<u64>,
    /// 75th percentile.
    pub p75_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 95th percentile.
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p99_9_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// Promises received.
    pub promises_made: u64,
    /// Checked, and true.
    pub promises_kept: u64,
    /// Checked, and false.
    pub promises_broken: u64,
    /// With time left when the run ended.
    pub promises_pending: u64,
    /// Given up on by the generator: its own fault.
    pub promises_unchecked: u64,
}

impl FlatSummary {
    /// Takes over a verdict.
    pub(crate) fn judge(&mut self, verdict: &Verdict) {
        (self.verdict, self.exit_code) = (verdict.standing, verdict.exit_code);
    }
}
