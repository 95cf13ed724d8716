//! A comparison as JSON, which `docs/compare.md` describes key by key.

use serde_json::{Value, json};

use crate::bound::FoundBound;
use crate::comparison::{ComparedFigure, ComparedRatio, ComparedSeries, Comparison};
use crate::metric::Metric;
use crate::number::Number;
use crate::sample::Sample;
use crate::sweep::SweepComparison;
use crate::variant::Variant;

impl Comparison {
    /// The comparison as JSON, ending in a newline.
    pub fn json(&self, found: &[FoundBound]) -> String {
        let mut document =
            json!({ "schema": COMPARISON, "passed": !self.fails(found), "beyond_bounds": beyond(found) });
        extend(&mut document, self.document());
        format!("{document:#}\n")
    }

    fn document(&self) -> Value {
        json!({
            "metric": self.config.metric,
            "series_path": self.series[0].path,
            "confidence": self.config.confidence,
            "warnings": self.warnings,
            "variants": self.variants.iter().map(|variant| self.variant(variant)).collect::<Vec<_>>(),
            "series": self.series.iter().map(|series| self.of_series(series)).collect::<Vec<_>>(),
            "settings": self.settings(),
            "failed": self.failed(),
            "sla": self.sla,
            "hops": self.hops,
            "components": self.components(),
        })
    }

    fn variant(&self, variant: &Variant) -> Value {
        let path = &self.series[0].path;
        let runs = variant.runs.iter().map(|run| {
            json!({
                "tool": run.tool,
                "measured_seconds": run.measured_seconds,
                "broken_promises": run.broken,
                "findings": run.findings,
                "generator": run.generator,
            })
        });
        json!({
            "label": variant.label,
            "offered": variant.sum(path, |series| series.offered),
            "accepted": variant.sum(path, |series| series.accepted),
            "success": variant.success(path),
            "failed_per_s": variant.failed_per_s(path),
            "replicas": self.replicas(variant),
            "runs": runs.collect::<Vec<_>>(),
        })
    }

    fn of_series(&self, series: &ComparedSeries) -> Value {
        json!({
            "path": series.path,
            "is_step": series.is_step,
            "is_total": series.is_total,
            "figures": series.figures.iter().map(|figure| self.of_figure(figure)).collect::<Vec<_>>(),
        })
    }

    fn of_figure(&self, figure: &ComparedFigure) -> Value {
        let labelled = self.variants.iter().zip(&figure.samples);
        let variants = labelled.map(|(variant, sample)| of_sample(&variant.label, sample));
        let others = self.variants.iter().skip(1).zip(&figure.ratios);
        let ratios = others.map(|(variant, ratio)| of_ratio(&variant.label, ratio));
        json!({
            "metric": figure.metric,
            "unit": if figure.metric == Metric::Rate { "per_s" } else { "ns" },
            "variants": variants.collect::<Vec<_>>(),
            "ratios": ratios.collect::<Vec<_>>(),
        })
    }
}

impl SweepComparison {
    /// The comparison as JSON, ending in a newline: that of each point.
    pub fn json(&self, found: &[FoundBound]) -> String {
        let points = self.points.iter().map(|point| {
            let mut document = json!({ "at": point.at });
            extend(&mut document, point.comparison.document());
            document
        });
        let document = json!({
            "schema": SWEEPS,
            "passed": !self.fails(found),
            "beyond_bounds": beyond(found),
            "labels": self.labels,
            "lone_points": self.lone,
            "points": points.collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }
}

fn of_sample(label: &str, sample: &Sample) -> Value {
    let number = |figure: Option<f64>| figure.filter(|figure| !figure.is_nan()).map(Number);
    json!({
        "label": label,
        "mean": number(sample.mean()),
        "least": number(sample.least()),
        "greatest": number(sample.greatest()),
        "deviation": sample.standard_deviation().filter(|deviation| deviation.is_finite()),
        "variation": sample.variation().filter(|variation| variation.is_finite()),
        "runs": sample.runs().iter().map(|run| number(*run)).collect::<Vec<_>>(),
    })
}

fn of_ratio(label: &str, ratio: &ComparedRatio) -> Value {
    let estimate = ratio.estimate.ok();
    json!({
        "label": label,
        "ratio": ratio.ratio,
        "low": estimate.map(|estimate| estimate.low),
        "high": estimate.map(|estimate| estimate.high),
        "p_value": estimate.map(|estimate| estimate.p_value),
        "conclusion": ratio.conclusion.name().replace(' ', "_"),
        "runs_needed": ratio.runs_needed,
    })
}

fn beyond(found: &[FoundBound]) -> Vec<Value> {
    let told = |found: &FoundBound| json!({ "bound": found.bound, "label": found.label, "ratio": Number(found.ratio) });
    found.iter().map(told).collect()
}

/// Adds the keys of another object.
fn extend(document: &mut Value, more: Value) {
    if let (Value::Object(own), Value::Object(more)) = (document, more) {
        own.extend(more);
    }
}

/// The version of the form of a comparison.
const COMPARISON: &str = "hammer.comparison/1";
/// That of sweeps.
const SWEEPS: &str = "hammer.sweep-comparison/1";
