//! How the run stands so far: what its verdict would be if it ended now.

use hammer_measure::Fate;
use hammer_measure::health::OnFail;
use hammer_report::report::Finding;
use hammer_report::text::number::{grouped, plural};
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

    fn unaccepted(&self) -> Option<Reason> {
        let last = self.last.as_ref()?;
        let places = self.operations(None);
        let series = || places.iter().filter_map(|place| last.series.get(*place));
        let ended: u64 = series().map(|series| series.measurement.fates.iter().sum::<u64>()).sum();
        let accepted: u64 = series().map(|series| series.measurement.fate(Fate::Accepted)).sum();
        let text = || format!("0 of {} accepted", grouped(ended));
        (ended > 0 && accepted == 0).then(|| Reason::new(ReasonKind::NothingAccepted, text()))
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
