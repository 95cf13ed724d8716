//! Headlines: the observations that a report names first.

use serde::{Deserialize, Serialize};

/// An observation that a report names first, and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// The observation (`tree_size`); that of a named target (`<target>/tree_size`) is meant as well.
    pub observation: String,
    /// What a reader calls it (`tree size`).
    pub label: String,
    /// Whether it is a size, of which the growth and the rate of growth say something. Of a level, which goes up and down, its
    /// values alone do.
    pub grows: bool,
}

impl Headline {
    /// A size that grows.
    pub fn size(observation: impl Into<String>, label: impl Into<String>) -> Self {
        Self { observation: observation.into(), label: label.into(), grows: true }
    }

    /// A level that goes up and down.
    pub fn level(observation: impl Into<String>, label: impl Into<String>) -> Self {
        Self { grows: false, ..Self::size(observation, label) }
    }
}

/// The target whose `observation` stands under `name`: empty where it is named after no target (`tree_size`), `a` for
/// `a/tree_size`. `None` where something else is observed under that name.
pub fn target_of<'a>(name: &'a str, observation: &str) -> Option<&'a str> {
    match name.strip_suffix(observation)? {
        "" => Some(""),
        before => before.strip_suffix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_is_known_alone_and_behind_the_name_of_its_target() {
        assert_eq!(target_of("tree_size", "tree_size"), Some(""));
        assert_eq!(target_of("a/tree_size", "tree_size"), Some("a"));
        assert_eq!(target_of("a/b/tree_size", "tree_size"), Some("a/b"));
        for other in ["subtree_size", "tree_size_max", "tree", "tree_size/a", ""] {
            assert_eq!(target_of(other, "tree_size"), None, "{other}");
        }
    }
}
