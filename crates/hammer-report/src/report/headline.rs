//! The headlines: what was observed of what the run names first.

use hammer_measure::Nanos;
use hammer_measure::headline::{Headline, target_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::finite;
use super::timeline::ObservationSeries;

/// An observation that the run names first, and how it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeadlineFigures {
    /// What was observed: a `name` of `observations`.
    pub observation: String,
    /// What the text calls it.
    pub label: String,
    /// The target that it was observed of; `null` where the observation is named after none.
    pub target: Option<String>,
    /// What was seen first.
    pub first: f64,
    /// What was seen last.
    pub last: f64,
    /// `last` less `first`; `null` of a level, which goes up and down.
    pub grown: Option<f64>,
    /// `grown` by the seconds from the first to the last; `null` of a level, and where it was seen at one instant alone.
    pub grown_per_s: Option<f64>,
}

/// The growth of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeSize {
    /// The size seen first.
    pub first: f64,
    /// The size seen last.
    pub last: f64,
    /// The difference.
    pub grown: f64,
}

impl HeadlineFigures {
    /// What was seen of each headline, in the order of the headlines and, of several targets, in that of their names. Of what
    /// was never observed there is nothing to say.
    pub(crate) fn all(headlines: &[Headline], observations: &[ObservationSeries]) -> Vec<Self> {
        let seen_of = |headline| {
            let mut seen: Vec<_> = observations.iter().filter_map(|seen| Self::of(headline, seen)).collect();
            // Which target was seen first differs from run to run.
            seen.sort_by(|one, other| one.target.cmp(&other.target));
            seen
        };
        headlines.iter().flat_map(seen_of).collect()
    }

    fn of(headline: &Headline, seen: &ObservationSeries) -> Option<Self> {
        let target = target_of(&seen.name, &headline.observation)?;
        let (first, last) = (seen.first.value, seen.last.value);
        let grown = headline.grows.then(|| finite(last - first));
        let seconds = Nanos(seen.last.at_ns).since(Nanos(seen.first.at_ns)).as_secs_f64();
        Some(Self {
            observation: seen.name.clone(),
            label: headline.label.clone(),
            target: (!target.is_empty()).then(|| target.to_owned()),
            first,
            last,
            grown,
            grown_per_s: grown.filter(|_| seconds > 0.0).map(|grown| finite(grown / seconds)),
        })
    }
}

impl TreeSize {
    /// The growth of the one tree among the headlines; `None` where there is none, or more than one.
    pub(crate) fn among(headlines: &[HeadlineFigures]) -> Option<Self> {
        let mut trees = headlines.iter().filter(|seen| target_of(&seen.observation, TREE_SIZE).is_some());
        let (tree, None) = (trees.next()?, trees.next()) else { return None };
        Some(Self { first: tree.first, last: tree.last, grown: finite(tree.last - tree.first) })
    }
}

/// The observation whose figures stand under a key of their own, which users' scripts read.
const TREE_SIZE: &str = "tree_size";

#[cfg(test)]
mod tests;
