//! Keys of a plan that have another name by now: they are read still, and told.

use hammer_values::RenamedKey;
use serde_json::Value;

use super::document::PlanDocument;
use super::error::{PlanError, PlanFault};
use super::grammar::PlanGrammar;
use super::path::PlanPath;
use super::source::Renaming;

/// Gives each renamed key of the document its new name. What was just put at `changed` takes the place of what has the new
/// name already.
///
/// # Errors
/// When both names of a key are given.
pub(super) fn rename<T: PlanDocument>(
    document: &mut Value,
    changed: Option<&PlanPath>,
    grammar: &PlanGrammar,
) -> Result<Vec<Renaming>, PlanError> {
    let mut found = Vec::new();
    for (part, keys) in T::renamed(grammar) {
        for key in keys {
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
