//! Sweeps side by side as they are printed.

use std::collections::BTreeMap;

use hammer_report::text::number::plural;

use crate::bound::FoundBound;
use crate::cell::{mean, none, shown, significant, times};
use crate::comparison::{ComparedRatio, ComparedSeries};
use crate::conclusion::Conclusion;
use crate::metric::Metric;
use crate::page::{Block, Page};
use crate::sla::HeldSla;
use crate::sweep::{SweepComparison, SweptPoint};
use crate::variant::Variant;

impl SweepComparison {
    /// The page of it: what is concluded at how many points, the greatest rates, what speaks against it, bounds that do not hold, service levels, and a table for each
    /// series, whose rows are the points.
    pub fn page(&self, found: &[FoundBound]) -> Page {
        let mut blocks = vec![Block::Heading(self.title()), Block::List(self.verdicts())];
        let warnings = self.warnings();
        if !warnings.is_empty() {
            blocks.extend([Block::Heading("beware".to_owned()), Block::List(warnings)]);
        }
        blocks.extend(FoundBound::blocks(found));
        for point in &self.points {
            let comparison = &point.comparison;
            blocks.extend(HeldSla::blocks(
                &comparison.sla,
                &format!("{} at {}", comparison.series[0].path, point.place),
            ));
        }
        blocks.extend(self.paths().into_iter().flat_map(|path| self.table(path)));
        blocks.push(Block::List(self.notes()));
        blocks.extend([Block::Heading("the generator itself".to_owned()), Block::List(self.generators())]);
        Page { blocks }
    }

    fn title(&self) -> String {
        let keys: Vec<&str> = self.keys().map(String::as_str).collect();
        let points = plural(self.points.len() as u64, "point");
        format!(
            "{} beside {} at {points} of {}",
            self.labels[1..].join(", "),
            self.labels[0],
            keys.join(", ")
        )
    }

    /// For each series that the verdict goes by at some point.
    fn verdicts(&self) -> Vec<String> {
        let points = |path: &str| -> Vec<&SweptPoint> {
            self.points.iter().filter(|point| point.comparison.series[0].path == path).collect()
        };
        self.verdict_paths().into_iter().flat_map(|path| self.verdicts_of(path, &points(path))).collect()
    }

    fn verdicts_of(&self, path: &str, points: &[&SweptPoint]) -> Vec<String> {
        let metric = points[0].comparison.verdict.metric;
        let mut all: Vec<String> = (1..self.labels.len())
            .map(|variant| {
                let ratio = |point: &&SweptPoint| point.comparison.verdict.ratios[variant - 1].clone();
                let ratios: Vec<ComparedRatio> = points.iter().map(ratio).collect();
                format!("{metric} of {path}: {} is {}", self.labels[variant], concluded(&ratios))
            })
            .collect();
        all.extend(self.greatest(path, points));
        all
    }

    /// The greatest rate of each variant, and where it has it; among the points that not all have as well.
    fn greatest(&self, path: &str, points: &[&SweptPoint]) -> Option<String> {
        let greatest = |variant: usize| {
            let of_point = |point: &&SweptPoint| {
                let figure = point.comparison.figure(Metric::Rate).ok()?;
                Some((figure.samples[variant].mean()?, point.place.clone()))
            };
            let of_lone = |(place, own): &(String, Variant)| {
                let alone = format!("{place}, where not all were measured");
                Some((own.sample(path, Metric::Rate).mean()?, alone))
            };
            let shared = points.iter().filter_map(of_point);
            let rates = shared.chain(self.lone_points[variant].iter().filter_map(of_lone));
            rates.reduce(|most, other| if other.0 > most.0 { other } else { most })
        };
        let first = greatest(0)?;
        let told = (0..self.labels.len()).map(|variant| {
            let (rate, at) = greatest(variant)?;
            let ratio = if variant == 0 { String::new() } else { format!(" ({})", times(rate / first.0)) };
            Some(format!("{} {} at {at}{ratio}", self.labels[variant], Metric::Rate.shown(rate)))
        });
        Some(format!("greatest rate of {path}: {}", told.collect::<Option<Vec<_>>>()?.join("; ")))
    }

    /// The series of all points, in the order in which they are met.
    fn paths(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for series in self.points.iter().flat_map(|point| &point.comparison.series) {
            if !all.contains(&series.path.as_str()) {
                all.push(&series.path);
            }
        }
        all
    }

    /// What speaks against comparing, with the points at which it does unless those are all.
    fn warnings(&self) -> Vec<String> {
        let mut at: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut order = Vec::new();
        for point in &self.points {
            for warning in &point.comparison.warnings {
                if !at.contains_key(warning.as_str()) {
                    order.push(warning.as_str());
                }
                at.entry(warning).or_default().push(&point.place);
            }
        }
        let all = self.points.len();
        let told = order.into_iter().map(|warning| match &at[warning] {
            points if points.len() == all => warning.to_owned(),
            points => format!("at {}: {warning}", points.join("; ")),
        });
        self.lone.iter().cloned().chain(told).collect()
    }

    /// A row for each point that has the series: for each variant rate, percentiles and failures.
    fn table(&self, path: &str) -> [Block; 2] {
        let keys: Vec<&str> = self.keys().map(String::as_str).collect();
        let mut header = vec![keys.join(", ")];
        for (variant, label) in self.labels.iter().enumerate() {
            header.extend(SHOWN.map(|metric| format!("{metric} {label}")));
            header.push(format!("failures/s {label}"));
            if variant > 0 {
                header.extend(SHOWN.map(|metric| format!("{metric} ratio")));
                header.push("failures ratio".to_owned());
            }
        }
        let rows = self.points.iter().filter_map(|point| {
            let series = point.comparison.series.iter().find(|series| series.path == path)?;
            let cells = (0..self.labels.len()).flat_map(|variant| cells(point, series, variant));
            Some(std::iter::once(point.name.clone()).chain(cells).collect())
        });
        let table = Block::Table { header, rows: rows.collect() };
        [Block::Heading(path.to_owned()), table]
    }

    /// How many runs of each variant were healthy, and where others were not.
    fn generators(&self) -> Vec<String> {
        let of_variant = |variant: usize| {
            let (mut runs, mut unhealthy, mut places) = (0_u64, 0_u64, Vec::new());
            for point in &self.points {
                let own = point.comparison.variants[variant].runs.iter();
                let own: Vec<bool> = own.filter_map(|run| Some(run.generator.as_ref()?.healthy)).collect();
                let failed = own.iter().filter(|is_healthy| !**is_healthy).count() as u64;
                (runs, unhealthy) = (runs + own.len() as u64, unhealthy + failed);
                places.extend((failed > 0).then_some(point.place.as_str()));
            }
            let label = &self.labels[variant];
            match unhealthy {
                0 => format!("{label}: {} of hammer, all healthy", plural(runs, "run")),
                _ => format!(
                    "{label}: {} of hammer, of which {unhealthy} are not healthy, at {}",
                    plural(runs, "run"),
                    places.join("; ")
                ),
            }
        };
        (0..self.labels.len()).map(of_variant).collect()
    }

    fn notes(&self) -> Vec<String> {
        vec![
            format!(
                "a figure is the mean of a point's rounds; a ratio is to {} at the same point, of geometric means, that of failures of means",
                self.labels[0]
            ),
            "each point is concluded from by itself: of many points some differ by chance".to_owned(),
            "a summary has nothing of its plan but what was swept: whether all else is the same is not known here".to_owned(),
        ]
    }
}

/// A variant's figures at a point, and but for the first what they are beside the first one's.
fn cells(point: &SweptPoint, series: &ComparedSeries, variant: usize) -> Vec<String> {
    let figures = SHOWN.map(|metric| series.figure(metric));
    let mut cells: Vec<String> = figures
        .iter()
        .map(|figure| figure.map_or_else(none, |figure| mean(figure.metric, &figure.samples[variant])))
        .collect();
    let failed = |variant: usize| point.comparison.variants[variant].failed_per_s(&series.path);
    cells.push(failed(variant).map_or_else(none, significant));
    if let Some(other) = variant.checked_sub(1) {
        let ratio = |ratio: Option<f64>| ratio.filter(|ratio| ratio.is_finite()).map_or_else(none, times);
        cells
            .extend(figures.iter().map(|figure| ratio(figure.and_then(|figure| figure.ratios[other].ratio))));
        cells.push(ratio(failed(variant).zip(failed(0)).map(|(own, first)| own / first)));
    }
    cells
}

/// What is concluded at how many points, and by which ratios.
fn concluded(ratios: &[ComparedRatio]) -> String {
    let mut counts: Vec<(Conclusion, usize)> = Vec::new();
    for ratio in ratios {
        match counts.iter_mut().find(|(known, _)| *known == ratio.conclusion) {
            Some((_, count)) => *count += 1,
            None => counts.push((ratio.conclusion, 1)),
        }
    }
    let told = counts.iter().map(|(conclusion, count)| {
        let what = match conclusion {
            Conclusion::TooFew => "of too few rounds to tell",
            Conclusion::NoRatio => "without a ratio",
            told => told.name(),
        };
        format!("{what} at {count} of {}", ratios.len())
    });
    let known = || ratios.iter().filter_map(|ratio| ratio.ratio);
    let ends = known().reduce(f64::min).zip(known().reduce(f64::max));
    let ends = ends.map_or_else(String::new, |(least, greatest)| match [least, greatest].map(shown) {
        [least, greatest] if least == greatest => format!(" ({least} times)"),
        [least, greatest] => format!(" ({least} to {greatest} times)"),
    });
    format!("{}{ends}", told.collect::<Vec<_>>().join(", "))
}

const SHOWN: [Metric; 3] = [Metric::Rate, Metric::P50, Metric::P95];
