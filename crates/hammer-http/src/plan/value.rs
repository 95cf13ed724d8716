//! Values in a plan.

use std::path::PathBuf;

use hammer_values::{Count, KeyConflict, PlanBlock, Share, ZipfExponent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Values of which each operation has one: of a list, whole numbers, or those of files, and which of them it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ValuePlan {
    /// The values themselves: texts, numbers, booleans.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Value>,
    /// So many whole numbers, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// A file of comma-separated values (RFC 4180) whose first line names its columns: `${NAME.COLUMN}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv: Option<PathBuf>,
    /// A file with a JSON text on each line: an object, whose members are columns, or one value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl: Option<PathBuf>,
    /// A file each of whose lines is a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<PathBuf>,
    /// Files each of which is a value, such as a body, as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// Which of them an operation has.
    pub order: ValueOrder,
    /// Of `order: zipf`: its exponent; 1 unless another one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<ZipfExponent>,
    /// The first values, which so many of the operations have; the others have those that are left. Figures of both are apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotValues>,
}

/// Which of a number of tokens an operation has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrawPlan {
    /// Which of them an operation has.
    pub order: ValueOrder,
    /// Of `order: zipf`: its exponent; 1 unless another one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<ZipfExponent>,
    /// The first ones, which so many of the operations have; the others have those that are left. Figures of both are apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotValues>,
}

/// Which of a number of values an operation has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueOrder {
    /// One after another, and again from the first.
    #[default]
    RoundRobin,
    /// Each alike, drawn.
    Random,
    /// Drawn; the first is the most popular.
    Zipf,
}

/// The values that most operations have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotValues {
    /// So many, the first ones.
    pub values: Count,
    /// The share of the operations that have one of them.
    pub share: Share,
}

impl ValuePlan {
    /// The keys by which it says where its values are.
    fn sources(&self) -> Vec<&'static str> {
        let sources = [
            (!self.list.is_empty(), "list"),
            (self.count.is_some(), "count"),
            (self.csv.is_some(), "csv"),
            (self.jsonl.is_some(), "jsonl"),
            (self.lines.is_some(), "lines"),
            (!self.files.is_empty(), "files"),
        ];
        sources.into_iter().filter(|(is_given, _)| *is_given).map(|(_, key)| key).collect()
    }

    /// Which of its values an operation has.
    pub(crate) fn draw(&self) -> DrawPlan {
        DrawPlan { order: self.order, exponent: self.exponent, hot: self.hot.clone() }
    }

    /// The file of its values, for a sentence; empty where it has none.
    pub(crate) fn file(&self) -> String {
        let path = self.csv.as_ref().or(self.jsonl.as_ref()).or(self.lines.as_ref());
        path.map_or_else(String::new, |path| format!(" in {}", path.display()))
    }

    /// The key that says where its values are.
    pub(crate) fn source(&self) -> &'static str {
        self.sources().first().copied().unwrap_or("list")
    }
}

impl PlanBlock for ValuePlan {
    fn conflict(&self) -> Option<KeyConflict> {
        match self.sources().as_slice() {
            [] => return Some(KeyConflict::at("list", "give one of list, count, csv, jsonl, lines, files")),
            [_] => {}
            [first, second, ..] => {
                return Some(KeyConflict::at(
                    *second,
                    format!("{first} is given too: only one of both may be"),
                ));
            }
        }
        if self.list.iter().any(|value| value.is_array() || value.is_object() || value.is_null()) {
            return Some(KeyConflict::at("list", "each is a text, a number or a boolean"));
        }
        let count = self.count.map(Count::get).or((!self.list.is_empty()).then_some(self.list.len()));
        let hot = self.hot.as_ref().map(|hot| hot.values.get());
        if let (Some(count), Some(hot)) = (count, hot)
            && hot >= count
        {
            let reason = format!("none is cold: {hot} of {count} are hot");
            return Some(KeyConflict::at("hot.values", reason));
        }
        self.draw().conflict()
    }
}

impl PlanBlock for DrawPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let is_stray = self.exponent.is_some() && self.order != ValueOrder::Zipf;
        is_stray.then(|| KeyConflict::at("exponent", "it is that of order: zipf"))
    }
}
