//! What stands between hammer and the target.

use hammer_values::{BitRate, ByteSize, KeyConflict, PlanBlock, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target_url::TargetUrl;

/// The link between hammer and the target, so that it is not taken for the target: its rates, or how they are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LinkPlan {
    /// What it carries from hammer to the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) up: Option<BitRate>,
    /// What it carries from the target to hammer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) down: Option<BitRate>,
    /// A plain upload and download before each run, by which its rates are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) measure: Option<MeasuredLinkPlan>,
}

/// How the rates of a link are measured before a run: one exchange each way, over one connection, reached as the target is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MeasuredLinkPlan {
    /// Where a body of random bytes is sent by `POST`; what answers has to read it all, and to answer 2xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upload: Option<TargetUrl>,
    /// Bytes of that body: 64 KiB at least, 256 MiB at most. It should take seconds.
    pub(crate) size: ByteSize,
    /// What is read by `GET`, answered 2xx with 64 KiB at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) download: Option<TargetUrl>,
    /// How long each of both may take.
    pub(crate) timeout: TimeSpan,
}

impl Default for MeasuredLinkPlan {
    fn default() -> Self {
        Self { upload: None, size: ByteSize::from_mib(4), download: None, timeout: TimeSpan::from_secs(60) }
    }
}

impl PlanBlock for LinkPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let given = [("up", self.up.is_some()), ("down", self.down.is_some())];
        let given = given.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key);
        match (given, &self.measure) {
            (None, None) => Some(KeyConflict::at("up", "give up, down or both, or measure")),
            (Some(key), Some(_)) => {
                Some(KeyConflict::at(key, "the rates are measured: give rates or measure"))
            }
            (Some(_), None) => None,
            (None, Some(measured)) => measured.conflict().map(|conflict| conflict.below("measure")),
        }
    }
}

impl PlanBlock for MeasuredLinkPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.upload.is_none() && self.download.is_none() {
            return Some(KeyConflict::at("upload", "give upload, download or both"));
        }
        let is_measurable = (LEAST_BYTES..=MOST_BYTES).contains(&self.size.bytes());
        (!is_measurable).then(|| KeyConflict::at("size", "it must be 64KiB at least and 256MiB at most"))
    }
}

/// Below that an exchange takes the time of a round trip, whatever the rate.
pub(crate) const LEAST_BYTES: u64 = 64 << 10;
/// The body is held in memory.
const MOST_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use hammer_values::Agreed;

    use super::*;

    fn conflict(json: &str) -> Option<(String, String)> {
        let block: LinkPlan = serde_json::from_str(json).unwrap();
        let conflict = Agreed::new(block).err()?;
        Some((conflict.key().to_owned(), conflict.reason().to_owned()))
    }

    #[test]
    fn rates_are_given_or_measured_and_not_both() {
        for sound in [
            r#"{"up":"6mbit"}"#,
            r#"{"up":"6mbit","down":"50mbit"}"#,
            r#"{"measure":{"upload":"http://127.0.0.1:1/"}}"#,
            r#"{"measure":{"download":"127.0.0.1:1/file","size":"64KiB"}}"#,
        ] {
            assert_eq!(conflict(sound), None, "{sound}");
        }
        for (json, key) in [
            ("{}", "up"),
            (r#"{"down":"1mbit","measure":{"upload":"http://127.0.0.1:1/"}}"#, "down"),
            (r#"{"measure":{}}"#, "measure.upload"),
            (r#"{"measure":{"upload":"http://127.0.0.1:1/","size":"1KiB"}}"#, "measure.size"),
            (r#"{"measure":{"upload":"http://127.0.0.1:1/","size":"1GiB"}}"#, "measure.size"),
        ] {
            assert_eq!(conflict(json).unwrap().0, key, "{json}");
        }
    }
}
