//! The metrics of a run as a collector takes them.

use std::process;

use hammer_measure::Octaves;
use hammer_messages::otlp::{
    AggregationTemporality, ExportMetricsServiceRequest, Gauge, Histogram, HistogramDataPoint,
    InstrumentationScope, KeyValue, Metric, MetricData, NumberDataPoint, NumberValue, Resource,
    ResourceMetrics, ScopeMetrics, Sum,
};
use hammer_report::metrics::{MetricFamilies, MetricFamily, MetricKind, MetricSample, MetricValue};
use hammer_report::rfc3339;

/// All metrics of the page for Prometheus, under the same names: counters as cumulative sums from the run's epoch on, distributions as cumulative
/// histograms with the bounds of its buckets, all others as gauges. A metric without a sample is left out.
pub(super) fn message(families: &MetricFamilies) -> ExportMetricsServiceRequest {
    let epoch_unix_ms = families.info.as_ref().map_or(0, |info| info.epoch_unix_ms);
    let epoch = epoch_unix_ms * 1_000_000;
    let points = Points { run: families.run.as_deref(), epoch, time: epoch + families.at.0 };
    let sampled = families.families.iter().filter(|family| !family.samples.is_empty());
    let metrics = sampled.map(|family| points.metric(family)).collect();
    let (name, version) = ("hammer".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let epoch = rfc3339(epoch_unix_ms);
    let mut attributes = vec![
        KeyValue::text("service.name", &name),
        KeyValue::text("service.version", &version),
        KeyValue::text("service.instance.id", format!("{epoch}-{}", process::id())),
        KeyValue::text("hammer.run.epoch", epoch),
    ];
    let seed = families.info.iter().map(|info| KeyValue::text("hammer.run.seed", info.seed.to_string()));
    attributes.extend(seed);
    let scope = Some(InstrumentationScope { name, version });
    let of_run = ResourceMetrics {
        resource: Some(Resource { attributes }),
        scope_metrics: vec![ScopeMetrics { scope, metrics }],
    };
    ExportMetricsServiceRequest { resource_metrics: vec![of_run] }
}

/// What the points of a message have in common.
struct Points<'a> {
    run: Option<&'a str>,
    /// The run's epoch, and the instant of its metrics, nanoseconds since the Unix epoch.
    epoch: u64,
    time: u64,
}

impl Points<'_> {
    fn metric(&self, family: &MetricFamily) -> Metric {
        let MetricFamily { name, kind, help, samples } = family;
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        // What the process used is counted from before the run on.
        let start = if name.starts_with("process_") { 0 } else { self.epoch };
        let numbers = |start| samples.iter().filter_map(|sample| self.number(sample, start)).collect();
        let data = match kind {
            MetricKind::Counter => MetricData::Sum(Sum {
                data_points: numbers(start),
                aggregation_temporality,
                is_monotonic: true,
            }),
            MetricKind::Gauge => MetricData::Gauge(Gauge { data_points: numbers(0) }),
            MetricKind::Histogram => MetricData::Histogram(Histogram {
                data_points: samples.iter().filter_map(|sample| self.times(sample)).collect(),
                aggregation_temporality,
            }),
        };
        Metric {
            name: (*name).to_owned(),
            description: (*help).to_owned(),
            unit: unit(name).to_owned(),
            data: Some(data),
        }
    }

    fn number(&self, sample: &MetricSample, start_time_unix_nano: u64) -> Option<NumberDataPoint> {
        let value = match sample.value {
            MetricValue::Count(count) => NumberValue::AsInt(i64::try_from(count).unwrap_or(i64::MAX)),
            MetricValue::Number(number) => NumberValue::AsDouble(number),
            MetricValue::Times { .. } => return None,
        };
        Some(NumberDataPoint {
            start_time_unix_nano,
            time_unix_nano: self.time,
            value: Some(value),
            attributes: self.attributes(sample),
        })
    }

    fn times(&self, sample: &MetricSample) -> Option<HistogramDataPoint> {
        let MetricValue::Times { octaves, sum_s } = &sample.value else { return None };
        Some(HistogramDataPoint {
            start_time_unix_nano: self.epoch,
            time_unix_nano: self.time,
            count: octaves.count(),
            sum: Some(*sum_s),
            bucket_counts: octaves.counts.to_vec(),
            explicit_bounds: (0..Octaves::COUNT - 1)
                .map(|place| Octaves::bound(place).as_secs_f64())
                .collect(),
            attributes: self.attributes(sample),
        })
    }

    fn attributes(&self, sample: &MetricSample) -> Vec<KeyValue> {
        let run = self.run.iter().map(|run| KeyValue::text("run", *run));
        run.chain(sample.labels.iter().map(|(name, text)| KeyValue::text(*name, text))).collect()
    }
}

/// What a metric of that name is counted in (UCUM); nothing where it is things.
fn unit(name: &str) -> &'static str {
    match name {
        name if name.contains("_seconds") => "s",
        name if name.contains("_bytes") => "By",
        _ => "",
    }
}
