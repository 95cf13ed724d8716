//! Lists where a plan has keys with values: a reader of records would take their items for the values, in an order that no document names.

use serde_json::Value;

use super::path::PlanPath;

/// Where in `plan` the first list stands for which the JSON Schema `root` has a map alone.
pub(super) fn misplaced_list(plan: &Value, root: &Value) -> Option<PlanPath> {
    find(plan, &[root], root, PlanPath::default())
}

fn find(value: &Value, schemas: &[&Value], root: &Value, at: PlanPath) -> Option<PlanPath> {
    let mut forms = Vec::new();
    schemas.iter().for_each(|schema| add_forms(schema, root, &mut forms));
    match value {
        Value::Array(items) => {
            let is_map = |form: &&Value| form["type"] == "object" || form.get("properties").is_some();
            let may_be_list = forms.is_empty() || forms.iter().any(|form| !is_map(form));
            if !may_be_list {
                return Some(at);
            }
            let of_items: Vec<&Value> = forms.iter().filter_map(|form| form.get("items")).collect();
            let mut items = items.iter().enumerate();
            items.find_map(|(place, item)| find(item, &of_items, root, at.clone().item(place)))
        }
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let of_key: Vec<&Value> = forms
                .iter()
                .filter_map(|form| form["properties"].get(key).or_else(|| form.get("additionalProperties")))
                .filter(|schema| schema.is_object())
                .collect();
            find(value, &of_key, root, at.clone().key(key))
        }),
        _ => None,
    }
}

/// All forms that a schema allows, with its references followed; not that of `null`.
pub(super) fn add_forms<'a>(schema: &'a Value, root: &'a Value, forms: &mut Vec<&'a Value>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return add_forms(&root["$defs"][name], root, forms);
    }
    let mut is_choice = false;
    for choice in ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|choice| schema[choice].as_array()) {
        is_choice = true;
        choice.iter().for_each(|schema| add_forms(schema, root, forms));
    }
    if !is_choice && schema["type"] != "null" {
        forms.push(schema);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_told_where_only_a_map_can_stand() {
        let root = json!({
            "type": "object",
            "properties": {
                "phases": { "$ref": "#/$defs/Phases" },
                "loads": { "type": "array", "items": { "anyOf": [{ "$ref": "#/$defs/Phases" }, { "type": "string" }] } },
                "labels": { "type": "object", "additionalProperties": { "type": ["array", "string"] } },
                "any": true,
                "maybe": { "anyOf": [{ "$ref": "#/$defs/Phases" }, { "type": "null" }] },
            },
            "$defs": { "Phases": { "type": "object", "properties": { "drain": { "type": "string" } } } },
        });
        for (plan, at) in [
            (json!({ "phases": ["1s"] }), Some("phases")),
            (json!({ "phases": { "drain": "1s" } }), None),
            (json!({ "maybe": [] }), Some("maybe")),
            (json!({ "loads": ["a", { "drain": "1s" }] }), None),
            (json!({ "loads": [[]] }), None),
            (json!({ "labels": { "a": [1] } }), None),
            (json!({ "labels": [] }), Some("labels")),
            (json!({ "any": [1], "unknown": [2] }), None),
            (json!([]), Some("")),
        ] {
            assert_eq!(misplaced_list(&plan, &root).map(|at| at.to_string()).as_deref(), at, "{plan}");
        }
    }
}
