//! Arguments of `hammer compare`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use hammer_compare::{Bound, BoundError, Metric, SlaBound};

/// Variants, each by its runs.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The runs of the first variant: reports of hammer (--out), the summary of rounds or of a sweep, or what hey (as text or CSV), oha (as JSON), k6 (--summary-export), wrk or wrk2 printed
    #[arg(required_unless_present_any = ["run", "claims"], conflicts_with_all = ["run", "rounds", "keep", "same_seed"], value_name = "RUN")]
    pub(crate) first: Vec<PathBuf>,
    /// Those of the second, and behind each further -- those of one more: A1 A2 A3 -- B1 B2 B3 -- C1 C2 C3
    #[arg(last = true, conflicts_with = "run", value_name = "RUN")]
    pub(crate) others: Vec<PathBuf>,
    /// Carry these plans out by turns, each a variant, and compare what comes of it
    #[arg(long, value_name = "PLAN", num_args = 2..)]
    pub(crate) run: Vec<PathBuf>,
    /// How often each is carried out
    #[arg(long, default_value_t = 5, requires = "run", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Carry out all rounds by the seeds of the plan: for a service that knows what follows from them (roots, devices, keys). By default round N has each of them
    /// plus N - 1, so that no two rounds draw the same
    #[arg(long, requires = "run")]
    pub(crate) same_seed: bool,
    /// Keep their reports in this folder (A-1.json and so on), which is made or is empty
    #[arg(long, value_name = "DIR", requires = "run")]
    pub(crate) keep: Option<PathBuf>,
    /// What a variant is called, the first one first; again for each further one. By default A, B and so on
    #[arg(long = "label", value_name = "NAME", value_parser = label)]
    pub(crate) labels: Vec<String>,
    /// The one figure that the verdict goes by: rate, mean, p50, p75, p90, p95, p99, p99.9 or max
    #[arg(long, default_value = "p99", value_name = "FIGURE")]
    pub(crate) metric: Metric,
    /// The series that it goes by (WORKLOAD/NAME); by default the operations of which most were measured
    #[arg(long, value_name = "SERIES")]
    pub(crate) series: Option<String>,
    /// How sure intervals and conclusions are
    #[arg(long, default_value = "95%", value_name = "PERCENT", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// Exit with 1 where a variant is beyond that bound in the verdict's series, and can be told from the first or has too few runs to
    /// be ("p99 > 1.1x", "rate < 0.9x"), or with `sla` where one but the first does not meet what --sla states; again for each further one
    #[arg(long, value_name = "BOUND")]
    pub(crate) fail_if: Vec<FailIf>,
    /// A service level that each run should meet ("p95 < 100ms", "rate > 900/s", "success > 99.9%"); again for each further one
    #[arg(long, value_name = "BOUND")]
    pub(crate) sla: Vec<SlaBound>,
    /// CPU and memory of a variant's components, in place of what its reports say (CSV: component, phase, cpu_cores, memory_bytes and, if need be, limit_cores);
    /// again for each further variant
    #[arg(long, value_name = "LABEL=FILE", value_parser = component_file, conflicts_with = "run")]
    pub(crate) components: Vec<ComponentFile>,
    /// The variants are parts of a chain, the innermost first, each with one link more; one summary of a sweep over the links will do
    #[arg(long, conflicts_with = "claims")]
    pub(crate) hops: bool,
    /// The variant that is the whole of the chain as it was measured by itself, so that what no link accounts for is told
    #[arg(long, value_name = "LABEL", requires = "hops")]
    pub(crate) total: Option<String>,
    /// Compare all variants with the one that this file keeps; keep the first one in it where there is no such file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["claims", "hops"])]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the comparison as one page of HTML with charts as well, which needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Compute the numbers again that are said in this file (YAML: a list of name, a, b, said), and exit with 1 where one does not hold
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub(crate) claims: Option<PathBuf>,
    /// The form of what is printed
    #[arg(long = "as", value_enum, default_value_t = ComparisonForm::Text, value_name = "FORM")]
    pub(crate) form: ComparisonForm,
}

/// What a comparison is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonForm {
    /// For a terminal
    Text,
    /// As Markdown
    Markdown,
    /// All figures as JSON
    Json,
}

/// What a comparison fails by.
#[derive(Clone, Debug)]
pub(crate) enum FailIf {
    /// A bound on a ratio.
    Beyond(Bound),
    /// A service level that is not met.
    Sla,
}

impl FromStr for FailIf {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        if text.trim() == "sla" { Ok(Self::Sla) } else { text.parse().map(Self::Beyond) }
    }
}

/// The components of a variant.
#[derive(Clone, Debug)]
pub(crate) struct ComponentFile {
    pub(crate) label: String,
    pub(crate) path: PathBuf,
}

fn component_file(text: &str) -> Result<ComponentFile, String> {
    let parts = text.split_once('=').filter(|(label, path)| !label.is_empty() && !path.is_empty());
    let (label, path) = parts.ok_or_else(|| "expected LABEL=FILE, the label being a variant's".to_owned())?;
    Ok(ComponentFile { label: label.to_owned(), path: path.into() })
}

/// A name that stands in a table.
fn label(text: &str) -> Result<String, String> {
    let is_short = (1..=MOST_OF_LABEL).contains(&text.chars().count());
    if is_short && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("expected 1 to {MOST_OF_LABEL} letters on one line"))
    }
}

const MOST_OF_LABEL: usize = 40;

/// `95%` or `95`, as a part of 1.
fn confidence(text: &str) -> Result<f64, String> {
    let percent = text.trim_end().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let is_one = |percent: &f64| (50.0..=99.99).contains(percent);
    percent
        .filter(is_one)
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "expected a percentage from 50% to 99.99%".to_owned())
}
