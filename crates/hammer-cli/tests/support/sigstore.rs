//! `hammer lab sigstore`, and `hammer sigstore` on it.

use hammer_report::Report;
use serde_json::Value;

use crate::folder::Folder;
use crate::hammer::{Ended, Started, command, hammer};
use crate::on_time::exit_if_on_time;

/// The services, until it is dropped.
pub(crate) struct Lab {
    process: Started,
    /// What stands under `target.sigstore` of a plan.
    pub(crate) target: Value,
    pub(crate) folder: Folder,
}

impl Lab {
    pub(crate) fn of(more: &[&str]) -> Self {
        let folder = Folder::new();
        let out = folder.path("lab");
        let quick = ["--set", "rekor_tiles.checkpoint_interval=50ms"];
        let args = [["lab", "sigstore", "--out", &out].as_slice(), &quick, more].concat();
        let process = Started::of(command(&args));
        let target = serde_json::from_str(&process.line_with("fulcio_url")).unwrap();
        Self { process, target, folder }
    }

    /// What it printed under `key`.
    pub(crate) fn at(&self, key: &str) -> &str {
        self.target[key].as_str().unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.target["identity"]["token"]["file"].as_str().unwrap()
    }

    /// `hammer sigstore SUBCOMMAND` on its Fulcio and its timestamp authority.
    pub(crate) fn sigstore(&self, subcommand: &str, more: &[&str]) -> Ended {
        let (fulcio, timestamp, root) =
            (self.at("fulcio_url"), self.at("timestamp_url"), self.at("trusted_root"));
        let on =
            ["sigstore", subcommand, "--fulcio", fulcio, "--timestamp", timestamp, "--trusted-root", root];
        hammer(&[on.as_slice(), more, &["--out", "-"]].concat())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It ended already where a test ended it.
        let _ = self.process.child.kill();
        let _ = self.process.child.wait();
    }
}

/// The report of a run whose operations were all accepted, but for those that were never sent, and whose promises were all kept.
#[track_caller]
pub(crate) fn kept(ended: &Ended) -> Report {
    let report = ended.report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{}", ended.stderr);
    let (promises, fates) = (&report.promises.all, &report.totals.all.fates);
    assert!(promises.made > 0 && promises.kept == promises.made, "{}", ended.stderr);
    let unsent = fates.starved + fates.shed + fates.abandoned;
    assert_eq!(fates.accepted + unsent, report.totals.all.offered, "{}", ended.stderr);
    report
}
