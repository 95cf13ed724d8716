//! Service levels: bounds that are stated, and that every run of a variant has to meet.

use std::cmp::Ordering;
use std::str::FromStr;

use hammer_values::{Percent, Rate, TimeSpan, ValueError};
use serde::Serialize;

use crate::cell::{none, share, shown_of};
use crate::measured_run::{MeasuredRun, MeasuredSeries};
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
    /// A second's rate, nanoseconds, or of a share billionths of a percent: whole numbers, so that what is exactly there is told from what is beside it.
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
    /// Its value is a share that may be meant in parts of 1 or of 100.
    #[error("read the service level `{0}`: a share is a percentage, and has its sign: `success > 99.9%`")]
    NoPercentSign(String),
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
    /// Whether the comparison fails where a variant but the first does not meet it.
    pub decides: bool,
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
    /// The worst figure of its runs, in nanoseconds, by the second or in parts of 1; none where nothing is known of one.
    #[serde(with = "optional")]
    pub worst: Option<f64>,
    /// Its run, from 1 on: the first of which nothing is known, where something is of others.
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
                let percent = value.parse::<Percent>().map_err(wrong)?;
                if !value.ends_with('%') {
                    return Err(SlaError::NoPercentSign(text.to_owned()));
                }
                (percent.of_100() * PARTS_OF_PERCENT).round()
            }
            SlaMeasure::Figure(Metric::Rate) => value.parse::<Rate>().map(Rate::per_second).map_err(wrong)?,
            SlaMeasure::Figure(_) => value.parse::<TimeSpan>().map_err(wrong)?.duration().as_nanos() as f64,
        };
        let is_least = &text[at..=at] == ">";
        Ok(Self { text: text.to_owned(), measure, is_least, holds_at, bound })
    }
}

impl SlaBound {
    /// What comes of it in the series of that path.
    pub(crate) fn held(&self, variants: &[Variant], path: &str, decides: bool) -> HeldSla {
        let variants = variants.iter().map(|variant| self.met(variant, path)).collect();
        HeldSla { bound: self.text.clone(), decides, variants, measure: self.measure }
    }

    fn met(&self, variant: &Variant, path: &str) -> MetSla {
        let figures: Vec<Option<f64>> = variant.runs.iter().map(|run| self.measure.of(run, path)).collect();
        let known = figures.iter().enumerate().filter_map(|(run, figure)| Some((run + 1, (*figure)?)));
        let worst = known.reduce(|worst, other| {
            let is_worse = if self.is_least { other.1 < worst.1 } else { other.1 > worst.1 };
            if is_worse { other } else { worst }
        });
        // Beside others that are known, one that is not is worse than they are.
        let unknown = figures.iter().position(Option::is_none).filter(|_| worst.is_some());
        MetSla {
            label: variant.label.clone(),
            is_met: variant.runs.iter().all(|run| run.of_path(path).is_some_and(|own| self.is_met_by(own))),
            worst: worst.filter(|_| unknown.is_none()).map(|(_, figure)| figure),
            worst_run: unknown.map(|run| run + 1).or(worst.map(|(run, _)| run)),
        }
    }

    fn is_met_by(&self, series: &MeasuredSeries) -> bool {
        let order = match self.measure {
            SlaMeasure::Figure(Metric::Rate) => {
                series.figures.get(&Metric::Rate).and_then(|rate| rate.partial_cmp(&self.bound))
            }
            // Arithmetic on another tool's milliseconds leaves parts of a nanosecond.
            SlaMeasure::Figure(metric) => {
                series.figures.get(&metric).and_then(|time| time.round().partial_cmp(&self.bound))
            }
            SlaMeasure::Success => (series.offered > 0).then(|| {
                let accepted = u128::from(series.accepted) * (100.0 * PARTS_OF_PERCENT) as u128;
                accepted.cmp(&(u128::from(series.offered) * self.bound as u128))
            }),
        };
        match order {
            Some(Ordering::Equal) => self.holds_at,
            Some(order) => (order == Ordering::Greater) == self.is_least,
            None => false,
        }
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
    /// All of them as a table, a row a bound, with those by which the comparison fails below it; nothing where none is stated.
    pub(crate) fn blocks(all: &[Self], path: &str) -> Vec<Block> {
        let Some(first) = all.first() else { return Vec::new() };
        let mut header = vec![String::new()];
        header.extend(first.variants.iter().map(|met| met.label.clone()));
        let row = |held: &Self| {
            let cells = held.variants.iter().map(|met| held.cell(met));
            std::iter::once(held.bound.clone()).chain(cells).collect()
        };
        let heading = Block::Heading(format!("service levels of {path}, by the worst run"));
        let mut blocks = vec![heading, Block::Table { header, rows: all.iter().map(row).collect() }];
        let failed: Vec<String> = all.iter().filter(|held| held.fails()).map(Self::failure).collect();
        if !failed.is_empty() {
            blocks.push(Block::List(failed));
        }
        blocks
    }

    fn cell(&self, met: &MetSla) -> String {
        let figure = met.worst.map_or_else(none, |figure| self.measure.shown(figure));
        let worst = met.worst_run.map_or_else(none, |run| format!("{figure} in run {run}"));
        format!("{}: {worst}", if met.is_met { "met" } else { "NOT MET" })
    }

    fn failure(&self) -> String {
        let labels: Vec<&str> = self.unmet().map(|met| met.label.as_str()).collect();
        format!("failed: {} of {}", self.bound, labels.join(", "))
    }

    /// Whether it fails the comparison: it is one that decides, and a variant but the first does not meet it.
    pub fn fails(&self) -> bool {
        self.decides && self.unmet().next().is_some()
    }

    /// The variants but the first that do not meet it.
    pub fn unmet(&self) -> impl Iterator<Item = &MetSla> {
        self.variants.iter().skip(1).filter(|met| !met.is_met)
    }
}

/// Billionths.
const PARTS_OF_PERCENT: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with a time and a rate, of which so many of so many were accepted.
    fn series(accepted: u64, offered: u64, figures: &[(Metric, f64)]) -> MeasuredSeries {
        MeasuredSeries {
            accepted,
            offered,
            figures: figures.iter().copied().collect(),
            ..MeasuredSeries::default()
        }
    }

    fn is_met(level: &str, series: &MeasuredSeries) -> bool {
        level.parse::<SlaBound>().unwrap().is_met_by(series)
    }

    #[test]
    fn a_service_level_reads_as_it_is_written() {
        let level: SlaBound = " p95 < 100ms ".parse().unwrap();
        assert_eq!((level.measure, level.bound), (SlaMeasure::Figure(Metric::P95), 1e8));
        let met = |nanos: f64| level.is_met_by(&series(1, 1, &[(Metric::P95, nanos)]));
        assert!(met(9.9e7) && !met(1e8) && !met(f64::INFINITY) && !met(f64::NAN));
        let met = |rate: f64| is_met("rate>=900/s", &series(1, 1, &[(Metric::Rate, rate)]));
        assert!(met(900.0) && !met(899.9));
        for (wrong, told) in [
            ("p95", "it has the form"),
            ("< 1s", "it has the form"),
            ("p42 < 1s", "p42 is none of success, rate"),
            ("p95 < 100", "time (like 250ms"),
            ("rate > 900", "rate (like 500/s"),
            ("success > all", "percentage"),
            ("success > 0.999", "a share is a percentage, and has its sign"),
            ("success > 99.9", "a share is a percentage, and has its sign"),
        ] {
            let why = wrong.parse::<SlaBound>().unwrap_err().to_string();
            assert!(why.contains(told) && why.contains(wrong), "{why}");
        }
    }

    /// No bound in decimals is one in the halves of a float.
    #[test]
    fn what_is_exactly_the_bound_meets_one_that_it_is_in_and_no_other() {
        for (thousandths, percent) in
            [(999, "99.9"), (998, "99.8"), (997, "99.7"), (1, "0.1"), (7, "0.7"), (290, "29 ")]
        {
            for scale in [1, 3, 1_000_003] {
                let at = |accepted: u64| series(accepted, 1_000 * scale, &[]);
                let exact = thousandths * scale;
                for (sign, expected) in [(">=", [false, true, true]), (">", [false, false, true])] {
                    let level = format!("success {sign} {percent}%");
                    let met = [exact - 1, exact, exact + 1].map(|accepted| is_met(&level, &at(accepted)));
                    assert_eq!(met, expected, "{level} of {exact} in {}", 1_000 * scale);
                }
            }
        }
        for ms in [1, 3, 67, 70, 131, 257, 4_097] {
            let time = |nanos: f64| series(1, 1, &[(Metric::P95, nanos)]);
            // As seconds of hey and milliseconds of k6 become nanoseconds.
            for nanos in [f64::from(ms) * 1e6, f64::from(ms) / 1e3 * 1e9] {
                assert!(!is_met(&format!("p95 < {ms}ms"), &time(nanos)), "{nanos}");
                assert!(is_met(&format!("p95 <= {ms}ms"), &time(nanos)), "{nanos}");
            }
        }
        assert!(!is_met("success > 50%", &series(0, 0, &[])), "nothing was offered");
    }
}
