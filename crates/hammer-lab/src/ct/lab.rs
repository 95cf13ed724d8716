//! A log with its server, on threads of its own.

use std::sync::{Arc, OnceLock, atomic::Ordering};

use super::{endpoint::CtTarget, log::Log, plan::config::LogConfig};
use crate::{
    error::LabError,
    fault::FaultSession,
    serve::{Running, Server},
    stats::{Counters, LabStats},
    told_lie::ToldLie,
};

/// Starts logs.
#[derive(Debug)]
pub struct CtLab;

/// A log that runs. Dropping it stops the log without waiting for its end.
#[derive(Debug)]
pub struct CtLabHandle {
    /// Where chains are sent: `http(s)://address/prefix`, without a slash at its end.
    pub submission_url: String,
    /// Where the log is read; the same.
    pub monitoring_url: String,
    /// DER of the roots that the log accepts.
    pub roots: Vec<Vec<u8>>,
    /// DER SubjectPublicKeyInfo of the log's key.
    pub log_key_spki: Vec<u8>,
    /// Origin line of the checkpoint.
    pub origin: String,
    log: Arc<Log>,
    faults: Arc<FaultSession>,
    counters: Arc<Counters>,
    running: Running,
}

impl CtLab {
    /// Starts a log on its own threads, from within a tokio runtime.
    ///
    /// # Errors
    /// As [`CtLab::spawn_thread`].
    pub async fn start(config: LogConfig) -> Result<CtLabHandle, LabError> {
        tokio::task::spawn_blocking(|| Self::spawn_thread(config)).await.unwrap_or(Err(LabError::Died))
    }

    /// Starts a log on its own threads; it accepts connections when this returns. Reads the whole folder, if the log
    /// has one with entries.
    ///
    /// # Errors
    /// A plan without meaning, an address that is taken, a folder that does not hold its log.
    pub fn spawn_thread(config: LogConfig) -> Result<CtLabHandle, LabError> {
        let plan = &config.plan;
        plan.faults.check().map_err(|reason| LabError::Plan { key: "faults", reason })?;
        let (serve, clock) = (plan.serve.clone(), Arc::clone(&config.clock));
        let scheme = if serve.tls.is_some() { "https" } else { "http" };
        let path = match plan.path_prefix.trim_matches('/') {
            "" => String::new(),
            prefix => format!("/{prefix}"),
        };
        let faults = Arc::new(FaultSession::new(plan.faults.clone(), clock.elapsed()));
        let counters = Arc::new(Counters::default());
        let log = Arc::new(Log::open(config)?);
        let target = CtTarget { log: Arc::clone(&log), prefix: format!("{path}/"), url: OnceLock::new() };
        let target = Arc::new(target);
        let server = Server {
            target: Arc::clone(&target),
            clock,
            faults: Arc::clone(&faults),
            counters: Arc::clone(&counters),
            plan: serve,
        };
        let work = Arc::clone(&log);
        let running = Running::spawn("lab-ct", server, move |stopped| async move {
            let publisher = Arc::clone(&work).publish(stopped.clone());
            let checker = Arc::clone(&work).check(stopped.clone());
            tokio::join!(Arc::clone(&work).sequence(stopped), publisher, checker);
            work.publish_all();
        })?;
        let url = format!("{scheme}://{}{path}", running.address);
        let _ = target.url.set(format!("{url}/"));
        Ok(CtLabHandle {
            submission_url: url.clone(),
            monitoring_url: url,
            roots: log.validator.roots().iter().map(|root| root.der.clone()).collect(),
            log_key_spki: log.signer.spki.clone(),
            origin: log.origin.clone(),
            log,
            faults,
            counters,
            running,
        })
    }
}

impl CtLabHandle {
    /// What the log has counted so far.
    #[must_use]
    pub fn stats(&self) -> LabStats {
        self.log.stats(&self.counters)
    }

    /// Counts the stalls of the fault script, and the times of lies, from now, as a run does that starts after its lab.
    pub fn restart_faults(&self) {
        let elapsed = self.log.clock.elapsed();
        self.faults.restart(elapsed);
        if let Some(lies) = &self.log.lies {
            lies.restart(elapsed);
        }
    }

    /// Stops accepting, sequences and publishes what waits, lets what is under way finish, and ends the threads.
    pub async fn shutdown(self) {
        let _ = tokio::task::spawn_blocking(|| self.stop()).await;
    }

    /// As [`CtLabHandle::shutdown`], where there is no runtime; blocks.
    pub fn stop(self) -> LabStats {
        let Self { log, counters, running, .. } = self;
        running.stop();
        log.stats(&counters)
    }
}

impl Log {
    fn stats(&self, counters: &Counters) -> LabStats {
        let (lies, unlisted_lies) = self.told_lies();
        LabStats {
            lies,
            unlisted_lies,
            accepted: self.accepted.load(Ordering::Relaxed),
            distinct: self.distinct.load(Ordering::Relaxed),
            outstanding: self.pool.outstanding(),
            tree_size: self.read_tree(|sequenced| sequenced.tree.size()),
            published_size: self.published.borrow().size,
            ..counters.stats()
        }
    }

    fn told_lies(&self) -> (Vec<ToldLie>, u64) {
        let Some(lies) = &self.lies else { return Default::default() };
        let (mut told, unlisted) = lies.told(self.clock.unix_ms());
        // An SCT without an index is told before the entry has one.
        self.read_tree(|sequenced| {
            for lie in told.iter_mut().filter(|lie| lie.index.is_none()) {
                lie.index = lie.leaf_hash.and_then(|leaf| sequenced.indices.get(&leaf).copied());
            }
        });
        (told, unlisted)
    }
}
