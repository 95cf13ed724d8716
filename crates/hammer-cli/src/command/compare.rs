//! `hammer compare`: runs of variants side by side.

mod rounds;

use std::path::{Path, PathBuf};
use std::{fs, io};

use hammer_compare::{CheckedClaim, Claim, Comparison, ComparisonConfig, FoundBound, MeasuredRun, Variant};
use hammer_report::{ExitCode, ReasonKind};

use super::report::summary;
use crate::args::{CompareArgs, ComparisonForm};
use crate::error::{CliError, UsageError};
use crate::output::{PageFile, numbered, print};
use crate::protocol::registry::Registry;
use rounds::Rounds;

/// Compares each variant with the first, and prints what comes of it; ends with 1 where a bound does not hold.
pub(crate) fn show(args: &CompareArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    // Ahead of runs that may take hours.
    let read = args.first.iter().chain(&args.others).chain(&args.run);
    let html = args.html.as_ref().map(|path| PageFile::open(path, read)).transpose()?;
    let claims = args.claims.as_deref().map(claims).transpose()?;
    if let Some(claims) = &claims
        && args.first.is_empty()
    {
        return tell_claims(args, claims, &[]);
    }
    if args.run.is_empty() {
        let others = args.others.split(|path| path.as_os_str() == "--");
        let all: Vec<&[PathBuf]> = std::iter::once(args.first.as_slice()).chain(others).collect();
        let compared = compared(args, &all)?;
        let code = tell(args, &compared, html)?;
        return match &claims {
            Some(claims) => {
                print(io::stdout(), |out| writeln!(out))?;
                let of_claims = tell_claims(args, claims, &compared.0.variants)?;
                Ok(if code == ExitCode::Clean { of_claims } else { code })
            }
            None => Ok(code),
        };
    }
    check_labels(&args.labels, args.run.len())?;
    let rounds = Rounds::carried_out(args, registry)?;
    match compared(args, &rounds.reports.iter().map(Vec::as_slice).collect::<Vec<_>>()) {
        Ok(compared) => tell(args, &compared, html),
        Err(why) => Err(rounds.kept(why).into()),
    }
}

/// The comparison of variants by the files of their runs, and the bounds that do not hold.
fn compared(args: &CompareArgs, all: &[&[PathBuf]]) -> Result<(Comparison, Vec<FoundBound>), UsageError> {
    let config =
        ComparisonConfig { confidence: args.confidence, metric: args.metric, series: args.series.clone() };
    let comparison = Comparison::of(variants(&args.labels, all)?, config)?;
    let found = args.fail_if.iter().map(|bound| bound.found(&comparison)).collect::<Result<Vec<_>, _>>()?;
    Ok((comparison, found.concat()))
}

/// What is said in a file.
fn claims(path: &Path) -> Result<Vec<Claim>, UsageError> {
    let text =
        fs::read_to_string(path).map_err(|source| UsageError::File { path: path.to_owned(), source })?;
    let refused = |error: serde_saphyr::Error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        let why = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        UsageError::Claims { path: path.to_owned(), why }
    };
    serde_saphyr::from_str(&text).map_err(refused)
}

/// Prints what comes of them; ends with 1 where one does not hold.
fn tell_claims(args: &CompareArgs, claims: &[Claim], variants: &[Variant]) -> Result<ExitCode, CliError> {
    let series = args.series.as_deref();
    let checked = claims.iter().map(|claim| claim.checked(variants, series));
    let checked = checked.collect::<Result<Vec<_>, _>>().map_err(UsageError::from)?;
    let page = CheckedClaim::page(&checked);
    let text = match args.form {
        ComparisonForm::Text => page.text(),
        ComparisonForm::Markdown => page.markdown(),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    let all_hold = checked.iter().all(|claim| claim.holds);
    Ok(if all_hold { ExitCode::Clean } else { ExitCode::Because(ReasonKind::ThresholdFailed) })
}

fn tell(
    args: &CompareArgs,
    (comparison, found): &(Comparison, Vec<FoundBound>),
    html: Option<PageFile>,
) -> Result<ExitCode, CliError> {
    html.map_or(Ok(()), |file| file.write(hammer_html::comparison_document(comparison, found)))?;
    let page = comparison.page(found);
    let text = match args.form {
        ComparisonForm::Text => page.text(),
        ComparisonForm::Markdown => page.markdown(),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(if found.is_empty() { ExitCode::Clean } else { ExitCode::Because(ReasonKind::ThresholdFailed) })
}

/// Whether names go with so many variants.
fn check_labels(labels: &[String], variants: usize) -> Result<(), UsageError> {
    if labels.len() > variants {
        return Err(UsageError::Labels { labels: labels.len(), variants });
    }
    match (0..labels.len()).find(|place| labels[..*place].contains(&labels[*place])) {
        Some(place) => Err(UsageError::LabelTwice(labels[place].clone())),
        None => Ok(()),
    }
}

/// The variants with their runs.
fn variants(labels: &[String], all: &[&[PathBuf]]) -> Result<Vec<Variant>, UsageError> {
    check_labels(labels, all.len())?;
    let label = |place: usize| labels.get(place).cloned().unwrap_or_else(|| letter(place));
    all.iter()
        .enumerate()
        .map(|(place, paths)| {
            let runs = paths.iter().map(|path| runs(path)).collect::<Result<Vec<_>, _>>()?;
            Ok(Variant { label: label(place), runs: runs.concat() })
        })
        .collect()
}

/// The runs of a file: one, or those of the rounds that it sums up, whose reports lie beside it.
fn runs(path: &Path) -> Result<Vec<MeasuredRun>, UsageError> {
    let text = text(path)?;
    let Some(summary) = summary(&text) else { return Ok(vec![run(path, &text)?]) };
    if summary.runs.iter().any(|run| run.labels.keys().any(|key| key != "round")) {
        return Err(UsageError::ComparedSweep(path.to_owned()));
    }
    let rounds = (1..=summary.runs.len()).map(|round| numbered(path, round));
    rounds.map(|path| run(&path, &self::text(&path)?)).collect()
}

fn run(path: &Path, text: &str) -> Result<MeasuredRun, UsageError> {
    MeasuredRun::read(text).map_err(|source| UsageError::MeasuredRun { path: path.to_owned(), source })
}

fn text(path: &Path) -> Result<String, UsageError> {
    if path.as_os_str() == "-" {
        return Err(UsageError::FromStandardInput);
    }
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return Err(UsageError::BehindRuns(path.display().to_string()));
    }
    fs::read_to_string(path).map_err(|source| UsageError::File { path: path.to_owned(), source })
}

/// A, B and so on; behind Z numbers.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}
