//! The labels of runs in words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// How the labels of some runs are told: a swept list of workloads by their names, and whatever has several keys as JSON.
#[derive(Debug, Default)]
pub struct Wording {
    /// Labels of which two values would read the same by less than all of them.
    in_full: BTreeSet<String>,
}

impl Wording {
    /// That of runs with these labels.
    pub fn of<'a>(runs: impl Iterator<Item = &'a BTreeMap<String, Value>>) -> Self {
        let mut by_words: BTreeMap<(&str, String), &Value> = BTreeMap::new();
        let mut in_full = BTreeSet::new();
        for (key, value) in runs.flatten() {
            let known = *by_words.entry((key.as_str(), short(value))).or_insert(value);
            if known != value {
                in_full.insert(key.clone());
            }
        }
        Self { in_full }
    }

    /// The value of that label.
    pub fn value(&self, key: &str, value: &Value) -> String {
        if self.in_full.contains(key) { words(value) } else { short(value) }
    }

    /// All labels of a run: `round 2, users 10`.
    pub fn label(&self, labels: &BTreeMap<String, Value>) -> String {
        let pairs = labels.iter().map(|(key, value)| format!("{key} {}", self.value(key, value)));
        let label = pairs.collect::<Vec<_>>().join(", ");
        if label.is_empty() { "run".to_owned() } else { label }
    }
}

/// A text as it is, anything else as JSON.
pub(super) fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Things that have names by these, and what has one key by that.
fn short(value: &Value) -> String {
    let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
    let of_items = value.as_array().filter(|items| !items.is_empty());
    let names = of_items.and_then(|items| items.iter().map(name).collect::<Option<Vec<_>>>());
    let only = || match value.as_object()?.iter().collect::<Vec<_>>().as_slice() {
        [(key, _)] => Some((*key).clone()),
        _ => None,
    };
    names.map(|names| names.join(" + ")).or_else(only).unwrap_or_else(|| words(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(values: &[Value]) -> Vec<String> {
        let runs: Vec<_> =
            values.iter().map(|value| BTreeMap::from([("of".to_owned(), value.clone())])).collect();
        let wording = Wording::of(runs.iter());
        runs.iter().map(|labels| wording.label(labels)).collect()
    }

    #[test]
    fn workloads_are_told_by_their_names_and_a_section_by_its_key() {
        let workloads = json!([{"name": "read", "http": {}}, {"name": "write", "http": {"method": "POST"}}]);
        assert_eq!(told(&[workloads, json!([{"name": "read"}])]), ["of read + write", "of read"]);
        assert_eq!(told(&[json!({"http": {"path": "/a"}})]), ["of http"]);
        assert_eq!(
            told(&[json!("/a"), json!(3), json!([1, 2]), json!([])]),
            ["of /a", "of 3", "of [1,2]", "of []"]
        );
        assert_eq!(Wording::default().label(&BTreeMap::new()), "run");
    }

    #[test]
    fn what_would_read_the_same_is_told_in_full() {
        let of = |path: &str| json!([{"name": "read", "http": {"path": path}}]);
        let full = told(&[of("/a"), of("/b"), of("/a")]);
        assert!(full[0] != full[1] && full[0] == full[2] && full[0].contains("/a"), "{full:?}");
        assert_eq!(told(&[of("/a"), of("/a")]), ["of read", "of read"]);
    }
}
