//! From a file and a command line to a plan; what is wrong is named by file, line and key path.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::PlanArgs;

use super::credential::{leads_into_credential, without_credential};
use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::renamed::{PlanDocument, rename};
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

/// Why there can be no value at a key path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChangeError {
    /// No value is given.
    #[error("expected KEY=VALUE")]
    Form,
    /// The list has no item of that name or place.
    #[error("there is no item {0}")]
    UnknownItem(String),
    /// What stands there is no map.
    #[error("what stands before {0} has no keys")]
    Keyless(String),
}

/// Reads the plan and applies what the command line changes in it.
pub(crate) fn plan(args: &PlanArgs) -> Result<SourcedPlan<Plan>, PlanError> {
    let SourcedPlan { plan, source } = file::<Plan>(&args.plan, &args.changes.set)?;
    let mut plan = plan.seed(args.changes.seed);
    if args.changes.smoke {
        smoke::shorten(&mut plan);
    }
    Ok(SourcedPlan { plan, source })
}

/// Reads a YAML file and applies `KEY=VALUE` changes.
pub(crate) fn file<T: PlanDocument>(path: &Path, set: &[String]) -> Result<SourcedPlan<T>, PlanError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| PlanError::Unreadable { path: path.to_owned(), source })?;
    let name = path.display().to_string();
    let mut value: Value =
        serde_saphyr::from_str(&text).map_err(|error| PlanError::of_yaml(&name, &text, &error))?;
    let mut source = PlanSource::file(name, text);
    if value.is_null() {
        return Err(PlanFault::Empty.at(PlanPath::default()).placed(&source));
    }
    let renamings = rename::<T>(&mut value, None).map_err(|error| error.placed(&source))?;
    source.renamed(renamings);
    // The file is judged as it stands, so that its mistakes have lines; then the command line's changes are.
    typed::<T>(value.clone()).map_err(|error| error.placed(&source))?;
    changed(value, source, set)
}

/// A plan of nothing but `KEY=VALUE` changes.
pub(crate) fn arguments<T: PlanDocument>(set: &[String]) -> Result<SourcedPlan<T>, PlanError> {
    changed(Value::Object(serde_json::Map::new()), PlanSource::arguments(), set)
}

fn changed<T: PlanDocument>(
    mut value: Value,
    mut source: PlanSource,
    set: &[String],
) -> Result<SourcedPlan<T>, PlanError> {
    for change in set {
        let at = apply_text(&mut value, change)
            .map_err(|source| PlanError::Unchanged { change: without_credential(change), source })?;
        source.changed(format!("--set {}", without_credential(change)), at.clone());
        let renamings = rename::<T>(&mut value, Some(&at)).map_err(|error| error.placed(&source))?;
        source.renamed(renamings);
    }
    let plan = typed(value).map_err(|error| error.placed(&source))?;
    Ok(SourcedPlan { plan, source })
}

/// Reads a plan out of a value, with the key path of what is wrong in it.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, PlanError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at: PlanPath = error.path().into();
        // The message may quote the value.
        let fault = match leads_into_credential(&at) {
            true => PlanFault::Credential,
            false => PlanFault::Misfit(error.inner().to_string()),
        };
        fault.at(at)
    })
}

/// Applies a change `key.path=value`, the value in YAML; where that is.
fn apply_text(plan: &mut Value, change: &str) -> Result<PlanPath, ChangeError> {
    let (key, text) = change.split_once('=').ok_or(ChangeError::Form)?;
    let value = serde_saphyr::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    apply(plan, key.trim(), value)
}

/// Puts a value at a key path; a list's item is named by its place or by its `name`.
pub(crate) fn apply(plan: &mut Value, key: &str, value: Value) -> Result<PlanPath, ChangeError> {
    let (mut at, mut path) = (plan, PlanPath::default());
    for part in key.split('.') {
        if at.is_null() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = match at {
            Value::Object(map) => {
                path = path.key(part);
                map.entry(part).or_insert(Value::Null)
            }
            Value::Array(items) => {
                let named = || items.iter().position(|item| item["name"] == part);
                let place = part.parse().ok().or_else(named).filter(|place| *place < items.len());
                let place = place.ok_or_else(|| ChangeError::UnknownItem(part.to_owned()))?;
                path = path.item(place);
                &mut items[place]
            }
            _ => return Err(ChangeError::Keyless(part.to_owned())),
        };
    }
    *at = value;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_finds_its_key_by_name_or_place() {
        let mut plan = json!({"workloads": [{"name": "submit", "load": {"rate": "5/s"}}], "seed": 1});
        let at = apply_text(&mut plan, "workloads.submit.load.rate=50/s").unwrap();
        assert_eq!(at.to_string(), "workloads[0].load.rate");
        apply_text(&mut plan, "workloads.0.in_flight=7").unwrap();
        apply_text(&mut plan, "phases.measurement=10s").unwrap();
        apply_text(&mut plan, "sweep={\"a\": [1, 2]}").unwrap();
        assert_eq!(plan["workloads"][0], json!({"name": "submit", "load": {"rate": "50/s"}, "in_flight": 7}));
        assert_eq!(plan["phases"]["measurement"], "10s");
        assert_eq!(plan["sweep"]["a"][1], 2);
    }

    #[test]
    fn a_change_that_finds_nothing_says_so() {
        let mut plan = json!({"workloads": [], "seed": 1});
        for (change, why) in [
            ("seed", ChangeError::Form),
            ("workloads.submit.load=1", ChangeError::UnknownItem("submit".to_owned())),
            ("workloads.0.load=1", ChangeError::UnknownItem("0".to_owned())),
            ("seed.of=1", ChangeError::Keyless("of".to_owned())),
        ] {
            assert_eq!(apply_text(&mut plan, change), Err(why));
        }
    }
}
