//! Service levels: bounds that are stated, and that every run of a variant has to meet.

use std::str::FromStr;

use hammer_values::{Percent, Rate, TimeSpan, ValueError};
use serde::Serialize;

use crate::cell::{none, share, shown_of};
use crate::measured_run::MeasuredRun;
use crate::metric::{Metric, UnknownMetric};
use crate::number::optional;
use crate::page::Block;
use crate::variant::Variant;

/// A bound on a figure of each run: `p95 < 100ms`, `rate > 900/s`, `success > 99.9%`.
#[derive(Clone, Debug, PartialEq)]
pub struct SlaBound {
    text: String,
    measure: SlaMeasure,
    is_least: bool,
    /// Whether the bound itself meets it.
    holds_at: bool,
    bound: f64,
}

/// What a bound is on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SlaMeasure {
    Figure(Metric),
    /// The share of what was offered that was accepted.
    Success,
}

/// Text that is no bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SlaError {
    /// It has no `<` or `>`.
    #[error(
        "read the service level `{0}`: it has the form `p95 < 100ms`, `rate > 900/s` or `success > 99.9%`"
    )]
    Form(String),
    /// Its figure is none.
    #[error(
        "read the service level `{text}`: {found} is none of success, rate, mean, p50, p75, p90, p95, p99, p99.9 and max"
    )]
    Figure {
        /// The bound.
        text: String,
        /// What stands for a figure.
        found: String,
    },
    /// Its value is none of its figure.
    #[error("read the service level `{text}`: {source}")]
    Value {
        /// The bound.
        text: String,
        /// Why.
        source: ValueError,
    },
}

/// A bound with what came of it in each variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldSla {
    /// The bound as it was written.
    pub bound: String,
    /// By variants.
    pub variants: Vec<MetSla>,
    #[serde(skip)]
    measure: SlaMeasure,
}

/// Whether a variant meets a bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetSla {
    /// The variant.
    pub label: String,
    /// Whether each of its runs does: one of which nothing is known does not.
    pub is_met: bool,
    /// The worst figure of its runs, in nanoseconds, by the second or in parts of 1.
    #[serde(with = "optional")]
    pub worst: Option<f64>,
    /// Its run, from 1 on.
    pub worst_run: Option<usize>,
}

impl FromStr for SlaBound {
    type Err = SlaError;

    fn from_str(text: &str) -> Result<Self, SlaError> {
        let text = text.trim();
        let form = || SlaError::Form(text.to_owned());
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (named, rest) = (text[..at].trim(), &text[at + 1..]);
        let (holds_at, value) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        let value = value.trim();
        if named.is_empty() || value.is_empty() {
            return Err(form());
        }
        let wrong = |source| SlaError::Value { text: text.to_owned(), source };
        let measure = match named {
            "success" => SlaMeasure::Success,
            named => SlaMeasure::Figure(
                named
                    .parse()
                    .map_err(|UnknownMetric(found)| SlaError::Figure { text: text.to_owned(), found })?,
            ),
        };
        let bound = match measure {
            SlaMeasure::Success => {
                value.parse::<Percent>().map(|percent| percent.of_100() / 100.0).map_err(wrong)?
            }
            SlaMeasure::Figure(Metric::Rate) => value.parse::<Rate>().map(Rate::per_second).map_err(wrong)?,
            SlaMeasure::Figure(_) => value.parse::<TimeSpan>().map_err(wrong)?.duration().as_secs_f64() * 1e9,
        };
        let is_least = &text[at..=at] == ">";
        Ok(Self { text: text.to_owned(), measure, is_least, holds_at, bound })
    }
}

impl SlaBound {
    /// What comes of it in the series of that path.
    pub(crate) fn held(&self, variants: &[Variant], path: &str) -> HeldSla {
        let variants = variants.iter().map(|variant| self.met(variant, path)).collect();
        HeldSla { bound: self.text.clone(), variants, measure: self.measure }
    }

    fn met(&self, variant: &Variant, path: &str) -> MetSla {
        let figures: Vec<Option<f64>> = variant.runs.iter().map(|run| self.measure.of(run, path)).collect();
        let known = figures.iter().enumerate().filter_map(|(run, figure)| Some((run + 1, (*figure)?)));
        let worst = known.reduce(|worst, other| {
            let is_worse = if self.is_least { other.1 < worst.1 } else { other.1 > worst.1 };
            if is_worse { other } else { worst }
        });
        let all_are_known = figures.iter().all(Option::is_some);
        MetSla {
            label: variant.label.clone(),
            is_met: all_are_known && worst.is_some_and(|(_, figure)| self.is_met(figure)),
            worst: worst.map(|(_, figure)| figure),
            worst_run: worst.map(|(run, _)| run),
        }
    }

    fn is_met(&self, figure: f64) -> bool {
        let is_within = if self.is_least { figure > self.bound } else { figure < self.bound };
        is_within || (self.holds_at && figure == self.bound)
    }
}

impl SlaMeasure {
    fn of(self, run: &MeasuredRun, path: &str) -> Option<f64> {
        let series = run.of_path(path)?;
        match self {
            Self::Figure(metric) => series.figures.get(&metric).copied(),
            Self::Success => series.success(),
        }
    }

    fn shown(self, figure: f64) -> String {
        match self {
            Self::Figure(metric) => shown_of(metric, figure),
            Self::Success => share(figure),
        }
    }
}

impl HeldSla {
    /// All of them as a table, a row a bound; nothing where none is stated.
    pub(crate) fn blocks(all: &[Self], path: &str) -> Vec<Block> {
        let Some(first) = all.first() else { return Vec::new() };
        let mut header = vec![String::new()];
        header.extend(first.variants.iter().map(|met| met.label.clone()));
        let row = |held: &Self| {
            let cells = held.variants.iter().map(|met| held.cell(met));
            std::iter::once(held.bound.clone()).chain(cells).collect()
        };
        let heading = Block::Heading(format!("service levels of {path}, by the worst run"));
        vec![heading, Block::Table { header, rows: all.iter().map(row).collect() }]
    }

    fn cell(&self, met: &MetSla) -> String {
        let worst = met.worst.zip(met.worst_run);
        let worst =
            worst.map_or_else(none, |(figure, run)| format!("{} in run {run}", self.measure.shown(figure)));
        format!("{}: {worst}", if met.is_met { "met" } else { "NOT MET" })
    }

    /// The variants but the first that do not meet it.
    pub fn unmet(&self) -> impl Iterator<Item = &MetSla> {
        self.variants.iter().skip(1).filter(|met| !met.is_met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_level_reads_as_it_is_written() {
        let level: SlaBound = " p95 < 100ms ".parse().unwrap();
        assert_eq!((level.measure, level.bound), (SlaMeasure::Figure(Metric::P95), 1e8));
        assert!(level.is_met(9.9e7) && !level.is_met(1e8) && !level.is_met(f64::INFINITY));
        let level: SlaBound = "rate>=900/s".parse().unwrap();
        assert!(level.is_met(900.0) && !level.is_met(899.9));
        let level: SlaBound = "success > 99.9%".parse().unwrap();
        assert!(level.is_met(0.9996) && !level.is_met(0.999));
        for (wrong, told) in [
            ("p95", "it has the form"),
            ("< 1s", "it has the form"),
            ("p42 < 1s", "p42 is none of success, rate"),
            ("p95 < 100", "time (like 250ms"),
            ("rate > 900", "rate (like 500/s"),
            ("success > all", "percentage"),
        ] {
            let why = wrong.parse::<SlaBound>().unwrap_err().to_string();
            assert!(why.contains(told) && why.contains(wrong), "{why}");
        }
    }
}
