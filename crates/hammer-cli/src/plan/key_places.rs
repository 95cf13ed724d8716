//! Where else a plan has a key that stands where it cannot.

use serde_json::Value;

use super::misplaced_list::add_forms;
use super::path::{PathSegment, PlanPath};

/// The block of a plan, as a path without places of items, that has a key of that name by the JSON Schema `root`, and is nearest to where it was
/// written; none where there is no such block around or in the one that it was written in.
pub(super) fn key_place(written: &PlanPath, root: &Value) -> Option<String> {
    let mut keys = written.segments().iter().filter_map(|segment| match segment {
        PathSegment::Key(key) => Some(key.as_str()),
        PathSegment::Item(_) => None,
    });
    let key = keys.next_back()?;
    let block: Vec<&str> = keys.collect();
    let mut found = Vec::new();
    search(root, root, key, &mut Vec::new(), &mut found);
    found.retain(|at| !at.is_empty() && (block.starts_with(at) || at.starts_with(&block)));
    let nearest = found.into_iter().min_by_key(|at| at.len().abs_diff(block.len()))?;
    Some(nearest.join("."))
}

fn search<'a>(
    schema: &'a Value,
    root: &'a Value,
    key: &str,
    at: &mut Vec<&'a str>,
    found: &mut Vec<Vec<&'a str>>,
) {
    if at.len() > DEEPEST {
        return;
    }
    let mut forms = Vec::new();
    add_forms(schema, root, &mut forms);
    for form in forms {
        if let Some(items) = form.get("items") {
            search(items, root, key, at, found);
        }
        let Some(properties) = form["properties"].as_object() else { continue };
        if properties.contains_key(key) {
            found.push(at.clone());
        }
        for (name, schema) in properties {
            at.push(name);
            search(schema, root, key, at, found);
            at.pop();
        }
    }
}

/// Blocks lie in one another no deeper, but for those that hold others of their kind.
const DEEPEST: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_found_in_the_nearest_block_that_has_it() {
        let root = json!({
            "properties": {
                "workloads": { "items": { "$ref": "#/$defs/Workload" } },
                "threads": { "properties": { "shards": {} } },
            },
            "$defs": {
                "Workload": { "properties": { "timeout": {}, "load": { "properties": {
                    "rate": {}, "ramp": { "properties": { "over": {} } },
                } } } },
            },
        });
        for (written, place) in [
            ("workloads[0].rate", Some("workloads.load")),
            ("workloads[0].load.timeout", Some("workloads")),
            ("workloads[0].load.over", Some("workloads.load.ramp")),
            ("rate", Some("workloads.load")),
            ("workloads[0].shards", None),
            ("threads.rate", None),
            ("nowhere", None),
        ] {
            assert_eq!(key_place(&PlanPath::of(written), &root).as_deref(), place, "{written}");
        }
    }
}
