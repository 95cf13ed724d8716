//! Verify flows in a plan.

use std::path::PathBuf;

use hammer_values::{Count, KeyConflict, Percent, PlanBlock, TimeSpan, ZipfExponent};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::sign::RekorVersion;

/// Verify flows: an entry of Rekor is read back, with the chain of the timestamp authority, and all of it is verified. Entries are
/// those that sign flows of this run were answered with, or those of a corpus. A flow is one operation; each of its steps has a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyPlan {
    /// Which log is read: `v1`, or `v2` (Rekor on tiles), whose checkpoint, entry bundle and tiles are read.
    pub rekor: ReadRekor,
    /// By what an entry of Rekor v1 is asked for: `uuid`, `index`, or `search`, which looks for the hash of what was signed first. One of
    /// Rekor v2 is found by its index alone.
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
    /// Whether the log is followed along with the load: what an entry was read by stays a pending promise until its checkpoint was joined to
    /// the followed tree. Drain waits until nothing is pending.
    pub audit: bool,
}

/// The log that verify flows read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadRekor {
    /// Rekor v1, on Trillian.
    #[default]
    V1,
    /// Rekor v2, on tiles.
    V2,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = with_plain_zipf)]
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

/// The same with an exponent or a number behind each name that takes one.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenDraw {
    Uniform,
    Hot,
    Zipf(ZipfExponent),
    Newest(NewestEntries),
}

/// `zipf` alone is that of the exponent 1.
impl<'de> Deserialize<'de> for CorpusDraw {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(plan)?;
        match value.as_str() {
            Some("zipf") => return Ok(Self::Zipf(ZipfExponent::ONE)),
            Some("newest") => return Err(serde::de::Error::custom(HOW_MANY)),
            _ => {}
        }
        let read = serde_json::from_value(value).map_err(serde::de::Error::custom)?;
        Ok(match read {
            WrittenDraw::Uniform => Self::Uniform,
            WrittenDraw::Hot => Self::Hot,
            WrittenDraw::Zipf(exponent) => Self::Zipf(exponent),
            WrittenDraw::Newest(newest) => Self::Newest(newest),
        })
    }
}

fn with_plain_zipf(schema: &mut Schema) {
    if let Some(Value::Array(forms)) = schema.get_mut("oneOf") {
        forms.push(
            json!({ "description": "The same with an exponent of 1.", "type": "string", "const": "zipf" }),
        );
    }
}

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

impl VerifyPlan {
    /// Whether the log that is read is the one on tiles.
    pub fn is_on_tiles(&self) -> bool {
        self.rekor == ReadRekor::V2
    }
}

impl ReadRekor {
    /// Whether what flows get logged so is in it.
    pub const fn has(self, written: RekorVersion) -> bool {
        match self {
            Self::V1 => matches!(written, RekorVersion::V1),
            Self::V2 => written.is_on_tiles(),
        }
    }
}

/// With its sign a share, without it a number of entries.
impl<'de> Deserialize<'de> for NewestEntries {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(plan)?;
        let read = match value.as_str().filter(|text| text.trim_end().ends_with('%')) {
            Some(text) => match text.parse::<Percent>() {
                Ok(share) if !share.is_any() => Err(NONE_OF_THEM.to_owned()),
                share => share.map(Self::Share).map_err(|why| format!("{why}")),
            },
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
            rekor: ReadRekor::default(),
            by: VerifyBy::default(),
            corpus: None,
            draw: CorpusDraw::default(),
            timestamp_chain: true,
            missing_after: TimeSpan::from_secs(60),
            audit: true,
        }
    }
}

impl PlanBlock for VerifyPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.rekor == ReadRekor::V2 && self.by == VerifyBy::Search {
            return Some(KeyConflict::at(
                "by",
                "Rekor v2 has no index to search: an entry is found by its own",
            ));
        }
        (self.corpus.is_none() && self.draw != CorpusDraw::Uniform).then(|| {
            KeyConflict::at("draw", "what is drawn from is the sample of a run, unless `corpus` names a file")
        })
    }
}

const NONE_OF_THEM: &str = "`newest` has to be more than 0%";
const HOW_MANY: &str = "`newest` wants to know how many: `{ newest: 10% }`, or `{ newest: 500 }`";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(draw: &str) -> Result<CorpusDraw, String> {
        serde_json::from_str::<CorpusDraw>(draw).map_err(|why| why.to_string())
    }

    #[test]
    fn zipf_alone_has_the_exponent_one_and_newest_alone_is_asked_how_many() {
        assert_eq!(read(r#""zipf""#), read(r#"{"zipf": 1}"#));
        assert_eq!(read(r#""hot""#), Ok(CorpusDraw::Hot));
        assert_eq!(
            read(r#"{"newest": 7}"#),
            Ok(CorpusDraw::Newest(NewestEntries::Count(Count::at_least_one(7))))
        );
        assert_eq!(read(r#""newest""#), Err(HOW_MANY.to_owned()));
        for (draw, part) in [
            (r#"{"zipf": 0}"#, "no exponent of a Zipf distribution"),
            (r#""pareto""#, "expected one of `uniform`, `hot`, `zipf`, `newest`"),
            (r#"{"newest": "x"}"#, "`x` is no whole number"),
            (r#"{"newest": "0.0 %"}"#, NONE_OF_THEM),
        ] {
            let refused = read(draw).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn what_is_drawn_survives_its_own_text() {
        for draw in
            [CorpusDraw::Uniform, CorpusDraw::Hot, CorpusDraw::Zipf(ZipfExponent::try_from(1.5).unwrap())]
        {
            let text = serde_json::to_string(&draw).unwrap();
            assert_eq!(read(&text), Ok(draw), "{text}");
        }
    }
}
