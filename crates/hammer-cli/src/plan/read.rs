//! From a file and a command line to a plan; what is wrong is named by file, line and key path.

use std::path::Path;

use serde_json::Value;

use crate::args::PlanArgs;
use crate::bounded_file::{self, MOST_PLAN};

use super::change::apply_text;
use super::credential::{masked_place, without_credential};
use super::document::PlanDocument;
use super::error::{PlanError, PlanFault};
use super::grammar::PlanGrammar;
use super::path::PlanPath;
use super::renamed::rename;
use super::source::PlanSource;
use super::{Plan, smoke};

/// A plan and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct SourcedPlan<T> {
    /// The plan, or a part of one.
    pub(crate) plan: T,
    /// Where it was written.
    pub(crate) source: PlanSource,
}

/// Reads the plan and applies what the command line changes in it.
pub(crate) fn plan(args: &PlanArgs, grammar: &PlanGrammar) -> Result<SourcedPlan<Plan>, PlanError> {
    let SourcedPlan { plan, source } = file::<Plan>(&args.plan, &args.changes.set, grammar)?;
    let mut plan = plan.seed(args.changes.seed);
    if args.changes.no_preflight {
        plan.target.preflight = Some(false);
    }
    if args.changes.smoke {
        smoke::shorten(&mut plan, grammar).map_err(|error| error.placed(&source))?;
    }
    Ok(SourcedPlan { plan, source })
}

/// Reads a YAML file and applies `KEY=VALUE` changes.
pub(crate) fn file<T: PlanDocument>(
    path: &Path,
    set: &[String],
    grammar: &PlanGrammar,
) -> Result<SourcedPlan<T>, PlanError> {
    let text = bounded_file::text(path, MOST_PLAN)
        .map_err(|source| PlanError::Unreadable { path: path.to_owned(), source })?;
    let name = path.display().to_string();
    let mut value: Value =
        serde_saphyr::from_str(&text).map_err(|error| PlanError::of_yaml(&name, &text, &error))?;
    let mut source = PlanSource::file(name, text);
    if value.is_null() {
        return Err(PlanFault::Empty.at(PlanPath::default()).placed(&source));
    }
    let renamings = rename::<T>(&mut value, None, grammar).map_err(|error| error.placed(&source))?;
    source.renamed(renamings);
    // The file is judged as it stands, so that its mistakes have lines; then the command line's changes are.
    T::read(value.clone(), grammar).map_err(|error| error.placed(&source))?;
    changed(value, source, set, grammar)
}

/// A plan of nothing but `KEY=VALUE` changes.
pub(crate) fn arguments<T: PlanDocument>(
    set: &[String],
    grammar: &PlanGrammar,
) -> Result<SourcedPlan<T>, PlanError> {
    changed(Value::Object(serde_json::Map::new()), PlanSource::arguments(), set, grammar)
}

/// A plan, or a part of one, that was made of arguments, each of which stands for the key at that path.
pub(crate) fn of_flags<T: PlanDocument>(
    value: Value,
    flags: &[(&str, &str)],
    grammar: &PlanGrammar,
) -> Result<SourcedPlan<T>, PlanError> {
    let source = PlanSource::flags(flags);
    let plan = T::read(value, grammar).map_err(|error| error.placed(&source))?;
    Ok(SourcedPlan { plan, source })
}

fn changed<T: PlanDocument>(
    mut value: Value,
    mut source: PlanSource,
    set: &[String],
    grammar: &PlanGrammar,
) -> Result<SourcedPlan<T>, PlanError> {
    for change in set {
        let at = apply_text(&mut value, change)
            .map_err(|source| PlanError::Unchanged { change: without_credential(change), source })?;
        source.changed(format!("--set {}", without_credential(change)), at.clone());
        let renamings = rename::<T>(&mut value, Some(&at), grammar).map_err(|error| error.placed(&source))?;
        source.renamed(renamings);
    }
    if let Some(at) = masked_place(&value) {
        return Err(PlanFault::Misfit(MASKED.to_owned()).at(at).placed(&source));
    }
    let plan = T::read(value, grammar).map_err(|error| error.placed(&source))?;
    Ok(SourcedPlan { plan, source })
}

const MASKED: &str = "`***` stands where a report or a printed plan had a secret to hide: put it back, or have it read from a file (`bearer: { file: FILE }`; of any header, `values: { k: { lines: FILE } }` and `${k}`)";
