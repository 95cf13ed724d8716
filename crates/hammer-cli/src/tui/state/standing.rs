//! How the run stands so far: what its verdict would be if it ended now.

use hammer_measure::health::OnFail;
use hammer_measure::snapshot::SeriesSnapshot;
use hammer_measure::threshold::Threshold;
use hammer_measure::{Fate, SeriesInfo};
use hammer_report::report::Finding;
use hammer_report::text::number::plural;
use hammer_report::{Reason, ReasonKind, Verdict};

use super::DashboardState;

impl DashboardState {
    /// What can be said against the run by now; `None` before its first interval.
    pub(in crate::tui) fn standing(&self) -> Option<Verdict> {
        self.last.as_ref()?;
        let reasons = [self.broken(), self.unbelievable(), self.unaccepted()].into_iter().flatten();
        let mut verdict = Verdict::of(reasons.chain(self.failing()).collect());
        let last = self.last.as_ref()?;
        if !last.thresholds.is_empty() || last.promises.kept > 0 {
            verdict.expect();
        }
        Some(verdict)
    }

    fn broken(&self) -> Option<Reason> {
        let broken = self.last.as_ref()?.promises.broken;
        let text = || format!("{} broken", plural(broken, "promise"));
        (broken > 0).then(|| Reason::new(ReasonKind::PromiseBroken, text()))
    }

    fn unbelievable(&self) -> Option<Reason> {
        let health = &self.last.as_ref()?.health;
        if health.is_healthy() || health.policy.on_fail != OnFail::Fail {
            return None;
        }
        let mut kinds: Vec<&str> =
            health.findings.iter().map(|finding| Finding::from(finding).kind.words()).collect();
        kinds.dedup();
        Some(Reason::new(ReasonKind::NotBelievable, format!("not to be believed ({})", kinds.join(", "))))
    }

    /// As the report's reason: series of operations that only failed, unless a threshold that holds says that they may.
    fn unaccepted(&self) -> Option<Reason> {
        let (run, last) = (self.run.as_ref()?, self.last.as_ref()?);
        let pairs = run.series.iter().zip(&last.series).filter(|(info, _)| info.operation);
        let failed = pairs.filter(|(info, series)| failed_alone(info, series) && !self.may_fail(info));
        let names: Vec<String> = failed.map(|(info, _)| info.path()).collect();
        (!names.is_empty()).then(|| {
            let text = format!("nothing of {} was accepted", names.join(" and "));
            Reason::new(ReasonKind::NothingAccepted, text)
        })
    }

    fn may_fail(&self, info: &SeriesInfo) -> bool {
        let path = info.path();
        let covers = |on: &str| on == "total" || on == info.workload || on == path;
        let expects =
            |text: &str| text.parse().is_ok_and(|threshold: Threshold| threshold.expects_failures());
        let held = self.last.iter().flat_map(|last| &last.thresholds).filter(|threshold| threshold.holds);
        held.into_iter().any(|threshold| covers(&threshold.series) && expects(&threshold.threshold))
    }

    fn failing(&self) -> impl Iterator<Item = Reason> {
        let thresholds = self.last.iter().flat_map(|last| &last.thresholds);
        let failing = thresholds.filter(|threshold| !threshold.holds);
        failing.map(|threshold| {
            let text = format!("{} on {}, found {}", threshold.threshold, threshold.series, threshold.found);
            Reason::new(ReasonKind::ThresholdFailed, text)
        })
    }
}

/// Whether a server was asked in measurement, and all of it failed otherwise than is meant.
fn failed_alone(info: &SeriesInfo, series: &SeriesSnapshot) -> bool {
    let count = |fate| series.measurement.fate(fate);
    let of_ours = [Fate::Shed, Fate::Starved, Fate::Abandoned];
    let was_sent = Fate::ALL.into_iter().any(|fate| !of_ours.contains(&fate) && count(fate) > 0);
    let is_served = count(Fate::Accepted) > 0 || info.refusals_meant && count(Fate::Refused) > 0;
    was_sent && !is_served
}
