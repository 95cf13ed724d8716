//! The metrics of a run at an instant, from which pages of Prometheus and messages of OTLP are made.

use std::sync::Arc;

use hammer_measure::snapshot::RunInfo;
use hammer_measure::{Nanos, Octaves};
use hammer_pages::exposition::WrittenPage;

/// All metrics of a run, in the order of a page.
#[derive(Clone, Debug, Default)]
pub struct MetricFamilies {
    /// What tells the run from others of its command; all samples have it as the label `run`, where there is one.
    pub run: Option<String>,
    /// The run that they are of, where it is known.
    pub info: Option<Arc<RunInfo>>,
    /// When they were so, since the run's epoch.
    pub at: Nanos,
    /// The metrics.
    pub families: Vec<MetricFamily>,
}

/// A metric and its samples, which differ by their labels.
#[derive(Clone, Debug)]
pub struct MetricFamily {
    /// Its name, as Prometheus has it.
    pub name: &'static str,
    /// What its numbers do.
    pub kind: MetricKind,
    /// What it is, in a line.
    pub help: &'static str,
    /// The samples.
    pub samples: Vec<MetricSample>,
}

/// What the numbers of a metric do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// They only grow.
    Counter,
    /// They go up and down.
    Gauge,
    /// They are distributions, whose counts only grow.
    Histogram,
}

/// A sample of a metric.
#[derive(Clone, Debug)]
pub struct MetricSample {
    /// The labels, without `run`.
    pub labels: Vec<(&'static str, String)>,
    /// What it says.
    pub value: MetricValue,
}

/// What a sample says.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// So many.
    Count(u64),
    /// A number that need not be whole, or positive.
    Number(f64),
    /// Durations by powers of two, and the sum of them in seconds.
    Times {
        /// How many there are in each octave.
        octaves: Octaves,
        /// All together, seconds.
        sum_s: f64,
    },
}

impl MetricKind {
    const fn words(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

impl From<u64> for MetricValue {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for MetricValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl MetricFamilies {
    /// What follows are samples of that metric.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &'static str) {
        self.families.push(MetricFamily { name, kind, help, samples: Vec::new() });
    }

    /// A sample of the metric that was named last.
    pub(super) fn sample(&mut self, labels: &[(&'static str, &str)], value: impl Into<MetricValue>) {
        let labels = labels.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        if let Some(family) = self.families.last_mut() {
            family.samples.push(MetricSample { labels, value: value.into() });
        }
    }

    /// The page in Prometheus's text format (0.0.4).
    pub fn text(&self) -> String {
        let mut page = WrittenPage::default();
        for family in &self.families {
            page.metric(family.name, family.kind.words(), family.help);
            for MetricSample { labels, value } in &family.samples {
                let run = self.run.iter().map(|run| ("run", run.as_str()));
                let labels: Vec<(&str, &str)> =
                    run.chain(labels.iter().map(|(name, text)| (*name, text.as_str()))).collect();
                match value {
                    MetricValue::Count(count) => page.sample(family.name, &labels, *count as f64),
                    MetricValue::Number(number) => page.sample(family.name, &labels, *number),
                    MetricValue::Times { octaves, sum_s } => {
                        write_times(&mut page, family.name, &labels, (octaves, *sum_s));
                    }
                }
            }
        }
        page.into_text()
    }
}

/// The buckets are those of the octaves: twice as far each, and 1 ms is a bound.
fn write_times(
    page: &mut WrittenPage,
    name: &str,
    labels: &[(&str, &str)],
    (octaves, sum_s): (&Octaves, f64),
) {
    let mut below = 0;
    for (place, count) in octaves.counts.iter().enumerate() {
        below += count;
        let bound = if place + 1 < Octaves::COUNT {
            Octaves::bound(place).as_secs_f64().to_string()
        } else {
            "+Inf".to_owned()
        };
        let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
        page.sample(&format!("{name}_bucket"), &labels, below as f64);
    }
    page.sample(&format!("{name}_sum"), labels, sum_s);
    page.sample(&format!("{name}_count"), labels, below as f64);
}
