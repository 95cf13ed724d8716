//! Waits before the first arrival until the target is ready.

use std::io::{self, IsTerminal as _};
use std::rc::Rc;
use std::time::Duration;

use futures::future::join_all;
use hammer_core::clock::MonotonicClock;
use hammer_core::run::RunError;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use indicatif::ProgressBar;
use tokio::task::LocalSet;

use super::{ProbedUrl, Prober, Seen};
use crate::error::{CliError, StartError, TargetError};
use crate::output::standard::print;
use crate::plan::Plan;
use crate::signals::Signals;

/// The wait of one run, for the services that are known as it goes on.
pub(crate) struct ReadyWait<'a> {
    signals: &'a Signals,
    /// Whether nothing is said on standard error.
    quiet: bool,
    /// What was waited for.
    ready: Vec<ProbedUrl>,
}

impl<'a> ReadyWait<'a> {
    /// A wait that a signal ends, which has not begun.
    pub(crate) fn new(signals: &'a Signals, quiet: bool) -> Self {
        Self { signals, quiet, ready: Vec::new() }
    }

    /// Everything that was waited for.
    pub(crate) fn into_ready(self) -> Vec<ProbedUrl> {
        self.ready
    }

    /// Waits for those URLs that were not waited for before; says in a sentence how long that was, where it was not ready at once.
    ///
    /// # Errors
    /// When they are not ready in time, or a signal ends the wait.
    pub(crate) fn until_ready(
        &mut self,
        plan: &Plan,
        probed: Vec<ProbedUrl>,
    ) -> Result<Option<String>, CliError> {
        let is_new = |one: &ProbedUrl| !self.ready.iter().any(|known| known.is(one));
        let new: Vec<ProbedUrl> = probed.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(None);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::Runtime)?;
        let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
        let waited = LocalSet::new().block_on(&runtime, self.wait(plan, &new, &clock))?;
        self.ready.extend(new);
        Ok(waited)
    }

    async fn wait(
        &self,
        plan: &Plan,
        probed: &[ProbedUrl],
        clock: &Rc<dyn Clock>,
    ) -> Result<Option<String>, CliError> {
        let mut waiting = Vec::new();
        for one in probed {
            let prober = Prober::open(one, clock).map_err(|error| one.unusable(plan, error))?;
            waiting.push((prober, Nanos::from(one.ready.timeout.duration())));
        }
        let mut shown = ShownWait { quiet: self.quiet, bar: None, last: None };
        let mut first = None;
        loop {
            let started = clock.now();
            let looks = join_all(waiting.iter().map(|(prober, timeout)| async move {
                (prober.look(timeout.since(started).clamp(LOOK_EVERY, PATIENCE)).await, *timeout)
            }));
            let seen = tokio::select! {
                seen = looks => seen,
                () = self.signalled(clock) => return Err(RunError::Interrupted.into()),
            };
            let Some((endpoint, said, timeout)) = seen.into_iter().find_map(unready) else {
                return Ok(first.map(|(endpoint, said)| {
                    let waited = clock.now();
                    format!(
                        "waited {waited} until the target was ready: {endpoint} was not at first ({said})"
                    )
                }));
            };
            shown.show(&endpoint, &said, timeout)?;
            let next = started.saturating_add(LOOK_EVERY).max(clock.now());
            tokio::select! {
                () = clock.sleep_until(next.min(timeout)) => {}
                () = self.signalled(clock) => return Err(RunError::Interrupted.into()),
            }
            if next >= timeout {
                return Err(TargetError::NotReady { endpoint, said, timeout }.into());
            }
            first.get_or_insert((endpoint, said));
        }
    }

    /// Ends once a signal has arrived.
    async fn signalled(&self, clock: &Rc<dyn Clock>) {
        while !self.signals.asked() {
            clock.sleep_until(clock.now().saturating_add(SIGNAL_EVERY)).await;
        }
    }
}

/// The first of those servers that is not ready, what it said, and how long it has.
fn unready((seen, timeout): (Vec<Seen>, Nanos)) -> Option<(String, String, Nanos)> {
    seen.into_iter().find_map(|Seen { endpoint, ready }| Some((endpoint, ready.err()?, timeout)))
}

/// What is said of the wait while it lasts: a line that changes on a terminal, else a line for each thing that is waited for.
struct ShownWait {
    quiet: bool,
    bar: Option<ProgressBar>,
    last: Option<String>,
}

impl ShownWait {
    fn show(&mut self, endpoint: &str, said: &str, timeout: Nanos) -> Result<(), CliError> {
        if self.quiet {
            return Ok(());
        }
        let text = format!("waits until {endpoint} is ready, {timeout} at most: {said}");
        if io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| {
                let bar = ProgressBar::new_spinner();
                bar.enable_steady_tick(SPINNER_TICK);
                bar
            });
            bar.set_message(text);
        } else if self.last.as_ref() != Some(&text) {
            print(io::stderr(), |out| writeln!(out, "hammer: {text}"))?;
            self.last = Some(text);
        }
        Ok(())
    }
}

impl Drop for ShownWait {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// From one look to the next; a run starts so much later than its target at most.
const LOOK_EVERY: Nanos = Nanos::from_millis(250);
/// Of one answer: what starts is slow.
const PATIENCE: Nanos = Nanos::from_secs(5);
const SIGNAL_EVERY: Nanos = Nanos::from_millis(50);
const SPINNER_TICK: Duration = Duration::from_millis(100);
