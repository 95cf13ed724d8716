//! A log with its server, on threads of its own.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{endpoint::CtTarget, log::Log, plan::config::LogConfig};
use crate::{
    clock::Clock,
    error::LabError,
    fault::FaultScript,
    handle::{LabConfig, LabHandle, LabTarget},
    serve::ServePlan,
    stats::LabStats,
    told_lie::{LieKind, ToldLie},
};

/// A log that runs. Chains are sent to its URL, and the log is read there; it has no slash at its end.
pub type CtLabHandle = LabHandle<CtTarget>;

impl LabConfig for LogConfig {
    type Target = CtTarget;

    const THREAD: &'static str = "lab-ct";

    fn serve(&self) -> &ServePlan {
        &self.plan.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.plan.faults
    }

    fn path(&self) -> String {
        match self.plan.path_prefix.trim_matches('/') {
            "" => String::new(),
            prefix => format!("/{prefix}"),
        }
    }

    fn target(self, clock: &Arc<dyn Clock>, url: &str) -> Result<CtTarget, LabError> {
        let (prefix, url) = (format!("{}/", self.path()), format!("{url}/"));
        Ok(CtTarget { log: Arc::new(Log::open(self, Arc::clone(clock))?), prefix, url })
    }
}

impl LabTarget for CtTarget {
    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        self.log.with_own_stats(stats)
    }

    fn restart(&self, now: Duration) {
        if let Some(lies) = &self.log.lies {
            lies.restart(now);
        }
    }
}

impl LabHandle<CtTarget> {
    /// DER of the roots that the log accepts.
    pub fn roots(&self) -> impl Iterator<Item = &[u8]> {
        self.target().log.validator.roots().iter().map(|root| root.der.as_slice())
    }

    /// DER SubjectPublicKeyInfo of the log's key.
    #[must_use]
    pub fn log_key_spki(&self) -> &[u8] {
        &self.target().log.signer.spki
    }

    /// Origin line of the checkpoint.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.target().log.origin
    }
}

impl Log {
    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        let (lies, unlisted_lies) = self.told_lies();
        LabStats {
            lies,
            unlisted_lies,
            accepted: self.accepted.load(Ordering::Relaxed),
            distinct: self.distinct.load(Ordering::Relaxed),
            outstanding: self.pool.outstanding(),
            tree_size: self.read_tree(|sequenced| sequenced.tree.size()),
            published_size: self.published.borrow().size,
            ..stats
        }
    }

    fn told_lies(&self) -> (Vec<ToldLie>, u64) {
        let Some(lies) = &self.lies else { return Default::default() };
        let (mut told, unlisted) = lies.told(self.clock.unix_ms());
        // An SCT without an index is told before the entry has one. Of one that nobody can read, no index was promised to anybody.
        let lacks_index = |lie: &&mut ToldLie| lie.index.is_none() && lie.kind != LieKind::UnreadableSct;
        self.read_tree(|sequenced| {
            for lie in told.iter_mut().filter(lacks_index) {
                lie.index = lie.leaf_hash.and_then(|leaf| sequenced.indices.get(&leaf).copied());
            }
        });
        (told, unlisted)
    }
}
