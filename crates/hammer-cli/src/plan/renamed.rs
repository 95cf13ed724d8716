//! Keys of a plan that have another name by now: they are read still, and told.

use hammer_ct::{CtTargetPlan, SubmitPlan};
use hammer_lab::{CtLabPlan, HttpLabPlan};
use hammer_values::RenamedKey;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Plan;
use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::source::Renaming;

/// What a file can hold: a whole plan, or the settings of an embedded target.
pub(crate) trait PlanDocument: DeserializeOwned {
    /// Where the parts with renamed keys stand, as a path with `*` for any key or item, and those keys.
    const RENAMED: &[(&str, &[RenamedKey])];
}

impl PlanDocument for Plan {
    const RENAMED: &[(&str, &[RenamedKey])] = &[
        ("workloads.*.ct_submit", SubmitPlan::RENAMED),
        ("target.log", CtTargetPlan::RENAMED),
        ("target.logs.*", CtTargetPlan::RENAMED),
        ("target.lab.ct", CtLabPlan::RENAMED),
        ("target.lab.logs.*", CtLabPlan::RENAMED),
        ("target.lab.http", HttpLabPlan::RENAMED),
    ];
}

impl PlanDocument for CtLabPlan {
    const RENAMED: &[(&str, &[RenamedKey])] = &[("", CtLabPlan::RENAMED)];
}

impl PlanDocument for HttpLabPlan {
    const RENAMED: &[(&str, &[RenamedKey])] = &[("", HttpLabPlan::RENAMED)];
}

/// Gives each renamed key of the document its new name. What was just put at `changed` takes the place of what has the new
/// name already.
///
/// # Errors
/// When both names of a key are given.
pub(crate) fn rename<T: PlanDocument>(
    document: &mut Value,
    changed: Option<&PlanPath>,
) -> Result<Vec<Renaming>, PlanError> {
    let mut found = Vec::new();
    for (part, keys) in T::RENAMED {
        for key in *keys {
            let path = part.split('.').chain(key.old.split('.')).filter(|part| !part.is_empty());
            let path: Vec<&str> = path.collect();
            below(document, PlanPath::default(), &path, key, changed, &mut found)?;
        }
    }
    Ok(found)
}

/// Renames the key at the end of `path`, which starts at `at`.
fn below(
    value: &mut Value,
    at: PlanPath,
    path: &[&str],
    key: &RenamedKey,
    changed: Option<&PlanPath>,
    found: &mut Vec<Renaming>,
) -> Result<(), PlanError> {
    match (path, value) {
        ([_], value) => found.extend(at_its_place(value, &at, path[0], key, changed)?),
        (["*", rest @ ..], Value::Array(items)) => {
            for (place, item) in items.iter_mut().enumerate() {
                below(item, at.clone().item(place), rest, key, changed, found)?;
            }
        }
        (["*", rest @ ..], Value::Object(map)) => {
            for (name, item) in map.iter_mut() {
                below(item, at.clone().key(name), rest, key, changed, found)?;
            }
        }
        ([name, rest @ ..], Value::Object(map)) => {
            if let Some(item) = map.get_mut(*name) {
                below(item, at.key(name), rest, key, changed, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn at_its_place(
    part: &mut Value,
    at: &PlanPath,
    old: &str,
    key: &RenamedKey,
    changed: Option<&PlanPath>,
) -> Result<Option<Renaming>, PlanError> {
    let Value::Object(part) = part else { return Ok(None) };
    let Some(value) = part.get(old) else { return Ok(None) };
    let (old_path, new_path) = (at.clone().key(old), at.clone().key(key.new));
    if part.contains_key(key.new) && changed != Some(&old_path) {
        let (old, new) = (old.to_owned(), key.new.to_owned());
        return Err(PlanFault::BothNames { old, new }.at(old_path));
    }
    let value = match value {
        Value::Number(number) => Value::String(format!("{number}{}", key.unit)),
        other => other.clone(),
    };
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    part.remove(old);
    part.insert(key.new.to_owned(), value);
    Ok(Some(Renaming { old: old_path, new: new_path, written: format!("{}: {shown}", key.new) }))
}
