//! What a part of a run hands on, so that several processes are one run: its intervals, as bytes or as JSON. Parts add up: merging the
//! intervals of all of them is the interval of a run that was not divided.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::MOST_COUNTED;
use crate::promise::{KindLedger, Ledger};
use crate::recorder::Interval;
use crate::snapshot::Observation;

/// One interval of a part of a run. What is read is what a part could have told, or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct PartInterval {
    version: FormatVersion,
    /// The interval's number, from 0.
    pub index: u64,
    /// Whether nothing follows from this part.
    pub is_last: bool,
    /// What the part's shards recorded in it.
    pub interval: Interval,
    /// Promises that the part received, by workload and kind, so far.
    pub promises: Vec<KindLedger>,
    /// What the part's observers saw, first and last, by name.
    pub observations: Vec<Observation>,
}

/// Bytes that are no interval of a part of this run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// They were written by another version of hammer.
    #[error("read an interval of a part: it is written in format {found}, and format {VERSION} is read")]
    Format {
        /// What stands in front.
        found: u8,
    },
    /// They end early, or hold what is none of its fields.
    #[error("read an interval of a part: {0}")]
    Bytes(String),
    /// Its figures contradict each other, or its histograms are not ours.
    #[error(
        "read an interval of a part: its figures contradict each other, or its histograms have other bounds"
    )]
    Contradiction,
    /// Something follows it.
    #[error("read an interval of a part: {0} more bytes follow it")]
    More(usize),
    /// It is of a run with other series.
    #[error("read an interval of a part: it has {found} series, and the run has {expected}")]
    Series {
        /// How many it has.
        found: usize,
        /// How many the run has.
        expected: usize,
    },
}

/// The number that stands in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FormatVersion;

impl PartInterval {
    /// An interval, the promises so far and what was observed.
    pub fn new(
        (index, is_last): (u64, bool),
        interval: Interval,
        promises: Vec<KindLedger>,
        observations: Vec<Observation>,
    ) -> Self {
        Self { version: FormatVersion, index, is_last, interval, promises, observations }
    }

    /// Its compact form: a byte for the format, then the fields in their order (postcard).
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("numbers, texts and histograms always have a form")
    }

    /// The reverse of [`PartInterval::to_bytes`], of a run of `series` series.
    ///
    /// # Errors
    /// When the bytes are no interval, or not of such a run.
    pub fn from_bytes(bytes: &[u8], series: usize) -> Result<Self, PartError> {
        if let Some(found) = bytes.first().copied().filter(|found| *found != VERSION) {
            return Err(PartError::Format { found });
        }
        let (part, rest) = postcard::take_from_bytes::<Self>(bytes)?;
        if !rest.is_empty() {
            return Err(PartError::More(rest.len()));
        }
        let found = part.interval.series.len();
        if found == series { Ok(part) } else { Err(PartError::Series { found, expected: series }) }
    }

    fn contradiction(&self) -> Option<&'static str> {
        if self.index > MOST_COUNTED {
            return Some("its number is that of more intervals than any run has");
        }
        if !self.promises.iter().all(|kind| is_bounded(&kind.ledger) && kind.ledger.balances()) {
            return Some(
                "the promises that were made are not those that were kept, broken, pending and unchecked",
            );
        }
        let is_finite = |seen: &Observation| seen.value.is_finite() && seen.first.value.is_finite();
        if !self.observations.iter().all(is_finite) {
            return Some("an observation is no number");
        }
        let is_ordered = |seen: &Observation| seen.first.at <= seen.at;
        (!self.observations.iter().all(is_ordered))
            .then_some("an observation was seen last before it was seen first")
    }
}

fn is_bounded(ledger: &Ledger) -> bool {
    let Ledger { made, kept, broken, pending, unchecked } = *ledger;
    [made, kept, broken, pending, unchecked].iter().all(|count| *count <= MOST_COUNTED)
}

impl From<postcard::Error> for PartError {
    fn from(error: postcard::Error) -> Self {
        match error {
            // postcard keeps no text of what was found.
            postcard::Error::SerdeDeCustom => Self::Contradiction,
            other => Self::Bytes(other.to_string()),
        }
    }
}

impl Serialize for PartInterval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived one, which is no trait's.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for PartInterval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = Self::deserialize(deserializer)?;
        part.contradiction().map_or(Ok(part), |found| Err(D::Error::custom(found)))
    }
}

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(VERSION)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            VERSION => Ok(Self),
            found => Err(D::Error::custom(PartError::Format { found })),
        }
    }
}

/// Raised with every change of what is written: parts of one run are of one version.
const VERSION: u8 = 11;

#[cfg(test)]
mod tests;
