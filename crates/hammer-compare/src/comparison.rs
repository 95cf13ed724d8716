//! Variants side by side.

use crate::bound::FoundBound;
use crate::conclusion::{Conclusion, corrected};
use crate::hops::HopBreakdown;
use crate::measured_run::MeasuredRun;
use crate::metric::Metric;
use crate::ratio::{LEAST_RUNS, NoRatio, RatioEstimate, runs_needed};
use crate::sample::Sample;
use crate::sla::{HeldSla, SlaBound};
use crate::variant::Variant;
use crate::warning;

/// What is asked of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonConfig {
    /// With how much confidence intervals hold what they are of, and one looks at differences: above 0 and below 1.
    pub confidence: f64,
    /// The one figure that the verdict goes by.
    pub metric: Metric,
    /// The series that it goes by; without one, the operations of which most were measured.
    pub series: Option<String>,
    /// Service levels that runs are held against, in the verdict's series.
    pub sla: Vec<SlaBound>,
    /// Whether the comparison fails where a variant but the first does not meet one.
    pub sla_decides: bool,
    /// Whether the variants are parts of a chain, each with one link more than the one before.
    pub hops: Option<Hops>,
}

/// That variants are parts of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hops {
    /// The variant that is no part of it but the whole, as it was measured by itself.
    pub total: Option<String>,
}

/// The 99th percentile of the operations of which most were measured, by 95 %.
impl Default for ComparisonConfig {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            metric: Metric::P99,
            series: None,
            sla: Vec::new(),
            sla_decides: false,
            hops: None,
        }
    }
}

/// Variants that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// There is one at most.
    #[error("compare: there are no two variants; `--` stands between the runs of one and of the next")]
    OneVariant,
    /// A variant has no run.
    #[error("compare: {0} has no run")]
    NoRun(String),
    /// A variant has not the figure that is asked for.
    #[error("compare: {label} has no {metric} of {path}; all variants have {}", all_of(.known))]
    NoFigure {
        /// The variant.
        label: String,
        /// The figure.
        metric: Metric,
        /// The series.
        path: String,
        /// The figures that all variants have.
        known: Vec<String>,
    },
    /// No series of operations is of all variants.
    #[error("compare: the variants share no series of operations: {}", .0.join("; "))]
    NothingShared(Vec<String>),
    /// The variant that should be the whole of a chain is none of them.
    #[error("compare: no variant is called `{label}`, which should be the whole of the chain; there are {}", all_of(.known))]
    NoTotal {
        /// What was asked for.
        label: String,
        /// What variants are called.
        known: Vec<String>,
    },
    /// Sweeps that have no point in common.
    #[error("compare: the sweeps of {} have no point in common", .0.join(", "))]
    NoSharedPoint(Vec<String>),
    /// The series that the verdict should go by is none of theirs.
    #[error("compare: not all variants have a series `{path}`; all have {}", all_of(.shared))]
    NoSeries {
        /// What was asked for.
        path: String,
        /// The series that all have.
        shared: Vec<String>,
    },
}

fn all_of(shared: &[String]) -> String {
    if shared.is_empty() { "none".to_owned() } else { shared.join(", ") }
}

/// Variants, each beside the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was asked.
    pub config: ComparisonConfig,
    /// The variants.
    pub variants: Vec<Variant>,
    /// The series that all variants have, that of the verdict first.
    pub series: Vec<ComparedSeries>,
    /// The figure that the verdict goes by, of the first series.
    pub verdict: ComparedFigure,
    /// What speaks against comparing them.
    pub warnings: Vec<String>,
    /// The service levels, held against the first series.
    pub sla: Vec<HeldSla>,
    /// What the links of the chain add; empty where the variants are no parts of one.
    pub hops: Vec<HopBreakdown>,
}

/// A series that all variants have.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedSeries {
    /// `workload/name`.
    pub path: String,
    /// Whether it is one of steps within operations.
    pub is_step: bool,
    /// Whether it is all operations of a run together.
    pub is_total: bool,
    /// Its figures.
    pub figures: Vec<ComparedFigure>,
}

/// A figure of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedFigure {
    /// What it is of.
    pub metric: Metric,
    /// That of each variant's runs.
    pub samples: Vec<Sample>,
    /// Each variant but the first beside that.
    pub ratios: Vec<ComparedRatio>,
}

/// A figure of a variant beside that of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRatio {
    /// How many times the first one's it is, by geometric means; none where one is zero or beyond what was measured.
    pub ratio: Option<f64>,
    /// The same with its interval.
    pub estimate: Result<RatioEstimate, NoRatio>,
    /// What is concluded. But for the verdict's own figure, as if all others had not been looked at, too.
    pub conclusion: Conclusion,
    /// How many runs a side would tell what was seen; none where none would, or it is told.
    pub runs_needed: Option<u64>,
}

impl Comparison {
    /// Compares each variant with the first.
    ///
    /// # Errors
    /// Variants that cannot be.
    pub fn of(variants: Vec<Variant>, config: ComparisonConfig) -> Result<Self, ComparisonError> {
        if variants.len() < 2 {
            return Err(ComparisonError::OneVariant);
        }
        if let Some(empty) = variants.iter().find(|variant| variant.runs.is_empty()) {
            return Err(ComparisonError::NoRun(empty.label.clone()));
        }
        let mut series = shared(&variants, config.confidence);
        let chosen = match &config.series {
            Some(path) => series.iter().position(|series| series.path == *path),
            None => most_measured(&variants, &series),
        };
        let Some(chosen) = chosen else {
            return Err(match config.series {
                Some(path) => {
                    let shared = series.into_iter().map(|series| series.path).collect();
                    ComparisonError::NoSeries { path, shared }
                }
                None => {
                    let series = variants.iter().map(series_of);
                    ComparisonError::NothingShared(series.chain(other_tools(&variants)).collect())
                }
            });
        };
        series[..=chosen].rotate_right(1);
        conclude(&mut series, &config);
        let verdict = figure_of(&variants, &series, config.metric)?.clone();
        let path = &series[0].path;
        let sla = config.sla.iter().map(|bound| bound.held(&variants, path, config.sla_decides)).collect();
        let hops = match &config.hops {
            Some(Hops { total }) => {
                let known = || variants.iter().map(|variant| variant.label.clone()).collect();
                let label = || total.clone().unwrap_or_default();
                HopBreakdown::of(&variants, path, total.as_deref())
                    .ok_or_else(|| ComparisonError::NoTotal { label: label(), known: known() })?
            }
            None => Vec::new(),
        };
        let warnings = Vec::new();
        let mut comparison = Self { config, variants, series, verdict, warnings, sla, hops };
        comparison.warnings = warning::warnings(&comparison);
        Ok(comparison)
    }

    /// Whether it fails what was asked of it: by one of these bounds, which do not hold, or by a service level that decides.
    pub fn fails(&self, found: &[FoundBound]) -> bool {
        !found.is_empty() || self.sla.iter().any(HeldSla::fails)
    }

    /// That figure of the verdict's series.
    ///
    /// # Errors
    /// A variant that has none.
    pub(crate) fn figure(&self, metric: Metric) -> Result<&ComparedFigure, ComparisonError> {
        figure_of(&self.variants, &self.series, metric)
    }
}

/// That figure of the first series.
fn figure_of<'a>(
    variants: &[Variant],
    series: &'a [ComparedSeries],
    metric: Metric,
) -> Result<&'a ComparedFigure, ComparisonError> {
    series[0].figure(metric).ok_or_else(|| {
        let path = series[0].path.clone();
        let lacks = variants.iter().find(|variant| variant.sample(&path, metric).count() == 0);
        let label = lacks.map_or_else(String::new, |variant| variant.label.clone());
        let known = series[0].figures.iter().map(|figure| figure.metric.name().to_owned()).collect();
        ComparisonError::NoFigure { label, metric, path, known }
    })
}

/// The verdict's own probabilities are corrected for one another where there are several variants, and those of all others for all others.
fn conclude(series: &mut [ComparedSeries], config: &ComparisonConfig) {
    let (mut of_verdict, mut of_others) = (Vec::new(), Vec::new());
    for (place, series) in series.iter_mut().enumerate() {
        for figure in &mut series.figures {
            let is_verdict = place == 0 && figure.metric == config.metric;
            let family = if is_verdict { &mut of_verdict } else { &mut of_others };
            let estimated =
                figure.ratios.iter_mut().filter_map(|ratio| Some((ratio.estimate.ok()?.p_value, ratio)));
            family.extend(estimated.map(|(p_value, ratio)| (p_value, figure.metric, ratio)));
        }
    }
    let level = 1.0 - config.confidence;
    for family in [of_verdict, of_others] {
        let p_values: Vec<f64> = family.iter().map(|(p_value, ..)| *p_value).collect();
        for ((_, metric, ratio), p_value) in family.into_iter().zip(corrected(&p_values)) {
            ratio.conclusion = Conclusion::of(metric, &ratio.estimate, p_value, level);
            if ratio.conclusion != Conclusion::NotDistinguishable {
                ratio.runs_needed = None;
            }
        }
    }
}

impl ComparedSeries {
    /// Whether it is of whole operations of one kind: neither a step of them nor all kinds together.
    pub(crate) const fn is_operation(&self) -> bool {
        !self.is_step && !self.is_total
    }

    /// That figure of it; none that not all variants have.
    pub(crate) fn figure(&self, metric: Metric) -> Option<&ComparedFigure> {
        self.figures.iter().find(|figure| figure.metric == metric)
    }
}

impl ComparedFigure {
    fn of(metric: Metric, samples: Vec<Sample>, confidence: f64) -> Self {
        let ratios =
            samples[1..].iter().map(|sample| ComparedRatio::of(metric, &samples[0], sample, confidence));
        Self { metric, ratios: ratios.collect(), samples }
    }
}

impl ComparedRatio {
    fn of(metric: Metric, first: &Sample, sample: &Sample, confidence: f64) -> Self {
        // What is no further apart than it can be told is no difference, however little it varies.
        let means = sample.mean().zip(first.mean());
        let is_coarse = means.is_some_and(|(own, first_mean)| {
            (own - first_mean).abs() <= sample.resolution().max(first.resolution())
        });
        let estimate = RatioEstimate::of(first, sample, confidence)
            .map(|estimate| if is_coarse { RatioEstimate { p_value: 1.0, ..estimate } } else { estimate });
        let needed = runs_needed(first, sample, confidence).filter(|_| !is_coarse);
        let given = first.count().max(sample.count()).max(LEAST_RUNS) as u64;
        let mean = |sample: &Sample| sample.logarithms().and_then(|logarithms| logarithms.mean());
        let ratio = mean(sample).zip(mean(first)).map(|(own, first)| (own - first).exp());
        Self {
            ratio,
            conclusion: Conclusion::of(metric, &estimate, 1.0, 0.0),
            estimate,
            // Several variants are looked at more strictly, so that it may take more than that.
            runs_needed: needed.filter(|runs| *runs > given),
        }
    }
}

/// The series that all variants have, in the order in which they are met first, with the figures that all of them have.
fn shared(variants: &[Variant], confidence: f64) -> Vec<ComparedSeries> {
    let figure = |path: &str, metric| {
        let samples: Vec<Sample> = variants.iter().map(|variant| variant.sample(path, metric)).collect();
        let is_of_all = samples.iter().all(|sample| sample.count() > 0);
        is_of_all.then(|| ComparedFigure::of(metric, samples, confidence))
    };
    let mut all: Vec<ComparedSeries> = Vec::new();
    for series in variants[0].runs.iter().flat_map(|run| &run.series) {
        let is_known = all.iter().any(|known| known.path == series.path);
        if !is_known && variants.iter().all(|variant| variant.has(&series.path)) {
            let figures = Metric::ALL.into_iter().filter_map(|metric| figure(&series.path, metric));
            all.push(ComparedSeries {
                path: series.path.clone(),
                is_step: series.is_step,
                is_total: series.is_total,
                figures: figures.collect(),
            });
        }
    }
    all
}

/// Which series a variant has, for who has to find out why that is not those of another.
fn series_of(variant: &Variant) -> String {
    let mut paths: Vec<&str> =
        variant.runs.iter().flat_map(|run| &run.series).map(|series| series.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let paths = if paths.is_empty() { "none".to_owned() } else { paths.join(", ") };
    format!("{} has {paths}", variant.label)
}

/// That runs of hammer stand beside others, which never share a series.
fn other_tools(variants: &[Variant]) -> Option<String> {
    let is_hammer = |run: &MeasuredRun| run.tool == "hammer";
    let runs = || variants.iter().flat_map(|variant| &variant.runs);
    (runs().any(is_hammer) && !runs().all(is_hammer)).then(|| {
        "hammer and other tools measure other things, and are not compared with one another".to_owned()
    })
}

/// The place of the operations of which the first variant measured most.
fn most_measured(variants: &[Variant], series: &[ComparedSeries]) -> Option<usize> {
    let count = |path: &str| {
        variants[0]
            .runs
            .iter()
            .filter_map(|run| run.of_path(path))
            .fold(0, |all, series| u64::saturating_add(all, series.count))
    };
    let operations = series.iter().enumerate().filter(|(_, series)| series.is_operation());
    // Of several the first.
    operations.rev().max_by_key(|(_, series)| count(&series.path)).map(|(place, _)| place)
}
