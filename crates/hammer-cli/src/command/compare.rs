//! `hammer compare`: runs of variants side by side.

mod baseline;
mod compared;
mod rounds;
mod seeds;

use std::io;
use std::path::{Path, PathBuf};

use hammer_compare::{CheckedClaim, Claim, ComparisonError, ComponentUse, MeasuredRun, Variant};
use hammer_report::{ExitCode, ReasonKind};
use serde_saphyr::MessageFormatter as _;

use super::report::summary;
use crate::args::{CompareArgs, ComparisonForm, ComponentFile, FailIf};
use crate::bounded_file::{self, MOST_REPORT};
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use crate::output::{PageFile, numbered};
use crate::plan::broken_yaml::PlainYamlWords;
use crate::protocol::registry::Registry;
use baseline::KeptBaseline;
use compared::Compared;
use rounds::Rounds;

/// Compares each variant with the first, and prints what comes of it; ends with 1 where a bound does not hold.
pub(crate) fn show(args: &CompareArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    // Ahead of runs that may take hours.
    let components = args.components.iter().map(|file| &file.path);
    let read = args
        .first
        .iter()
        .chain(&args.others)
        .chain(&args.run)
        .chain(components)
        .chain(&args.baseline)
        .chain(&args.claims);
    let html = args.html.as_ref().map(|path| PageFile::open(path, read)).transpose()?;
    let kept = args.baseline.as_deref().map(KeptBaseline::read).transpose()?;
    let claims = args.claims.as_deref().map(claims).transpose()?;
    expect_agreement(args)?;
    if let Some(claims) = &claims
        && args.first.is_empty()
    {
        return tell_claims(args, claims, &[]);
    }
    if args.run.is_empty() {
        let others = args.others.split(|path| path.as_os_str() == "--");
        // Of links that were swept, and beside a baseline, the first will do.
        let others = others.filter(|_| !args.others.is_empty());
        let all: Vec<&[PathBuf]> = std::iter::once(args.first.as_slice()).chain(others).collect();
        let variants = variants(args, &all)?;
        return tell(args, (variants, kept, claims.as_deref()), html);
    }
    let labels = labels(args, (0..args.run.len()).map(letter).collect())?;
    if let Some(label) = args.total.as_ref().filter(|label| !labels.contains(label)) {
        return Err(UsageError::from(ComparisonError::NoTotal { label: label.clone(), known: labels }).into());
    }
    let rounds = Rounds::carried_out(args, registry)?;
    let read = variants(args, &rounds.reports.iter().map(Vec::as_slice).collect::<Vec<_>>());
    match read.map_err(CliError::from).and_then(|variants| tell(args, (variants, kept, None), html)) {
        Err(CliError::Usage(why)) => Err(rounds.kept(why).into()),
        told => told,
    }
}

/// What options cannot be asked for together, beyond what their parser knows.
fn expect_agreement(args: &CompareArgs) -> Result<(), UsageError> {
    if args.form == ComparisonForm::Json && args.claims.is_some() {
        return Err(UsageError::ClaimsAsJson);
    }
    let asks = args.fail_if.iter().any(|bound| matches!(bound, FailIf::Sla));
    if asks && args.sla.is_empty() { Err(UsageError::NoSla) } else { Ok(()) }
}

/// Compares the variants, with what is kept where something is, and prints what comes of it.
fn tell(
    args: &CompareArgs,
    (mut variants, kept, claims): (Vec<Variant>, Option<KeptBaseline<'_>>, Option<&[Claim]>),
    html: Option<PageFile>,
) -> Result<ExitCode, CliError> {
    let unkept = match kept {
        Some(KeptBaseline::There(baseline)) => {
            variants.insert(0, *baseline);
            None
        }
        Some(KeptBaseline::Missing(path)) => Some((path, variants[0].clone())),
        None => None,
    };
    if let Some((path, first)) = unkept.as_ref().filter(|_| variants.len() == 1) {
        baseline::keep(path, first)?;
        let page = baseline::told(path, first, args);
        html.map_or(Ok(()), |file| file.write(hammer_html::told_document(&page)))?;
        return print_text(&match args.form {
            ComparisonForm::Text => page.text(),
            ComparisonForm::Markdown => page.markdown(),
            ComparisonForm::Json => baseline::json(path, first)?,
        });
    }
    let compared = Compared::of(args, variants)?;
    if let Some((path, first)) = unkept {
        baseline::keep(path, &first)?;
    }
    if claims.is_some() && compared.variants().is_none() {
        return Err(UsageError::ComparedSweep(args.first[0].clone()).into());
    }
    html.map_or(Ok(()), |file| file.write(compared.html()))?;
    print_text(&compared.text(args.form))?;
    let code = compared.code();
    let Some((claims, variants)) = claims.zip(compared.variants()) else { return Ok(code) };
    print(io::stdout(), |out| writeln!(out))?;
    let of_claims = tell_claims(args, claims, variants)?;
    Ok(if code == ExitCode::Clean { of_claims } else { code })
}

fn print_text(text: &str) -> Result<ExitCode, CliError> {
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}

/// What is said in a file.
fn claims(path: &Path) -> Result<Vec<Claim>, UsageError> {
    let text = bounded_file::text(path, MOST_REPORT)
        .map_err(|source| UsageError::File { path: path.to_owned(), source })?;
    let refused = |error: serde_saphyr::Error| {
        let said = PlainYamlWords.format_message(error.without_snippet());
        let at = error.location().map(|at| format!("line {} column {}: ", at.line(), at.column()));
        let why = at.unwrap_or_default() + &said;
        UsageError::Claims { path: path.to_owned(), why }
    };
    let claims: Vec<Claim> = serde_saphyr::from_str(&text).map_err(refused)?;
    match claims.is_empty() {
        true => Err(UsageError::Claims { path: path.to_owned(), why: "it has no claim".to_owned() }),
        false => Ok(claims),
    }
}

/// Prints what comes of them; ends with 1 where one does not hold.
fn tell_claims(args: &CompareArgs, claims: &[Claim], variants: &[Variant]) -> Result<ExitCode, CliError> {
    let series = args.series.as_deref();
    let checked = claims.iter().map(|claim| claim.checked(variants, series));
    let checked = checked.collect::<Result<Vec<_>, _>>().map_err(UsageError::from)?;
    let page = CheckedClaim::page(&checked);
    print_text(&if args.form == ComparisonForm::Markdown { page.markdown() } else { page.text() })?;
    let all_hold = checked.iter().all(|claim| claim.holds);
    Ok(if all_hold { ExitCode::Clean } else { ExitCode::Because(ReasonKind::ThresholdFailed) })
}

/// What variants are called: by the names that are given, the first ones first, and all others by these. No two are called the same.
fn labels(args: &CompareArgs, others: Vec<String>) -> Result<Vec<String>, UsageError> {
    if args.labels.len() > others.len() {
        return Err(UsageError::Labels { labels: args.labels.len(), variants: others.len() });
    }
    let all: Vec<String> =
        args.labels.iter().cloned().chain(others.into_iter().skip(args.labels.len())).collect();
    let is_kept = |label: &String| args.baseline.is_some() && label == baseline::NAME;
    match (0..all.len()).find(|place| all[..*place].contains(&all[*place]) || is_kept(&all[*place])) {
        Some(place) => Err(UsageError::LabelTwice(all[place].clone())),
        None => Ok(all),
    }
}

/// The variants with their runs and components. Of one that was swept over the links of a chain each point is a variant.
fn variants(args: &CompareArgs, all: &[&[PathBuf]]) -> Result<Vec<Variant>, UsageError> {
    let read = |(place, paths): (usize, &&[PathBuf])| {
        let runs = paths.iter().map(|path| runs(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(Variant { label: letter(place), runs: runs.concat(), ..Variant::default() })
    };
    let mut variants = all.iter().enumerate().map(read).collect::<Result<Vec<_>, UsageError>>()?;
    expect_one_kind(&variants, all, args.hops)?;
    if let [chain] = variants.as_slice()
        && args.hops
    {
        variants = chain.at_points();
    }
    let labels = labels(args, variants.iter().map(|variant| variant.label.clone()).collect())?;
    for (variant, label) in variants.iter_mut().zip(labels) {
        variant.label = label;
    }
    for (place, ComponentFile { label, path }) in args.components.iter().enumerate() {
        if args.components[..place].iter().any(|earlier| earlier.label == *label) {
            return Err(UsageError::ComponentsTwice(label.clone()));
        }
        let known: Vec<&str> = variants.iter().map(|variant| variant.label.as_str()).collect();
        let place = known.iter().position(|known| known == label);
        let known = || known.join(", ");
        let nobody = || UsageError::ComponentsOf { label: label.clone(), known: known() };
        let place = place.ok_or_else(nobody)?;
        let unread = |source| UsageError::Components { path: path.clone(), source };
        variants[place].measured_components = ComponentUse::read(&text(path)?).map_err(unread)?;
    }
    Ok(variants)
}

/// Whether all runs are of sweeps, or none is; of a chain all points are of one.
fn expect_one_kind(variants: &[Variant], all: &[&[PathBuf]], is_chain: bool) -> Result<(), UsageError> {
    let is_swept = |variant: &Variant| variant.runs.iter().any(MeasuredRun::is_swept);
    let Some(place) = variants.iter().position(is_swept) else { return Ok(()) };
    let mut runs = variants.iter().flat_map(|variant| &variant.runs);
    match runs.all(MeasuredRun::is_swept) && !(is_chain && variants.len() > 1) {
        true => Ok(()),
        false => Err(UsageError::ComparedSweep(all[place][0].clone())),
    }
}

/// The runs of a file: one, or those of the rounds that it sums up, whose reports lie beside it, or those of a sweep.
fn runs(path: &Path) -> Result<Vec<MeasuredRun>, UsageError> {
    let text = text(path)?;
    let Some(summary) = summary(&text) else { return Ok(vec![run(path, &text)?]) };
    if summary.runs.iter().any(|run| run.labels.keys().any(|key| key != "round")) {
        return Ok(MeasuredRun::of_sweep(&summary));
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
    bounded_file::text(path, MOST_REPORT).map_err(|source| UsageError::File { path: path.to_owned(), source })
}

/// A, B and so on; behind Z numbers.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}
