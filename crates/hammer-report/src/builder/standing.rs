//! How a run stands that goes on.

use std::sync::Arc;

use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Phase, Reporter as _, RunEvent};
use serde_json::Value;

use super::{ReportBuilder, reasons};
use crate::text;
use crate::verdict::{ReasonKind, Verdict};

/// What the report of a run would say if it ended now.
#[derive(Clone, Debug)]
pub struct StandingSoFar {
    /// Its verdict, but for what only the caller of a builder knows.
    pub verdict: Verdict,
    /// What of health is tolerated, as `1 health finding tolerated`.
    pub tolerated: Option<String>,
}

impl StandingSoFar {
    /// That at the end of an interval.
    pub fn of(info: &Arc<RunInfo>, last: &Arc<Snapshot>) -> Self {
        // A builder that has heard nothing but this interval costs as much in the twelfth hour as in the first second.
        let mut builder = ReportBuilder::new();
        builder.event(&RunEvent::Started(Arc::clone(info)));
        builder.event(&RunEvent::Interval(Arc::clone(last)));
        let Some(mut report) = builder.so_far(Value::Null) else {
            return Self { verdict: Verdict::default(), tolerated: None };
        };
        report.thresholds = last.thresholds.iter().map(Into::into).collect();
        // An interval does not tell what the plan does about a finding.
        report.health.on_fail = last.health.policy.on_fail.into();
        // Whoever ended it by hand while it sends would leave the same figures, which say nothing of what is still to come, as long as
        // anything is; that it would be interrupted is no reason yet.
        let mut phases = last.series.iter().flat_map(|of| [&of.warm_up, &of.measurement]);
        let is_awaited = phases.any(|figures| figures.in_flight + figures.backlog > 0);
        report.run.interrupted = last.phase != Phase::Drain || is_awaited;
        let held = reasons::against(&report).into_iter();
        let mut verdict =
            Verdict::of(held.filter(|reason| reason.reason != ReasonKind::Interrupted).collect());
        if reasons::has_expectation(&report) {
            verdict.expect();
        }
        Self { verdict, tolerated: text::tolerated(&report) }
    }
}

#[cfg(test)]
mod tests;
