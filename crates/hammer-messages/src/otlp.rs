//! Metrics of OpenTelemetry as a collector takes them over HTTP (OTLP 1, `opentelemetry/proto/collector/metrics/v1/metrics_service.proto`,
//! `metrics/v1/metrics.proto`, `common/v1/common.proto`, `resource/v1/resource.proto`).

use prost::{Enumeration, Message, Oneof};

/// Where a collector takes an [`ExportMetricsServiceRequest`], to be answered with an [`ExportMetricsServiceResponse`], unless it says otherwise.
pub const METRICS: &str = "/v1/metrics";
/// What a message is as the body of a request or of an answer.
pub const CONTENT_TYPE: &str = "application/x-protobuf";

/// Metrics for a collector.
#[derive(Clone, PartialEq, Message)]
pub struct ExportMetricsServiceRequest {
    /// By what they are of.
    #[prost(message, repeated, tag = "1")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

/// What a collector says with a success.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ExportMetricsServiceResponse {
    /// Something that it did not take, or says besides.
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<ExportMetricsPartialSuccess>,
}

/// What a collector did not take.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ExportMetricsPartialSuccess {
    /// So many points; with none the text is a warning.
    #[prost(int64, tag = "1")]
    pub rejected_data_points: i64,
    /// Why, for people.
    #[prost(string, tag = "2")]
    pub error_message: String,
}

/// Metrics of a resource.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceMetrics {
    /// What they are of.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// By who measured them.
    #[prost(message, repeated, tag = "2")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

/// What metrics are of: a process, a run.
#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    /// What tells it from others.
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
}

/// Metrics that one library or program measured.
#[derive(Clone, PartialEq, Message)]
pub struct ScopeMetrics {
    /// Which.
    #[prost(message, optional, tag = "1")]
    pub scope: Option<InstrumentationScope>,
    /// The metrics.
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
}

/// Who measured.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct InstrumentationScope {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// A metric with its points.
#[derive(Clone, PartialEq, Message)]
pub struct Metric {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What it is, for people.
    #[prost(string, tag = "2")]
    pub description: String,
    /// Of what its numbers are (UCUM): `s`, `By`.
    #[prost(string, tag = "3")]
    pub unit: String,
    /// The points.
    #[prost(oneof = "MetricData", tags = "5, 7, 9")]
    pub data: Option<MetricData>,
}

/// The points of a metric, by what its numbers do. Exponential histograms and summaries are left out.
#[derive(Clone, PartialEq, Oneof)]
pub enum MetricData {
    /// They go up and down.
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    /// They add up.
    #[prost(message, tag = "7")]
    Sum(Sum),
    /// They are distributions.
    #[prost(message, tag = "9")]
    Histogram(Histogram),
}

/// Numbers as they were.
#[derive(Clone, PartialEq, Message)]
pub struct Gauge {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberDataPoint>,
}

/// Sums.
#[derive(Clone, PartialEq, Message)]
pub struct Sum {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberDataPoint>,
    /// From when on they are summed up.
    #[prost(enumeration = "AggregationTemporality", tag = "2")]
    pub aggregation_temporality: i32,
    /// Whether they only grow.
    #[prost(bool, tag = "3")]
    pub is_monotonic: bool,
}

/// Distributions.
#[derive(Clone, PartialEq, Message)]
pub struct Histogram {
    /// The points.
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<HistogramDataPoint>,
    /// From when on they are summed up.
    #[prost(enumeration = "AggregationTemporality", tag = "2")]
    pub aggregation_temporality: i32,
}

/// From when on something is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AggregationTemporality {
    /// It is not said.
    Unspecified = 0,
    /// From the last export on.
    Delta = 1,
    /// From its start on.
    Cumulative = 2,
}

/// A number at an instant.
#[derive(Clone, PartialEq, Message)]
pub struct NumberDataPoint {
    /// From when on it is summed up, nanoseconds since the Unix epoch; 0 where that is not known.
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    /// When it was so, nanoseconds since the Unix epoch.
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    /// The number.
    #[prost(oneof = "NumberValue", tags = "4, 6")]
    pub value: Option<NumberValue>,
    /// What tells the point from others of its metric.
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<KeyValue>,
}

/// A number.
#[derive(Clone, Copy, PartialEq, Oneof)]
pub enum NumberValue {
    /// One that need not be whole.
    #[prost(double, tag = "4")]
    AsDouble(f64),
    /// A whole one.
    #[prost(sfixed64, tag = "6")]
    AsInt(i64),
}

/// A distribution at an instant.
#[derive(Clone, PartialEq, Message)]
pub struct HistogramDataPoint {
    /// From when on it is summed up, nanoseconds since the Unix epoch; 0 where that is not known.
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    /// When it was so, nanoseconds since the Unix epoch.
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    /// How many values there are.
    #[prost(fixed64, tag = "4")]
    pub count: u64,
    /// All of them together.
    #[prost(double, optional, tag = "5")]
    pub sum: Option<f64>,
    /// How many are in each bucket; there is one more than there are bounds.
    #[prost(fixed64, repeated, tag = "6")]
    pub bucket_counts: Vec<u64>,
    /// Up to where each bucket but the last reaches, ascending.
    #[prost(double, repeated, tag = "7")]
    pub explicit_bounds: Vec<f64>,
    /// What tells the point from others of its metric.
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
}

/// An attribute.
#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// What it is.
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AnyValue {
    /// A text or a number; what else there may be is left out.
    #[prost(oneof = "AttributeValue", tags = "1, 3")]
    pub value: Option<AttributeValue>,
}

/// What an attribute can be.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum AttributeValue {
    /// A text.
    #[prost(string, tag = "1")]
    String(String),
    /// A whole number.
    #[prost(int64, tag = "3")]
    Int(i64),
}

impl KeyValue {
    /// An attribute that is a text.
    pub fn text(key: impl Into<String>, text: impl Into<String>) -> Self {
        let value = Some(AnyValue { value: Some(AttributeValue::String(text.into())) });
        Self { key: key.into(), value }
    }
}
