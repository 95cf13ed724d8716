//! Verify flows in a plan.

use std::path::PathBuf;

use hammer_values::{Count, KeyConflict, Percent, PlanBlock, TimeSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// Verify flows: an entry of Rekor v1 is read back, with the chain of the timestamp authority, and all of it is verified. Entries are
/// those that sign flows of this run were answered with, or those of a corpus. A flow is one operation; each of its steps has a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyPlan {
    /// By what an entry is asked for: `uuid`, `index`, or `search`, which looks for the hash of what was signed first.
    pub by: VerifyBy,
    /// The file of entries that a fill wrote; without it those are read that sign flows of the same run and thread got logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<PathBuf>,
    /// Which entry of the corpus a flow reads: `uniform`, `hot` (the first of all, in every flow), `{ zipf: EXPONENT }` (the first of all
    /// is the most popular), or `{ newest: SHARE or COUNT }` (those of the highest indexes).
    pub draw: CorpusDraw,
    /// Whether the timestamp authority's chain is read in each flow.
    pub timestamp_chain: bool,
    /// How long after it was answered an entry may be unknown where it is read or searched: a replica that lags has it later. One that is
    /// not found after that is lost, and a broken promise.
    pub missing_after: TimeSpan,
}

/// By what an entry is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerifyBy {
    /// `GET /api/v1/log/entries/UUID`.
    #[default]
    Uuid,
    /// `GET /api/v1/log/entries?logIndex=N`.
    Index,
    /// `POST /api/v1/index/retrieve` by the hash, then by the UUID that was found.
    Search,
}

/// Which entry of a corpus a flow reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CorpusDraw {
    /// Each alike.
    #[default]
    Uniform,
    /// The first alone.
    Hot,
    /// The r-th in proportion to r to the power of minus this.
    Zipf(ZipfExponent),
    /// Each alike of the newest.
    Newest(NewestEntries),
}

/// The exponent of a Zipf distribution, above 0 and up to 10.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct ZipfExponent(f64);

/// The newest entries: so many, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NewestEntries {
    /// So many.
    Count(Count),
    /// That share of all of them.
    #[serde(serialize_with = "with_sign")]
    Share(Percent),
}

impl ZipfExponent {
    /// As a number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for ZipfExponent {
    type Error = String;

    fn try_from(exponent: f64) -> Result<Self, String> {
        if exponent > 0.0 && exponent <= 10.0 {
            return Ok(Self(exponent));
        }
        Err(format!("`{exponent}` is no exponent of a Zipf distribution (above 0, up to 10)"))
    }
}

impl From<ZipfExponent> for f64 {
    fn from(exponent: ZipfExponent) -> Self {
        exponent.0
    }
}

impl JsonSchema for ZipfExponent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ZipfExponent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 10 })
    }
}

/// With its sign a share, without it a number of entries.
impl<'de> Deserialize<'de> for NewestEntries {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(plan)?;
        let read = match value.as_str().filter(|text| text.trim_end().ends_with('%')) {
            Some(text) => text.parse().map(Self::Share).map_err(|why| format!("{why}")),
            None => serde_json::from_value(value).map(Self::Count).map_err(|why| why.to_string()),
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for NewestEntries {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NewestEntries".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 1, "pattern": "%$" })
    }
}

fn with_sign<S: serde::Serializer>(share: &Percent, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(share)
}

impl Default for VerifyPlan {
    fn default() -> Self {
        Self {
            by: VerifyBy::default(),
            corpus: None,
            draw: CorpusDraw::default(),
            timestamp_chain: true,
            missing_after: TimeSpan::from_secs(60),
        }
    }
}

impl PlanBlock for VerifyPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        (self.corpus.is_none() && self.draw != CorpusDraw::Uniform).then(|| {
            KeyConflict::at("draw", "what is drawn from is the sample of a run, unless `corpus` names a file")
        })
    }
}
