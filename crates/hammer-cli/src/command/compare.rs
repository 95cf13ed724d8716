//! `hammer compare`: runs of variants side by side.

use std::path::{Path, PathBuf};
use std::{fs, io};

use hammer_compare::{Comparison, ComparisonConfig, MeasuredRun, Variant};
use hammer_report::{ExitCode, ReasonKind};

use crate::args::{CompareArgs, ComparisonForm};
use crate::error::{CliError, UsageError};
use crate::output::print;

/// Compares each variant with the first, and prints what comes of it; ends with 1 where a bound does not hold.
pub(crate) fn show(args: &CompareArgs) -> Result<ExitCode, CliError> {
    let config =
        ComparisonConfig { confidence: args.confidence, metric: args.metric, series: args.series.clone() };
    let comparison = Comparison::of(variants(args)?, config).map_err(UsageError::from)?;
    let found = args.fail_if.iter().map(|bound| bound.found(&comparison)).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(UsageError::from)?.concat();
    let page = comparison.page(&found);
    let text = match args.form {
        ComparisonForm::Text => page.text(),
        ComparisonForm::Markdown => page.markdown(),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(if found.is_empty() { ExitCode::Clean } else { ExitCode::Because(ReasonKind::ThresholdFailed) })
}

/// The variants with their runs, which `--` parts.
fn variants(args: &CompareArgs) -> Result<Vec<Variant>, UsageError> {
    let others = args.others.split(|path| path.as_os_str() == "--");
    let all: Vec<&[PathBuf]> = std::iter::once(args.first.as_slice()).chain(others).collect();
    if args.labels.len() > all.len() {
        return Err(UsageError::Labels { labels: args.labels.len(), variants: all.len() });
    }
    let is_twice = |(place, label): (usize, &String)| args.labels[..place].contains(label);
    if let Some((_, label)) = args.labels.iter().enumerate().find(|(place, label)| is_twice((*place, label)))
    {
        return Err(UsageError::LabelTwice(label.clone()));
    }
    let label = |place: usize| args.labels.get(place).cloned().unwrap_or_else(|| letter(place));
    all.into_iter()
        .enumerate()
        .map(|(place, paths)| {
            let runs = paths.iter().map(|path| run(path)).collect::<Result<_, _>>()?;
            Ok(Variant { label: label(place), runs })
        })
        .collect()
}

fn run(path: &Path) -> Result<MeasuredRun, UsageError> {
    if path.as_os_str() == "-" {
        return Err(UsageError::FromStandardInput);
    }
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return Err(UsageError::BehindRuns(path.display().to_string()));
    }
    let text =
        fs::read_to_string(path).map_err(|source| UsageError::File { path: path.to_owned(), source })?;
    MeasuredRun::read(&text).map_err(|source| UsageError::MeasuredRun { path: path.to_owned(), source })
}

/// A, B and so on; behind Z numbers.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}
