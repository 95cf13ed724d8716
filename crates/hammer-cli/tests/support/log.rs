//! An embedded log, and `hammer ct` on it.

use std::sync::Arc;

use hammer_ct::{SubmitPlan, roots};
use hammer_lab::ct::{Flavour, Lie};
use hammer_lab::{Clock, CtLabHandle, CtLabPlan, LogConfig, SystemClock};
use hammer_tlog::encoding::base64;
use hammer_values::TimeSpan;
use tempfile::TempDir;

use crate::hammer::{Ended, Started, command};

pub(crate) const FLAVOURS: [Flavour; 2] = [Flavour::StaticCt, Flavour::Rfc6962];

/// A log, quick to publish unless its plan says otherwise.
pub(crate) struct Log {
    pub(crate) lab: CtLabHandle,
    /// Where commands run, since receipts and heads are left there.
    pub(crate) folder: TempDir,
    pub(crate) key: String,
    pub(crate) kind: &'static str,
}

impl Log {
    pub(crate) fn of(flavour: Flavour, lies: Vec<Lie>) -> Self {
        Self::of_plan(CtLabPlan { flavour, lies, ..CtLabPlan::default() })
    }

    pub(crate) fn of_plan(plan: CtLabPlan) -> Self {
        Self::by_clock(plan, SystemClock::new())
    }

    /// The log of a plan that lives by that clock.
    pub(crate) fn by_clock(plan: CtLabPlan, clock: impl Clock) -> Self {
        let kind = match plan.flavour {
            Flavour::StaticCt => "static-ct",
            Flavour::Rfc6962 => "rfc6962",
        };
        let said = Some(plan.checkpoint_interval);
        let said = said.filter(|said| *said != CtLabPlan::default().checkpoint_interval);
        let checkpoint_interval = said.unwrap_or(TimeSpan::from_millis(50));
        let plan = CtLabPlan { batch_max_age: TimeSpan::from_millis(20), checkpoint_interval, ..plan };
        let mut config = LogConfig::from_plan(plan).unwrap();
        for root in roots(&SubmitPlan::default(), 0).unwrap().certificates {
            config.add_root_der(root);
        }
        let lab = CtLabHandle::spawn_with_clock(config, Arc::new(clock)).unwrap();
        Self { key: base64(lab.log_key_spki()), lab, folder: tempfile::tempdir().unwrap(), kind }
    }

    /// `hammer ct COMMAND` on it, started.
    pub(crate) fn start(&self, subcommand: &str, more: &[&str]) -> Started {
        let url = self.lab.url.as_str();
        let log =
            ["ct", subcommand, url, "--key", &self.key, "--origin", self.lab.origin(), "--kind", self.kind];
        let mut process = command(&[&log, more].concat());
        process.current_dir(self.folder.path());
        Started::of(process)
    }

    pub(crate) fn hammer(&self, subcommand: &str, more: &[&str]) -> Ended {
        self.start(subcommand, more).ended()
    }

    /// Submits 200 chains a second; how many were accepted.
    pub(crate) fn submit(&self, seconds: &str) -> u64 {
        let ended = self.hammer("submit", &["-q", "200/s", "-z", seconds, "--precerts", "30", "--out", "-"]);
        ended.report().totals.all.fates.accepted
    }
}
