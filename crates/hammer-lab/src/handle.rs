//! One way to start an embedded target, and one handle of whatever runs.

use std::{sync::Arc, time::Duration};

use crate::{
    clock::{Clock, SystemClock},
    error::LabError,
    fault::{DataKept, FaultScript, FaultSession, TimedFault},
    serve::{BoundListener, LinkPlan, Running, ServePlan, Server, Target},
    stats::{Counters, LabStats},
};

/// What a target is started from.
pub trait LabConfig: Send + 'static {
    /// What answers.
    type Target: LabTarget;

    /// The name of the target's threads.
    const THREAD: &'static str;

    /// Listener, threads, TLS.
    fn serve(&self) -> &ServePlan;

    /// What goes wrong on purpose.
    fn faults(&self) -> &FaultScript;

    /// The path of the target below its server's root: empty, or with a slash before it.
    fn path(&self) -> String {
        String::new()
    }

    /// The target, which lives by this clock and is served at this URL.
    ///
    /// # Errors
    /// A plan without meaning, or files that do not hold what they should.
    fn target(self, clock: &Arc<dyn Clock>, url: &str) -> Result<Self::Target, LabError>;
}

/// What a target adds to what is common to all.
pub trait LabTarget: Target {
    /// Whether [`Target::lose_data`] does what it says.
    const CAN_LOSE_DATA: bool = false;

    /// These counts of the server, with the target's own.
    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        stats
    }

    /// Counts the target's own times from `now` of its clock.
    fn restart(&self, _now: Duration) {}

    /// What the target itself does at some time, beside the script of its server.
    fn timed_faults(&self) -> Vec<TimedFault> {
        Vec::new()
    }
}

/// A target that runs on threads of its own. Dropping it stops the target without waiting for its end.
#[derive(Debug)]
pub struct LabHandle<T> {
    /// `http(s)://address`, and the target's path; as its [`LabConfig::path`] ends, so does this.
    pub url: String,
    /// What it is, in a word.
    name: &'static str,
    server: Arc<Server<T>>,
    running: Running,
}

impl<T: LabTarget> LabHandle<T> {
    /// Starts a target with the machine's time; it accepts connections when this returns. A log reads its whole folder
    /// before that, if it has one with entries.
    ///
    /// # Errors
    /// A plan without meaning, an address that is taken, a folder that does not hold its log.
    pub fn spawn(config: impl LabConfig<Target = T>) -> Result<Self, LabError> {
        Self::spawn_with_clock(config, Arc::new(SystemClock::new()))
    }

    /// As [`LabHandle::spawn`], with the time given.
    ///
    /// # Errors
    /// As [`LabHandle::spawn`].
    pub fn spawn_with_clock<C>(config: C, clock: Arc<dyn Clock>) -> Result<Self, LabError>
    where
        C: LabConfig<Target = T>,
    {
        let (plan, faults) = (config.serve().clone(), config.faults().clone());
        check_faults::<T>(&faults)?;
        // Bound before the target is made, since a log tells by which URL it is reached.
        let listener = BoundListener::bind(&plan)?;
        let url = format!("{}{}", listener.origin(), config.path());
        let server = Arc::new(Server {
            target: Arc::new(config.target(&clock, &url)?),
            faults: FaultSession::new(faults, clock.elapsed()),
            counters: Counters::default(),
            clock,
            plan,
        });
        let running = Running::spawn(C::THREAD, listener, Arc::clone(&server))?;
        let name = C::THREAD.strip_prefix("lab-").unwrap_or(C::THREAD);
        Ok(Self { url, name, server, running })
    }

    /// As [`LabHandle::spawn`], from within a tokio runtime.
    ///
    /// # Errors
    /// As [`LabHandle::spawn`].
    pub async fn start(config: impl LabConfig<Target = T>) -> Result<Self, LabError> {
        Self::start_with_clock(config, Arc::new(SystemClock::new())).await
    }

    /// As [`LabHandle::spawn_with_clock`], from within a tokio runtime.
    ///
    /// # Errors
    /// As [`LabHandle::spawn`].
    pub async fn start_with_clock(
        config: impl LabConfig<Target = T>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LabError> {
        let spawned = tokio::task::spawn_blocking(|| Self::spawn_with_clock(config, clock));
        spawned.await.unwrap_or(Err(LabError::Died))
    }

    /// What the target has counted so far.
    #[must_use]
    pub fn stats(&self) -> LabStats {
        stats(&self.server)
    }

    /// The same for whoever asks while the handle is somebody else's.
    pub fn stats_reader(&self) -> impl Fn() -> LabStats + Send + use<T> {
        let server = Arc::clone(&self.server);
        move || stats(&server)
    }

    /// What it is, in a word: `http`, `rekor`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The slow link before it, where it has one.
    #[must_use]
    pub fn link(&self) -> Option<LinkPlan> {
        self.server.plan.link
    }

    /// Counts the stalls of the fault script, and the times of lies, from now, as a run does that starts after its lab.
    pub fn restart_faults(&self) {
        let now = self.server.clock.elapsed();
        self.server.faults.restart(now);
        self.server.target.restart(now);
    }

    /// What it does at some time from the last restart of its faults on, in the order of time; each text names the target.
    #[must_use]
    pub fn timed_faults(&self) -> Vec<TimedFault> {
        let mut all = self.server.faults.script().timed();
        all.extend(self.server.target.timed_faults());
        all.sort_by_key(|fault| fault.at);
        all.iter_mut().for_each(|fault| fault.text = format!("{}: {}", self.name, fault.text));
        all
    }

    /// Stops accepting, lets what is under way finish (a log sequences and publishes what waits), and ends the threads;
    /// blocks.
    pub fn stop(self) -> LabStats {
        let Self { server, running, .. } = self;
        running.stop();
        stats(&server)
    }

    /// As [`LabHandle::stop`], from within a tokio runtime.
    pub async fn shutdown(self) {
        let _ = tokio::task::spawn_blocking(|| self.stop()).await;
    }
}

impl<T> LabHandle<T> {
    /// What answers.
    #[must_use]
    pub fn target(&self) -> &T {
        &self.server.target
    }

    /// The same, for whoever changes it while the handle is somebody else's.
    #[must_use]
    pub fn shared_target(&self) -> Arc<T> {
        Arc::clone(&self.server.target)
    }
}

/// Refuses rules about endpoints that the target does not have, and restarts that it cannot do.
fn check_faults<T: LabTarget>(faults: &FaultScript) -> Result<(), LabError> {
    if let Some((key, reason)) = faults.unknown_endpoint(T::ENDPOINTS) {
        return Err(LabError::Plan { key: key.into(), reason });
    }
    let loses = faults.restarts.iter().position(|restart| restart.data == DataKept::Lose);
    match loses.filter(|_| !T::CAN_LOSE_DATA) {
        Some(place) => Err(LabError::Plan {
            key: format!("faults.restarts[{place}].data").into(),
            reason: "this target has no data that it could lose, or cannot lose them: keep".to_owned(),
        }),
        None => Ok(()),
    }
}

fn stats<T: LabTarget>(server: &Server<T>) -> LabStats {
    server.target.with_own_stats(server.counters.stats())
}
