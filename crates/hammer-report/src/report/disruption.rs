//! When a series of operations failed or lagged, and when it was as before: from the run by interval, and from what was done beside it.

use hammer_measure::Detail;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::event::Event;
use super::figures::{Fates, Nanoseconds};
use super::phase::PhaseName;
use super::series::{Series, SeriesKind};
use super::timeline::{Interval, SeriesInterval};

/// A time in measurement in which a series of operations was not served as before. Instants are ends of intervals, and so as coarse
/// as these are long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disruption {
    /// The series of operations, `workload/name`.
    pub path: String,
    /// How bad it was.
    pub kind: DisruptionKind,
    /// The start of its first interval, nanoseconds since the epoch.
    pub from_ns: u64,
    /// The start of the first interval in which it was over; `null` where measurement ended before. After an outage that is the
    /// interval in which more was accepted again than failed.
    pub to_ns: Option<u64>,
    /// The start of the first of two intervals in a row in which rate and 99th percentile were as before; `null` where there were none,
    /// and where `before` is.
    pub recovered_ns: Option<u64>,
    /// What ended between `from_ns` and `to_ns`, by fate; `backlog` and `in_flight` are the changes.
    pub fates: Fates,
    /// How the series did before the first hook, mark or failure, or a silence that alone is an outage; `null` where measurement had
    /// fewer than two intervals for it.
    pub before: Option<Pace>,
    /// The same from the first to the last interval that was not as before.
    pub within: Pace,
    /// Hooks in mid-run, marks and changes of servers from two intervals before `from_ns` to `recovered_ns`, as `events` has them.
    pub beside: Vec<Event>,
}

/// How bad a disruption was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisruptionKind {
    /// Less was accepted than failed, or nothing at all while operations were under way.
    Outage,
    /// After a hook, a mark or an outage, less was accepted than before, or the 99th percentile was far longer. What the generator's own
    /// standstills make of a rate or a time is neither.
    Slowdown,
}

/// How a series did over some intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// Operations accepted per second.
    pub accepted_per_s: f64,
    /// The longest of the intervals' 99th percentiles of response time; `null` where nothing ended.
    pub p99_ns: Option<Nanoseconds>,
}

/// The intervals of a series over measurement, and how it did before anything was done.
struct Course<'a> {
    series: &'a Series,
    looks: Vec<Look<'a>>,
    before: Option<Pace>,
    /// What it accepted per second in all intervals but those that failed.
    usual_per_s: f64,
    /// When something was done first.
    touched_ns: Option<u64>,
    /// The median response time before something was done or failed.
    usual_response_ns: u64,
}

/// A series in an interval.
#[derive(Clone, Copy)]
struct Look<'a> {
    from_ns: u64,
    to_ns: u64,
    seen: &'a SeriesInterval,
    is_measured: bool,
    /// How long the generator stood still in it.
    stood_ns: u64,
    /// The same in it and the one before, by which its answers may be late.
    late_ns: u64,
    /// Whether operations were under way for long in it.
    has_waited: bool,
    /// Which share of what ended is accepted where no more fails than is accepted: less than 1 of a server that refuses a part of all.
    usual_share: f64,
}

/// What an interval says of its series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Served as before.
    Good,
    /// Served, but worse than before.
    Slow,
    /// Nothing ended, though there was something to do.
    Silent,
    /// More failed than was accepted, and far more than usual.
    Failing,
}

impl Disruption {
    /// Those of a run, by series of operations and in time, [`MOST_DISRUPTIONS`] of a series at most.
    pub(crate) fn all(series: &[Series], intervals: &[Interval], events: &[Event]) -> Vec<Self> {
        let operations = series.iter().filter(|series| series.kind == SeriesKind::Operation);
        operations.flat_map(|series| Course::of(series, intervals, events).disruptions(events)).collect()
    }
}

impl<'a> Course<'a> {
    fn of(series: &'a Series, intervals: &'a [Interval], events: &[Event]) -> Self {
        let looks: Vec<Look<'_>> = intervals
            .iter()
            .filter_map(|interval| {
                let seen = interval.series.iter().find(|seen| seen.path == series.path)?;
                let from_ns = interval.at_ns.saturating_sub(interval.span_ns);
                let is_measured = interval.phase == PhaseName::Measurement;
                let (stood_ns, late_ns, has_waited) = Default::default();
                let to_ns = interval.at_ns;
                let usual_share = 1.0;
                Some(Look { from_ns, to_ns, seen, is_measured, stood_ns, late_ns, has_waited, usual_share })
            })
            .collect();
        // What goes before measurement and behind it says what its first and its last interval were.
        let mut looks = with_waits(with_standstills(looks, intervals));
        looks.retain(|look| look.is_measured);
        let usual_share = usual_share(&looks);
        looks.iter_mut().for_each(|look| look.usual_share = usual_share);
        let started = looks.first().map_or(0, |look| look.from_ns);
        let touches = events.iter().filter(|event| is_touch(event)).map(Event::at_ns);
        let touched_ns = touches.filter(|at| *at >= started).min();
        let failed_ns = looks.iter().find(|look| look.is_failing()).map(|look| look.from_ns);
        let untroubled_until = touched_ns.into_iter().chain(failed_ns).min();
        let usual_response_ns = usual_response(series, &looks, untroubled_until);
        let served: Vec<Look<'_>> =
            looks.iter().filter(|look| look.seen.fates.accepted > 0).copied().collect();
        let served_per_s = Pace::of(&served).map_or(0.0, |pace| pace.accepted_per_s);
        let silent_ns = silent_from(&looks, usual_response_ns, served_per_s);
        let until = untroubled_until.into_iter().chain(silent_ns).min().unwrap_or(u64::MAX);
        let before: Vec<Look<'_>> = looks.iter().filter(|look| look.to_ns <= until).copied().collect();
        let before = (before.len() >= LEAST_BEFORE).then(|| Pace::of(&before)).flatten();
        let usual_per_s = before.map_or(served_per_s, |pace| pace.accepted_per_s);
        Self { series, looks, before, usual_per_s, touched_ns, usual_response_ns }
    }

    fn disruptions(&self, events: &[Event]) -> Vec<Disruption> {
        // What never accepts anything is no disruption, nor is what fails from the start to the end.
        let is_ever_served = self.looks.iter().any(|look| look.seen.fates.accepted > 0);
        let mut told = self.looks.iter().filter(|look| look.seen.fates.ended() > 0);
        if !is_ever_served || told.all(Look::is_failing) {
            return Vec::new();
        }
        let found = self.disruptions_troubled(self.touched_ns, events);
        // What is late after an outage may be so because of it.
        let outage = found.iter().find(|one| one.kind == DisruptionKind::Outage);
        let out_ns = outage.map(|outage| outage.from_ns);
        match out_ns.filter(|out| self.touched_ns.is_none_or(|touched| *out < touched)) {
            Some(out_ns) => self.disruptions_troubled(Some(out_ns), events),
            None => found,
        }
    }

    /// The disruptions, where the load alone is no reason for what is slow after that instant.
    fn disruptions_troubled(&self, troubled_ns: Option<u64>, events: &[Event]) -> Vec<Disruption> {
        let mut states: Vec<State> = self.looks.iter().map(|look| self.state(look, troubled_ns)).collect();
        self.forgive_short_silence(&mut states);
        let mut found = Vec::new();
        let mut place = 0;
        while let Some(start) = (place..states.len()).find(|at| states[*at] != State::Good) {
            // It goes on until two intervals in a row were good, or the last one was.
            let good = |at: usize| states.get(at).is_none_or(|state| *state == State::Good);
            let end = (start..states.len()).find(|at| good(*at) && good(at + 1));
            let bad_end = end.unwrap_or(states.len());
            found.extend(self.disruption(start, bad_end, &states, events));
            place = bad_end;
            if found.len() == MOST_DISRUPTIONS {
                break;
            }
        }
        found
    }

    /// Silence between answers that take as long is how the server works: one that answers in batches, as Rekor v2 does by its
    /// checkpoints, is silent from one to the next.
    fn forgive_short_silence(&self, states: &mut [State]) {
        let mut place = 0;
        for run in states.chunk_by_mut(|one, next| one == next) {
            let looks = &self.looks[place..place + run.len()];
            place += run.len();
            if run[0] == State::Silent && !is_long_silence(looks, self.usual_response_ns) {
                run.fill(State::Good);
            }
        }
    }

    /// The disruption of the intervals from `start` up to `end`, if it is one.
    fn disruption(&self, start: usize, end: usize, states: &[State], events: &[Event]) -> Option<Disruption> {
        let (kind, first, last) = match self.outage(start, end, states) {
            Some((first, last)) => (DisruptionKind::Outage, first, last),
            None => {
                // One interval alone may be slow by chance.
                let slow = states[start..end].iter().filter(|state| **state == State::Slow).count();
                (slow >= LEAST_SLOW).then_some((DisruptionKind::Slowdown, start, end - 1))?
            }
        };
        let (from_ns, is_over) = (self.looks[first].from_ns, end < self.looks.len());
        let recovered_ns = (is_over && self.before.is_some()).then(|| self.looks[end].from_ns);
        let mut fates = Fates::default();
        self.looks[first..=last].iter().for_each(|look| fates.add(&look.seen.fates));
        let early = from_ns.saturating_sub(2 * (self.looks[first].to_ns - from_ns));
        let late = recovered_ns.unwrap_or(u64::MAX);
        let is_beside = |event: &&Event| event.is_beside() && (early..=late).contains(&event.at_ns());
        Some(Disruption {
            path: self.series.path.clone(),
            kind,
            from_ns,
            to_ns: self.looks.get(last + 1).map(|look| look.from_ns),
            recovered_ns,
            fates,
            before: self.before,
            within: Pace::of(&self.looks[first..end.max(last + 1)])?,
            beside: events.iter().filter(is_beside).take(MOST_BESIDE).cloned().collect(),
        })
    }

    /// The first and the last interval of an outage: silence counts where it fails too, or lasts longer than chance has it.
    fn outage(&self, start: usize, end: usize, states: &[State]) -> Option<(usize, usize)> {
        let is_out = |state: State| matches!(state, State::Failing | State::Silent);
        let places = || (start..end).filter(|at| is_out(states[*at]));
        let (first, last) = (places().next()?, places().next_back()?);
        let fails = places().any(|at| states[at] == State::Failing);
        let silent: f64 = places().map(|at| self.looks[at].seconds()).sum();
        (fails || silent * self.usual_per_s >= LEAST_MISSED).then_some((first, last))
    }

    fn state(&self, look: &Look<'_>, troubled_ns: Option<u64>) -> State {
        if look.is_failing() {
            return State::Failing;
        }
        if look.is_silent() {
            return State::Silent;
        }
        let is_troubled = troubled_ns.is_some_and(|at| look.to_ns > at);
        match &self.before {
            Some(before) if is_troubled && !look.is_as(before, self.series.closed_loop) => State::Slow,
            _ => State::Good,
        }
    }
}

/// The looks with how long the generator stood still in each. A standstill is told with the interval in which it began, whenever that was: what
/// of it lies in that one and what in those behind is not known, so that the next one has as much of it.
fn with_standstills<'a>(mut looks: Vec<Look<'a>>, intervals: &[Interval]) -> Vec<Look<'a>> {
    for interval in intervals.iter().filter(|interval| interval.stood_ns > 0) {
        let behind = looks.iter().position(|look| look.to_ns >= interval.at_ns).unwrap_or(looks.len());
        for first in [behind, behind + 1] {
            let mut rest = interval.stood_ns;
            for look in looks.iter_mut().skip(first) {
                let part = rest.min(look.to_ns.saturating_sub(look.from_ns));
                look.stood_ns = look.stood_ns.max(part);
                rest -= part;
            }
        }
    }
    let mut before = 0;
    for look in &mut looks {
        look.late_ns = before + look.stood_ns;
        before = look.stood_ns;
    }
    looks
}

/// The looks with whether operations were under way in all of each, or took long: what was sent a moment before the end of an interval, and was
/// answered a moment after it, waited for nobody in it.
fn with_waits(mut looks: Vec<Look<'_>>) -> Vec<Look<'_>> {
    let waiting = |look: &Look<'_>| look.seen.in_flight_at_end + look.seen.backlog_at_end;
    for place in 0..looks.len() {
        let before = place.checked_sub(1).map(|before| waiting(&looks[before]));
        let half = looks[place].to_ns.saturating_sub(looks[place].from_ns) / 2;
        let behind = looks.get(place + 1);
        let was_long = behind.is_some_and(|behind| {
            let longest = behind.seen.response_time.map(|durations| durations.max_ns);
            longest.is_none_or(|longest| longest.is_longer_than(half))
        });
        looks[place].has_waited = before.is_some_and(|before| before > 0) || was_long;
    }
    looks
}

/// Which share of what ended in intervals in which no more failed than was accepted was; all of it where there is none.
fn usual_share(looks: &[Look<'_>]) -> f64 {
    let served = looks.iter().filter(|look| look.seen.fates.accepted >= look.failed());
    let (accepted, failed) = served.fold((0, 0), |(accepted, failed), look| {
        (accepted + look.seen.fates.accepted, failed + look.failed())
    });
    if accepted == 0 { 1.0 } else { accepted as f64 / (accepted + failed) as f64 }
}

/// The median response time of a series before that instant, as the median of its intervals has it; over all of measurement where nothing
/// ended before, since what is late in an outage may be most of a run.
fn usual_response(series: &Series, looks: &[Look<'_>], until_ns: Option<u64>) -> u64 {
    let before = looks.iter().filter(|look| until_ns.is_none_or(|until| look.to_ns <= until));
    let response_times = before.filter_map(|look| look.seen.response_time);
    let mut medians: Vec<u64> = response_times.map(|durations| durations.p50_ns.least()).collect();
    medians.sort_unstable();
    let whole = series.measurement.durations.response_time.as_ref();
    let of_all = || whole.map_or(0, |durations| durations.p50_ns.least());
    medians.get(medians.len() / 2).copied().unwrap_or_else(of_all)
}

/// The start of the first silence that is longer than how the server works, and than chance has it at the rate before; where too little
/// was before, at that of the intervals that were served.
fn silent_from(looks: &[Look<'_>], usual_response_ns: u64, served_per_s: f64) -> Option<u64> {
    let (mut intervals, mut seconds, mut accepted) = (0, 0.0, 0);
    looks.chunk_by(|one, next| one.is_silent() == next.is_silent()).find_map(|run| {
        let usual_per_s = match intervals >= LEAST_BEFORE {
            true => accepted as f64 / seconds,
            false => served_per_s,
        };
        let lasted: f64 = run.iter().map(Look::seconds).sum();
        let is_out = is_long_silence(run, usual_response_ns) && lasted * usual_per_s >= LEAST_MISSED;
        intervals += run.len();
        seconds += lasted;
        accepted += run.iter().map(|look| look.seen.fates.accepted).sum::<u64>();
        run.first().filter(|_| is_out).map(|look| look.from_ns)
    })
}

/// Whether these intervals, all of which are alike, are a silence that is longer than how the server works.
fn is_long_silence(run: &[Look<'_>], usual_response_ns: u64) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    // A generator that was held up itself may tell an interval late, behind the start of the next.
    let lasted = last.to_ns.saturating_sub(first.from_ns);
    first.is_silent() && lasted > LONG_SILENCE.saturating_mul(usual_response_ns)
}

impl Look<'_> {
    fn seconds(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 / 1e9
    }

    /// What the server, or the way to it, let fail; not what failed for lack of something of hammer's own.
    fn failed(&self) -> u64 {
        let Fates { refused, pushback, server_error, malformed, unreachable, timed_out, .. } =
            self.seen.fates;
        let failed = refused + pushback + server_error + malformed + unreachable + timed_out;
        failed.saturating_sub(self.failed_here())
    }

    /// What failed for lack of something of hammer's own.
    fn failed_here(&self) -> u64 {
        let is_own = |cause: &&Cause| OWN_CAUSES.iter().any(|own| cause.cause == own.to_string());
        self.seen.causes.iter().filter(is_own).map(|cause| cause.count).sum()
    }

    /// Whether more failed than was accepted, and far more than usual: where half of all fails from the start to the end, a little more does by
    /// chance.
    fn is_failing(&self) -> bool {
        let (failed, accepted) = (self.failed(), self.seen.fates.accepted);
        let least = (failed + accepted) as f64 * self.usual_share / 2.0;
        failed > accepted && (accepted as f64) < least
    }

    /// Whether nothing ended that could have: not where hammer did not run for most of the time.
    fn is_silent(&self) -> bool {
        let SeriesInterval { offered, fates, backlog_at_end, in_flight_at_end, .. } = self.seen;
        let waits = *offered > 0 || *backlog_at_end > 0 || *in_flight_at_end > 0;
        let has_run = 2 * self.stood_ns < self.to_ns.saturating_sub(self.from_ns);
        let has_ended = fates.accepted + self.failed() + self.failed_here() > 0;
        waits && has_run && self.has_waited && !has_ended
    }

    /// Whether rate and 99th percentile are as before, but for what chance does to few operations, and the generator's standstills to all.
    fn is_as(&self, before: &Pace, closed_loop: bool) -> bool {
        let ran = self.seconds() - self.stood_ns as f64 / 1e9;
        let expected = before.accepted_per_s * ran.max(0.0);
        // Nobody can be served oftener than something is due; users who wait for answers offer less because of that.
        let offers_less = !closed_loop || self.seen.in_flight_at_end == 0;
        let due = if offers_less { expected.min(self.seen.offered as f64) } else { expected };
        let least = (due * LEAST_SHARE).min(due - 3.0 * due.sqrt());
        if (self.seen.fates.accepted as f64) < least {
            return false;
        }
        let p99 = self.seen.response_time.map(|durations| durations.p99_ns);
        match (p99, before.p99_ns) {
            (Some(Nanoseconds::At(now)), Some(Nanoseconds::At(then))) => {
                now.saturating_sub(self.late_ns) <= 2 * then + SLACK_NS
            }
            (Some(Nanoseconds::Beyond { .. }), Some(Nanoseconds::At(_))) => false,
            _ => true,
        }
    }
}

impl Pace {
    fn of(looks: &[Look<'_>]) -> Option<Self> {
        let seconds: f64 = looks.iter().map(Look::seconds).sum();
        let accepted: u64 = looks.iter().map(|look| look.seen.fates.accepted).sum();
        let p99s = looks.iter().filter_map(|look| look.seen.response_time).map(|durations| durations.p99_ns);
        (seconds > 0.0).then(|| Self {
            accepted_per_s: accepted as f64 / seconds,
            p99_ns: p99s.reduce(Nanoseconds::longer),
        })
    }
}

/// Whether something was done to the servers, as far as a plan or an operator says.
const fn is_touch(event: &Event) -> bool {
    matches!(event, Event::HookStarted { .. } | Event::Mark { .. })
}

/// What ran out here, and not at the server.
const OWN_CAUSES: [Detail; 3] =
    [Detail::DESCRIPTORS_EXHAUSTED, Detail::PORTS_EXHAUSTED, Detail::FILES_EXHAUSTED];
const MOST_DISRUPTIONS: usize = 20;
const MOST_BESIDE: usize = 20;
const LEAST_BEFORE: usize = 2;
const LEAST_SLOW: usize = 2;
/// Operations that would usually have been accepted: by chance none of five is missing once in 150 times.
const LEAST_MISSED: f64 = 5.0;
/// Times the median response time: who answers a batch every so often is silent for twice the median.
const LONG_SILENCE: u64 = 4;
const LEAST_SHARE: f64 = 0.8;
const SLACK_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests;
