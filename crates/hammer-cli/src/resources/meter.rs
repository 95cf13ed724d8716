//! From samples to figures: what was used at rest, what over measurement, and what at most.

use hammer_measure::Nanos;
use hammer_pages::node::MachineLook;
use hammer_pages::proc::MachineTicks;

use super::greatest_rate::GreatestRate;
use super::saturation_meter::SaturationMeter;

/// To which figures a sample belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the load.
    Idle,
    /// Opening, warm-up, drain.
    Around,
    /// Measurement.
    Measurement,
}

/// The samples of one component.
#[derive(Debug)]
pub(super) struct UsageMeter {
    idle: Presence,
    measured: Presence,
    /// Seconds over measurement in which a limit of CPU held it back.
    held_back: Span<f64>,
    /// Cores in use, over a window of measurement.
    greatest: GreatestRate,
    /// Where the plan asks whether it is saturated.
    saturation: Option<SaturationMeter>,
    /// The greatest memory over measurement, bytes.
    pub(super) memory_most: Option<u64>,
    /// Samples of measurement.
    pub(super) samples: u64,
    /// Samples that could not be had, of all stages.
    pub(super) gaps: u64,
}

/// CPU seconds over a stage, and for how long of it the component was there.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    used: f64,
    /// The time in which it used that.
    there: Nanos,
    /// The time between looks at the end of which it was not there.
    absent: Nanos,
    /// The last look, whatever it found.
    looked: Option<Nanos>,
    /// CPU seconds at the last look; `None` where nobody knows what a component that is not there has used.
    known: Option<f64>,
}

/// The first and the last of something that only grows.
#[derive(Clone, Copy, Debug)]
struct Span<T> {
    ends: Option<[(Nanos, T); 2]>,
}

impl<T: Copy> Span<T> {
    const fn new() -> Self {
        Self { ends: None }
    }

    fn push(&mut self, at: Nanos, value: T) {
        let sample = (at, value);
        self.ends = Some([self.ends.map_or(sample, |[first, _]| first), sample]);
    }
}

impl Presence {
    /// Takes a look that found it.
    fn found(&mut self, at: Nanos, cpu_seconds: f64) {
        // Of what came since a look that knew nothing of it, neither is known: when it started, and what it used before.
        if self.known.is_some() {
            self.there = self.there.saturating_add(self.since(at));
        }
        self.look(at, Some(cpu_seconds));
    }

    /// Takes a look that did not, and what it had used until then where that is known.
    fn missed(&mut self, at: Nanos, cpu_seconds: Option<f64>) {
        self.absent = self.absent.saturating_add(self.since(at));
        self.look(at, cpu_seconds);
    }

    fn look(&mut self, at: Nanos, cpu_seconds: Option<f64>) {
        let last = std::mem::replace(&mut self.known, cpu_seconds);
        self.used += cpu_seconds.zip(last).map_or(0.0, |(now, last)| now - last);
        self.looked = Some(at);
    }

    fn since(&self, at: Nanos) -> Nanos {
        self.looked.map_or(Nanos::ZERO, |last| at.since(last))
    }

    /// What it used, and in how many seconds that it was there; `None` where that is no time.
    fn growth(&self) -> Option<(f64, f64)> {
        (self.there > Nanos::ZERO).then(|| (self.used, self.there.as_secs_f64()))
    }
}

impl Span<f64> {
    /// What it grew by, and in how many seconds; `None` where that is no time.
    fn growth(&self) -> Option<(f64, f64)> {
        let [(from, least), (to, most)] = self.ends?;
        let seconds = to.since(from).as_secs_f64();
        (seconds > 0.0).then_some((most - least, seconds))
    }
}

impl UsageMeter {
    /// A meter whose greatest use is that of a window of this length.
    pub(super) fn new(window: Nanos) -> Self {
        let ([idle, measured], held_back) = ([Presence::default(); 2], Span::new());
        let greatest = GreatestRate::over(window);
        let (saturation, memory_most, samples, gaps) = (None, None, 0, 0);
        Self { idle, measured, held_back, greatest, saturation, memory_most, samples, gaps }
    }

    /// The same, of which it is asked whether it is saturated.
    pub(super) fn watching(self, saturation: SaturationMeter) -> Self {
        Self { saturation: Some(saturation), ..self }
    }

    /// The looks at it that say whether it is saturated, where the plan asks that.
    pub(super) const fn saturation(&self) -> Option<&SaturationMeter> {
        self.saturation.as_ref()
    }

    /// Takes a sample: CPU seconds since some start, which is the same as long as the stage is, and memory in bytes.
    pub(super) fn sample(&mut self, stage: Stage, at: Nanos, cpu_seconds: f64, memory: Option<u64>) {
        match stage {
            Stage::Idle => self.idle.found(at, cpu_seconds),
            Stage::Around => {}
            Stage::Measurement => {
                self.samples += 1;
                self.measured.found(at, cpu_seconds);
                self.memory_most = self.memory_most.max(memory);
                self.greatest.push(at, cpu_seconds);
                self.saturation.iter_mut().for_each(|saturation| saturation.sample(at, cpu_seconds));
            }
        }
    }

    /// Takes that it was not there, and the CPU seconds that it had used until then where they are known.
    pub(super) fn absent(&mut self, stage: Stage, at: Nanos, cpu_seconds: Option<f64>) {
        match stage {
            Stage::Idle => self.idle.missed(at, cpu_seconds),
            Stage::Around => {}
            Stage::Measurement => {
                self.measured.missed(at, cpu_seconds);
                // A window is of a time in which it was there throughout.
                self.greatest.interrupt();
                self.saturation.iter_mut().for_each(SaturationMeter::absent);
            }
        }
    }

    /// For how long of measurement it was not there, as the looks at it found: each stands for the time since the one before.
    pub(super) const fn absent_for(&self) -> Nanos {
        self.measured.absent
    }

    /// Takes for how many seconds since some start a limit of CPU has held it back.
    pub(super) fn hold_back(&mut self, stage: Stage, at: Nanos, seconds: f64) {
        if stage == Stage::Measurement {
            self.held_back.push(at, seconds);
        }
    }

    /// Seconds over measurement in which a limit of CPU held it back; `None` where nobody knows.
    pub(super) fn held_back(&self) -> Option<f64> {
        self.held_back.growth().map(|(seconds, _)| seconds)
    }

    /// A sample could not be had.
    pub(super) fn gap(&mut self) {
        self.gaps += 1;
    }

    /// Cores that were in use at rest, while it was there; `None` where nobody looked or found it.
    pub(super) fn idle(&self) -> Option<f64> {
        self.idle.growth().map(|(used, seconds)| used / seconds)
    }

    /// CPU seconds over measurement, and for how long of that it was there; `None` where no two looks say what was used between them.
    pub(super) fn measured(&self) -> Option<(f64, f64)> {
        self.measured.growth()
    }

    /// Most cores in use over a window of measurement; over all of it, where the component was never there for as long as that.
    pub(super) fn most(&self) -> Option<f64> {
        let mean = self.measured().map(|(used, seconds)| used / seconds);
        // Where it came and went, the mean may be more than any window that it was there throughout.
        [self.greatest.most(), mean].into_iter().flatten().reduce(f64::max)
    }
}

/// The samples of the machine.
#[derive(Debug)]
pub(super) struct MachineMeter {
    idle: Span<MachineTicks>,
    measured: Span<MachineTicks>,
    /// Cores that were online at the last look.
    pub(super) cores: u32,
    /// The greatest load average over measurement.
    pub(super) load_most: Option<f64>,
    /// The least available memory over measurement, bytes.
    pub(super) available_least: Option<u64>,
    /// Samples of measurement.
    pub(super) samples: u64,
    /// Samples that could not be had, of all stages.
    pub(super) gaps: u64,
}

/// Shares of the time of all cores; the rest was idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MachineShares {
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) iowait: f64,
    pub(super) steal: f64,
}

impl MachineMeter {
    pub(super) fn new() -> Self {
        let (idle, measured) = (Span::new(), Span::new());
        Self { idle, measured, cores: 0, load_most: None, available_least: None, samples: 0, gaps: 0 }
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self, stage: Stage, at: Nanos, look: &MachineLook) {
        self.cores = look.cores;
        match stage {
            Stage::Idle => self.idle.push(at, look.ticks),
            Stage::Around => {}
            Stage::Measurement => {
                self.samples += 1;
                self.measured.push(at, look.ticks);
                self.load_most = Some(self.load_most.map_or(look.load, |most| most.max(look.load)));
                let least = self
                    .available_least
                    .map_or(look.available_bytes, |least| least.min(look.available_bytes));
                self.available_least = Some(least);
            }
        }
    }

    /// A sample could not be had.
    pub(super) fn gap(&mut self) {
        self.gaps += 1;
    }

    /// At rest; `None` where nobody looked.
    pub(super) fn idle(&self) -> Option<MachineShares> {
        self.idle.ends.and_then(|[(_, from), (_, to)]| MachineShares::between(&from, &to))
    }

    /// Over measurement; `None` where it has fewer than two samples.
    pub(super) fn measured(&self) -> Option<MachineShares> {
        self.measured.ends.and_then(|[(_, from), (_, to)]| MachineShares::between(&from, &to))
    }
}

impl MachineShares {
    /// The shares of what passed between two looks; `None` where none did.
    pub(super) fn between(from: &MachineTicks, to: &MachineTicks) -> Option<Self> {
        let all = to.all.saturating_sub(from.all);
        let share = |from: u64, to: u64| to.saturating_sub(from) as f64 / all as f64;
        (all > 0).then(|| Self {
            user: share(from.user, to.user),
            system: share(from.system, to.system),
            iowait: share(from.iowait, to.iowait),
            steal: share(from.steal, to.steal),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    fn meter(window: u64, cpu: &[f64]) -> UsageMeter {
        let mut meter = UsageMeter::new(Nanos::from_secs(window));
        for (second, seconds) in (5..).zip(cpu) {
            meter.sample(Stage::Measurement, SECOND.saturating_mul(second), *seconds, Some(second * 10));
        }
        meter
    }

    #[test]
    fn the_most_is_that_of_a_window_and_not_of_a_sample() {
        let meter = meter(2, &[10.0, 10.0, 12.0, 12.5, 12.5]);
        assert_eq!(meter.measured(), Some((2.5, 4.0)));
        assert_eq!(meter.most(), Some(1.25));
        assert_eq!((meter.memory_most, meter.samples), (Some(90), 5));
    }

    #[test]
    fn a_measurement_shorter_than_the_window_has_its_mean_as_its_most() {
        assert_eq!(meter(10, &[1.0, 1.5, 3.0]).most(), Some(1.0));
        assert_eq!(meter(10, &[1.0]).most(), None);
    }

    #[test]
    fn a_gap_makes_a_window_longer_and_not_steeper() {
        let mut meter = meter(2, &[0.0, 1.0]);
        meter.gap();
        meter.sample(Stage::Measurement, SECOND.saturating_mul(12), 7.0, None);
        assert_eq!((meter.most(), meter.gaps), (Some(1.0), 1));
    }

    #[test]
    fn what_came_and_went_has_the_mean_of_the_time_that_it_was_there() {
        let mut meter = UsageMeter::new(Nanos::from_secs(4));
        let at = |second| SECOND.saturating_mul(second);
        meter.absent(Stage::Measurement, at(10), Some(0.0));
        meter.absent(Stage::Measurement, at(12), Some(0.0));
        // It started, and was there for three seconds, one core of which it used.
        meter.sample(Stage::Measurement, at(13), 1.0, Some(7));
        meter.sample(Stage::Measurement, at(15), 3.0, Some(9));
        meter.absent(Stage::Measurement, at(20), Some(3.0));
        assert_eq!((meter.measured(), meter.absent_for()), (Some((3.0, 3.0)), at(7)));
        assert_eq!((meter.most(), meter.memory_most, meter.samples, meter.gaps), (Some(1.0), Some(9), 2, 0));
        // Nobody knows what a page would have told meanwhile.
        meter.sample(Stage::Measurement, at(21), 3.0, Some(8));
        meter.absent(Stage::Measurement, at(29), None);
        assert_eq!((meter.measured(), meter.absent_for()), (Some((3.0, 4.0)), at(15)));
    }

    #[test]
    fn a_page_that_comes_late_or_again_has_the_mean_from_the_first_look_on_that_found_it() {
        let mut meter = UsageMeter::new(Nanos::from_secs(30));
        let at = |second| SECOND.saturating_mul(second);
        // One core from 10.0 s to 12.5 s, of which the counter has what was used since it was met.
        meter.absent(Stage::Measurement, at(9), None);
        meter.absent(Stage::Measurement, at(10), None);
        meter.sample(Stage::Measurement, at(11), 0.0, None);
        meter.sample(Stage::Measurement, at(12), 1.0, None);
        meter.absent(Stage::Measurement, at(13), None);
        assert_eq!((meter.measured(), meter.most()), (Some((1.0, 1.0)), Some(1.0)));
        // One core again from 14.5 s on: when within a second that was, nobody knows.
        meter.absent(Stage::Measurement, at(14), None);
        meter.sample(Stage::Measurement, at(15), 1.5, None);
        meter.sample(Stage::Measurement, at(17), 3.5, None);
        assert_eq!((meter.measured(), meter.most()), (Some((3.0, 3.0)), Some(1.0)));
        assert_eq!((meter.absent_for(), meter.samples), (at(3), 4));
    }

    #[test]
    fn what_was_never_there_used_nothing_that_anybody_could_tell() {
        let mut meter = UsageMeter::new(SECOND);
        for second in 1..5 {
            meter.absent(Stage::Idle, SECOND.saturating_mul(second), Some(0.0));
            meter.absent(Stage::Measurement, SECOND.saturating_mul(second), Some(0.0));
        }
        assert_eq!((meter.idle(), meter.measured(), meter.most()), (None, None, None));
        assert_eq!((meter.memory_most, meter.samples, meter.gaps), (None, 0, 0));
        assert_eq!(meter.absent_for(), Nanos::from_secs(3));
    }

    #[test]
    fn stages_are_kept_apart() {
        let mut meter = UsageMeter::new(SECOND);
        for (second, stage, cpu) in [
            (0, Stage::Idle, 0.0),
            (2, Stage::Idle, 0.1),
            (3, Stage::Around, 5.0),
            (4, Stage::Measurement, 0.0),
            (6, Stage::Measurement, 3.0),
            (7, Stage::Around, 90.0),
        ] {
            meter.sample(stage, SECOND.saturating_mul(second), cpu, Some(1));
        }
        assert_eq!((meter.idle(), meter.measured()), (Some(0.05), Some((3.0, 2.0))));
    }

    #[test]
    fn the_machine_has_shares_of_what_passed_between() {
        let mut machine = MachineMeter::new();
        let look = |all, user, load, available_bytes| MachineLook {
            ticks: MachineTicks { user, system: all / 10, iowait: 0, steal: all / 100, all },
            load,
            cores: 4,
            available_bytes,
        };
        machine.sample(Stage::Measurement, SECOND, &look(1_000, 100, 2.5, 70));
        assert_eq!(machine.measured(), None);
        machine.sample(Stage::Measurement, SECOND + SECOND, &look(1_200, 150, 1.5, 90));
        let expected = MachineShares { user: 0.25, system: 0.1, iowait: 0.0, steal: 0.01 };
        assert_eq!((machine.measured(), machine.idle()), (Some(expected), None));
        assert_eq!((machine.load_most, machine.available_least), (Some(2.5), Some(70)));
    }
}
