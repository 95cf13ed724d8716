//! Components whose use is told by somebody else, over a run.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;

use super::gauge::Gauge;
use super::meter::{Stage, UsageMeter};
use super::presence::ToldPresence;
use super::told_use::{RemoteTeller, Told, ToldBy, ToldUse, UseTeller};
use super::trouble::ToldTrouble;
use super::usage::{tell, tell_held_back, tell_saturation};

/// A component whose use somebody tells.
#[derive(Clone, Debug)]
pub(super) struct ToldComponent {
    pub(super) name: String,
    pub(super) by: ToldBy,
    pub(super) meter: Arc<Mutex<UsageMeter>>,
}

/// Asks for it.
pub(super) struct ToldGauge<T> {
    name: String,
    meter: Arc<Mutex<UsageMeter>>,
    teller: T,
    clock: Rc<dyn Clock>,
    /// How long an answer may take.
    within: Nanos,
    /// The last look that found out what it used, if it was there at the last one that found anything out.
    last: Option<(Nanos, f64)>,
    trouble: ToldTrouble,
    presence: ToldPresence,
}

impl ToldGauge<RemoteTeller> {
    pub(super) fn new(component: ToldComponent, within: Nanos, clock: Rc<dyn Clock>) -> Self {
        let ToldComponent { name, by, meter } = component;
        Self::of((name, meter), RemoteTeller::new(by, clock.clone()), within, clock)
    }
}

impl<T: UseTeller> ToldGauge<T> {
    fn of(
        (name, meter): (String, Arc<Mutex<UsageMeter>>),
        teller: T,
        within: Nanos,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let (trouble, presence) = (ToldTrouble::default(), ToldPresence::new("component"));
        Self { name, meter, teller, clock, within, last: None, trouble, presence }
    }
}

impl<T: UseTeller> Gauge for ToldGauge<T> {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let told = self.teller.ask(self.within).await;
        let now = self.clock.now();
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let used = match told {
            Ok(Told::Use(used)) => Some(used),
            Ok(Told::Absent) => None,
            Err(error) => {
                meter.gap();
                return self.trouble.tell(&self.name, now, Some(error.to_string()), sink);
            }
        };
        self.trouble.tell(&self.name, now, None, sink);
        self.presence.tell(&self.name, now, used.is_some(), sink);
        let Some(ToldUse { cpu, memory, held_back }) = used else {
            self.last = None;
            return meter.absent(stage, now, None);
        };
        meter.sample(stage, now, cpu, memory);
        tell_saturation(&self.name, now, &meter, sink);
        if let Some(seconds) = held_back {
            meter.hold_back(stage, now, seconds);
        }
        drop(meter);
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.name, last, (now, cpu), memory, sink);
            held_back.into_iter().for_each(|seconds| tell_held_back(&self.name, (now, seconds), sink));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hammer_core::runtime::Runtime as _;
    use hammer_core::runtime::simulated::Simulation;

    use super::super::gauge::look_until;
    use super::super::told_use::{PageUse, UntoldUse};
    use super::*;

    /// A page whose counter follows a script of cores in use: each from that second on.
    struct ScriptedPage {
        cores: &'static [(u64, f64)],
        clock: Rc<dyn Clock>,
        read: PageUse,
    }

    impl UseTeller for ScriptedPage {
        async fn ask(&mut self, _: Nanos) -> Result<Told, UntoldUse> {
            let now = self.clock.now().as_secs_f64();
            let ends = self.cores.iter().skip(1).map(|(from, _)| *from as f64).chain([f64::INFINITY]);
            let spans = self.cores.iter().zip(ends);
            let used: f64 =
                spans.map(|((from, cores), to)| (now.min(to) - *from as f64).max(0.0) * cores).sum();
            let memory = 1_000_000.0 * (1.0 + now);
            let page = format!(
                "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total {}\n\
                 process_resident_memory_bytes {memory:e}\n",
                4_000.0 + used
            );
            self.read.read(&page, &BTreeMap::new())
        }
    }

    #[test]
    fn the_rest_the_mean_and_the_greatest_rate_of_three_minutes_are_those_of_the_counters_on_the_page() {
        // Half a minute at rest, a minute of warm-up that is in no figure, ten minutes of load: in the middle of them four minutes with
        // twice as much, and a peak of ten seconds that no window of three minutes has for itself.
        const CORES: &[(u64, f64)] =
            &[(0, 0.05), (30, 9.0), (90, 1.0), (120, 4.0), (130, 1.0), (300, 2.0), (540, 1.0), (690, 9.0)];
        let every = Nanos::from_secs(5);
        let meter = Arc::new(Mutex::new(UsageMeter::new(Nanos::from_secs(180))));
        let mut simulation = Simulation::new();
        let (runtime, clock) = (simulation.runtime(), simulation.runtime().clock());
        let gauge = |clock: &Rc<dyn Clock>| {
            let read = PageUse::default();
            let page = ScriptedPage { cores: CORES, clock: clock.clone(), read };
            ToldGauge::of(("rekor".to_owned(), meter.clone()), page, every, clock.clone())
        };
        let (idle, mut gauge) = (gauge(&clock), gauge(&clock));
        runtime.spawn(Box::pin(async move {
            look_until(idle, every, clock.clone(), Nanos::from_secs(30)).await;
            for second in (30..=720).step_by(5) {
                clock.sleep_until(Nanos::from_secs(second)).await;
                let stage = if (90..=690).contains(&second) { Stage::Measurement } else { Stage::Around };
                gauge.look(stage, None).await;
            }
        }));
        simulation.run();
        let meter = meter.lock().unwrap();
        let near = |found: Option<f64>, expected: f64| {
            assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
        };
        near(meter.idle(), 0.05);
        let (used, seconds) = meter.measured().unwrap();
        // 600 s of one core, 240 s of one more, 10 s of three more.
        near(Some(used), 600.0 + 240.0 + 30.0);
        near(Some(seconds), 600.0);
        near(meter.most(), 2.0);
        assert_eq!((meter.samples, meter.gaps, meter.memory_most), (121, 0, Some(691_000_000)));
    }
}
