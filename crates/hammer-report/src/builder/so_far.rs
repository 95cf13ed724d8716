//! The report of a run that goes on: what its last interval knows.

use hammer_measure::snapshot::{SeriesFigures, SeriesSnapshot, Snapshot};
use hammer_measure::{Detail, Distribution, Fate, Ledger, SeriesInfo};
use serde_json::Value;

use crate::report::{
    Cause, Counts, Disruption, DurationTable, EndCounts, Event, HeadlineFigures, Health, PhaseFigures,
    PhaseName, PhaseSpan, Promises, Report, Resources, ResponseTimes, SCHEMA, Series, TreeSize,
};
use crate::verdict::Verdict;

use super::{ReportBuilder, run, tool, totals};

impl ReportBuilder {
    /// The report as far as the run has come, for whoever looks on: without a verdict, and without what only its end tells (thresholds, connections,
    /// promises by workload, bursts), nor curves ([`Report::add_curves`]). None before the first interval has ended.
    pub fn so_far(&self, plan: Value) -> Option<Report> {
        let (info, last) = (self.info.as_deref()?, self.last.as_deref()?);
        let phases = self.phases(last);
        let response_times = self.response_times.of_series(&self.paths);
        let of_series = info.series.iter().zip(&last.series);
        let series: Vec<Series> = of_series.map(|(info, figures)| series(info, figures, &phases)).collect();
        let totals = totals(&series);
        let observations = self.timeline.observations().clone().into_series();
        let headlines = HeadlineFigures::all(&info.headlines, &observations);
        let Ledger { made, kept, broken, pending, unchecked } = last.promises;
        let all = crate::report::PromiseCounts { made, kept, broken, pending, unchecked };
        let breaches = self.events.iter().filter_map(|event| match event {
            Event::Breach { breach, .. } => Some(breach.clone()),
            _ => None,
        });
        Some(Report {
            schema: SCHEMA.to_owned(),
            tool: tool(),
            verdict: Verdict::default(),
            summary: None,
            health: Health::from(&last.health),
            run: run(info, last.resources.cores, length_s(&phases, PhaseName::Measurement)),
            fill: None,
            resources: Resources::of(&last.resources, totals.all.completed),
            totals,
            link: None,
            disruptions: Disruption::all(&series, self.timeline.intervals(), &self.events),
            series,
            groups: Vec::new(),
            connections: Vec::new(),
            promises: Promises { all, ..Promises::default() },
            breaches: breaches.collect(),
            thresholds: Vec::new(),
            tree_size: TreeSize::among(&headlines),
            headlines,
            readiness: Vec::new(),
            observations,
            compat: None,
            server_resources: None,
            bursts: Vec::new(),
            limits: Vec::new(),
            events: self.events.clone(),
            events_left_out: self.events_left_out,
            intervals: self.timeline.intervals().to_vec(),
            response_times,
            phases,
            plan,
        })
    }

    /// The phases that have started; the last one lasts until now.
    fn phases(&self, last: &Snapshot) -> Vec<PhaseSpan> {
        let starts = self.events.iter().filter_map(|event| match event {
            Event::Phase { at_ns, phase } => Some((*phase, *at_ns)),
            _ => None,
        });
        let starts: Vec<(PhaseName, u64)> = starts.collect();
        let ends = starts.iter().skip(1).map(|(_, at_ns)| *at_ns).chain([last.at.0]);
        let spans = starts.iter().zip(ends);
        spans
            .map(|((phase, begin_ns), end_ns)| PhaseSpan {
                phase: *phase,
                begin_ns: *begin_ns,
                end_ns: end_ns.max(*begin_ns),
            })
            .collect()
    }
}

impl Report {
    /// Adds the histogram of each series' response times over measurement to a report of [`ReportBuilder::so_far`], made of its stretches: an
    /// interval has its own alone. It takes a good part of a millisecond for each ten of them.
    pub fn add_curves(&mut self) {
        for (series, times) in self.series.iter_mut().zip(&self.response_times) {
            if let Some(response) = &mut series.measurement.durations.response_time {
                response.hdr = measured(times, &self.phases).payload();
            }
        }
    }
}

fn series(info: &SeriesInfo, figures: &SeriesSnapshot, phases: &[PhaseSpan]) -> Series {
    Series {
        warm_up: phase(&figures.warm_up, length_s(phases, PhaseName::WarmUp)),
        measurement: phase(&figures.measurement, length_s(phases, PhaseName::Measurement)),
        ..Series::without_figures(info)
    }
}

fn phase(figures: &SeriesFigures, seconds: f64) -> PhaseFigures {
    let counts = Counts::from(figures);
    let ended = EndCounts::of(&figures.fates);
    let mut causes: Vec<Cause> = figures.failures.iter().map(|failure| cause(figures, failure)).collect();
    Cause::sort(&mut causes);
    PhaseFigures {
        counts,
        ended,
        rates: counts.rates(ended, [figures.bytes_out, figures.bytes_in], seconds),
        causes,
        durations: DurationTable::from(figures),
    }
}

fn cause(figures: &SeriesFigures, failure: &(Fate, Detail, u64)) -> Cause {
    let answer = figures.answer(failure.0, failure.1).map(|answer| answer.text.clone());
    Cause { answer, ..Cause::of(failure) }
}

/// The response times of the stretches that lie in measurement.
fn measured(times: &ResponseTimes, phases: &[PhaseSpan]) -> Distribution {
    let mut all = Distribution::default();
    let Some(begin_ns) =
        phases.iter().find(|span| span.phase == PhaseName::Measurement).map(|span| span.begin_ns)
    else {
        return all;
    };
    for stretch in times.stretches.iter().filter(|stretch| stretch.at_ns > begin_ns) {
        all.merge(&stretch.distribution().unwrap_or_default());
    }
    all
}

fn length_s(phases: &[PhaseSpan], name: PhaseName) -> f64 {
    let of_name = phases.iter().filter(|span| span.phase == name);
    // The sum of nothing is -0 in itself.
    0.0 + of_name.map(|span| span.end_ns.saturating_sub(span.begin_ns) as f64 / 1e9).sum::<f64>()
}
