//! What runs were carried out with: what is the same in all variants, and what is not.

use std::collections::{BTreeMap, BTreeSet};

use hammer_report::text::number::grouped;
use serde::Serialize;
use serde_json::Value;

use crate::cell::none;
use crate::comparison::Comparison;
use crate::measured_run::MeasuredRun;
use crate::page::Block;
use crate::variant::Variant;

/// A key of what runs were carried out with, and what it is in each variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The tool, its environment, or a key of the plan with its path.
    pub key: String,
    /// By variants; of runs that differ, all there is, and nothing of what it does not have.
    pub variants: Vec<Vec<String>>,
}

impl Setting {
    /// Whether it is one thing, and that in all variants.
    fn is_shared(&self) -> bool {
        self.variants[0].len() == 1 && self.variants.iter().all(|other| *other == self.variants[0])
    }
}

impl Comparison {
    /// Configuration and environment, by keys.
    pub fn settings(&self) -> Vec<Setting> {
        let by_variant: Vec<BTreeMap<String, Vec<String>>> = self.variants.iter().map(of_variant).collect();
        let keys: BTreeSet<&String> = by_variant.iter().flat_map(|settings| settings.keys()).collect();
        let setting = |key: &String| Setting {
            key: key.clone(),
            variants: by_variant.iter().map(|own| own.get(key).cloned().unwrap_or_default()).collect(),
        };
        keys.into_iter().map(setting).collect()
    }

    /// What differs as a table, and what of the load and the environment is the same as a list.
    pub(crate) fn configuration(&self) -> Vec<Block> {
        let (shared, different): (Vec<Setting>, Vec<Setting>) =
            self.settings().into_iter().partition(Setting::is_shared);
        let mut header = vec![String::new()];
        header.extend(self.variants.iter().map(|variant| variant.label.clone()));
        let mut rows = vec![self.row_of("runs", |variant| grouped(variant.runs.len() as u64))];
        let path = &self.series[0].path;
        rows.push(self.row_of(&format!("{path} a run"), |variant| requests(variant, path)));
        if self.variants.iter().flat_map(|variant| &variant.runs).any(|run| run.started.is_some()) {
            rows.push(self.row_of("first started", first_started));
        }
        rows.extend(different.iter().filter(|setting| setting.key != "plan.name").map(|setting| {
            let cells = setting.variants.iter().map(|values| told(values));
            std::iter::once(setting.key.clone()).chain(cells).collect()
        }));
        let same = together(shared.iter().filter(|setting| is_of_load(&setting.key)));
        let mut blocks =
            vec![Block::Heading("configuration and environment".to_owned()), Block::Table { header, rows }];
        if !same.is_empty() {
            blocks.extend([Block::Heading("the same in all runs".to_owned()), Block::List(same)]);
        }
        blocks
    }

    fn row_of(&self, name: &str, of: impl Fn(&Variant) -> String) -> Vec<String> {
        std::iter::once(name.to_owned()).chain(self.variants.iter().map(of)).collect()
    }
}

/// When the first run of a variant started, to the second.
fn first_started(variant: &Variant) -> String {
    let started = variant.runs.iter().filter_map(|run| run.started.as_deref()).min();
    started.map_or_else(none, |instant| {
        instant.split_once('.').map_or_else(|| instant.to_owned(), |(second, _)| format!("{second}Z"))
    })
}

/// Requests of that series in a run, of all runs where they have as many.
fn requests(variant: &Variant, path: &str) -> String {
    let counts: BTreeSet<u64> =
        variant.runs.iter().filter_map(|run| run.of_path(path)).map(|series| series.offered).collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(greatest)) if least == greatest => grouped(*least),
        (Some(least), Some(greatest)) => format!("{} to {}", grouped(*least), grouped(*greatest)),
        _ => none(),
    }
}

/// By keys what its runs have, each once.
fn of_variant(variant: &Variant) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in &variant.runs {
        for (key, value) in of_run(run) {
            let values = all.entry(key).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    all
}

/// The leaves of all that is known of a run; a list of plain values is one.
fn of_run(run: &MeasuredRun) -> Vec<(String, String)> {
    let mut all = vec![("tool".to_owned(), run.tool.clone())];
    let own = run.environment.iter().map(|(key, value)| (key.clone(), value));
    let plan = run.plan.iter().map(|(key, value)| (format!("plan.{key}"), value));
    for (key, text) in own.chain(plan) {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => leaves(&key, &value, &mut all),
            Err(_) => all.push((key, text.clone())),
        }
    }
    all
}

fn leaves(key: &str, value: &Value, all: &mut Vec<(String, String)>) {
    let is_deep = |item: &Value| item.is_object() || item.is_array();
    match value {
        Value::Object(keys) => {
            keys.iter().for_each(|(inner, value)| leaves(&format!("{key}.{inner}"), value, all));
        }
        Value::Array(items) if items.iter().any(is_deep) => {
            items.iter().enumerate().for_each(|(place, item)| leaves(&format!("{key}.{place}"), item, all));
        }
        Value::String(text) => all.push((key.to_owned(), text.clone())),
        Value::Null => {}
        Value::Array(items) if items.is_empty() => {}
        other => all.push((key.to_owned(), other.to_string())),
    }
}

/// A line for each workload, the phases and so on, with all keys in it.
fn together<'a>(shared: impl Iterator<Item = &'a Setting>) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for Setting { key, variants } in shared {
        let parts: Vec<&str> = key.split('.').collect();
        let of_place = if parts.get(1) == Some(&"workloads") { 3 } else { 2 };
        let (place, rest) = parts.split_at(of_place.min(parts.len()));
        let (place, value) = (place.join("."), told(&variants[0]));
        let own = if rest.is_empty() { value } else { format!("{} {value}", rest.join(".")) };
        match lines.iter_mut().find(|(known, _)| *known == place) {
            Some((_, all)) => all.push(own),
            None => lines.push((place, vec![own])),
        }
    }
    lines.into_iter().map(|(place, all)| format!("{place}: {}", all.join(", "))).collect()
}

/// Whether it says what was sent and by whom; all else of a plan is told where it differs.
fn is_of_load(key: &str) -> bool {
    let is_part = |part: &str| key == part || key.starts_with(&format!("{part}."));
    ["tool", "version", "cores", "shards", "plan.phases", "plan.workloads"].into_iter().any(is_part)
}

/// A value of several runs, no longer than a table has room for.
fn told(values: &[String]) -> String {
    let all = match values {
        [] => none(),
        values if values.len() <= MOST_VALUES => values.join(", "),
        values => format!("{} values", values.len()),
    };
    if all.chars().count() <= MOST_LETTERS {
        return all;
    }
    all.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
}

const MOST_VALUES: usize = 3;
const MOST_LETTERS: usize = 48;
