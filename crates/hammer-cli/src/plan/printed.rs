//! The plan that a line stands for, as a file that says no more than it needs.

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Plan;
use super::credential::{holds_credential, mask};
use super::document::PlanDocument as _;
use super::error::PlanError;
use super::grammar::PlanGrammar;

/// The YAML of a plan without the keys that it is the same plan without, and [`masked`].
///
/// # Errors
/// What is wrong with the plan, at its path.
pub(crate) fn printed(written: &Value, grammar: &PlanGrammar) -> Result<String, PlanError> {
    Ok(format!("{HEAD}{}", masked(least(written, grammar)?)?))
}

/// The YAML of a plan without what its headers, bodies and queries carry as secrets, which a comment says where there are any.
///
/// # Errors
/// That it cannot be written.
pub(crate) fn masked(mut plan: Value) -> Result<String, PlanError> {
    let masked = if holds_credential(&plan) { MASKED } else { "" };
    mask(&mut plan);
    Ok(format!("{masked}{}", serde_saphyr::to_string(&OrderedKeys(&plan))?))
}

/// The same plan with as few keys as it can be written with.
fn least(written: &Value, grammar: &PlanGrammar) -> Result<Value, PlanError> {
    let mut least = LeastPlan { whole: read(written.clone(), grammar)?, kept: written.clone(), grammar };
    least.prune("");
    Ok(least.kept)
}

/// The plan with every default.
fn read(written: Value, grammar: &PlanGrammar) -> Result<Value, PlanError> {
    Ok(serde_json::to_value(Plan::read(written, grammar)?)?)
}

/// A plan from which keys are taken as long as it stays the same.
struct LeastPlan<'a> {
    /// The plan with every default.
    whole: Value,
    kept: Value,
    grammar: &'a PlanGrammar,
}

impl LeastPlan<'_> {
    /// Takes away what is not needed below that JSON pointer (RFC 6901), the outermost first.
    fn prune(&mut self, pointer: &str) {
        let (keys, is_map): (Vec<String>, bool) = match self.kept.pointer(pointer) {
            Some(Value::Object(map)) => (map.keys().cloned().collect(), true),
            Some(Value::Array(items)) => ((0..items.len()).map(|place| place.to_string()).collect(), false),
            _ => return,
        };
        for key in keys {
            if !(is_map && self.does_without(pointer, &key)) {
                self.prune(&format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")));
            }
        }
    }

    /// Takes away one key, unless it makes another plan.
    fn does_without(&mut self, pointer: &str, key: &str) -> bool {
        let mut without = self.kept.clone();
        if let Some(Value::Object(map)) = without.pointer_mut(pointer) {
            map.remove(key);
        }
        let is_same = read(without.clone(), self.grammar).is_ok_and(|read| read == self.whole);
        if is_same {
            self.kept = without;
        }
        is_same
    }
}

/// A value whose keys come in the order in which plans are read by people.
struct OrderedKeys<'a>(&'a Value);

impl Serialize for OrderedKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                // Those of one rank stay in the order of their names.
                entries.sort_by_key(|(key, _)| rank(key));
                let mut written = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    written.serialize_entry(key, &OrderedKeys(value))?;
                }
                written.end()
            }
            Value::Array(items) => {
                let mut written = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    written.serialize_element(&OrderedKeys(item))?;
                }
                written.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// The place of a key among others: those without one of their own are between the first and the last.
fn rank(key: &str) -> usize {
    let first = FIRST.iter().position(|first| *first == key);
    let last = || LAST.iter().position(|last| *last == key).map(|place| FIRST.len() + 1 + place);
    first.or_else(last).unwrap_or(FIRST.len())
}

/// What an editor needs to know the keys.
const HEAD: &str = "\
# yaml-language-server: $schema=plan.schema.json
# `hammer schema plan >plan.schema.json` writes that schema; docs/plan.md explains each key.
";
const MASKED: &str = "\
# A secret stood where *** is. A file or an environment variable keeps it out of plans: `bearer: { file: FILE }`, `body_file: FILE`, and of any other header `values: { k: { lines: FILE } }` with `NAME: ${k}`.
";
/// Keys that stand ahead of others.
const FIRST: [&str; 8] = ["name", "seed", "target", "url", "fill", "workloads", "method", "path"];
/// Keys that stand behind others.
const LAST: [&str; 8] =
    ["load", "in_flight", "timeout", "phases", "thresholds", "health", "threads", "output"];
