//! What ends the arrivals besides time and operations.

use hammer_measure::snapshot::Observation;

/// Ends the arrivals once an observation has reached what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct StopRule {
    observation: String,
    until: Until,
    /// What it means, where that is told in other words.
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Until {
    AtLeast(f64),
    /// More than the value seen first, which is none before it was seen.
    Grown {
        by: f64,
        from: Option<f64>,
    },
}

impl StopRule {
    /// Once `observation` (`tree_size`) has this value.
    pub fn at_least(observation: impl Into<String>, value: f64) -> Self {
        Self { observation: observation.into(), until: Until::AtLeast(value), reason: None }
    }

    /// Once `observation` has grown by so much beyond the value that was seen first.
    pub fn grown(observation: impl Into<String>, by: f64) -> Self {
        Self { observation: observation.into(), until: Until::Grown { by, from: None }, reason: None }
    }

    /// The same, of which `reason` is told.
    #[must_use]
    pub fn because(self, reason: String) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// Takes a look; the reason, where it ends the arrivals.
    pub(super) fn reached(&mut self, seen: &Observation) -> Option<String> {
        if seen.name != self.observation {
            return None;
        }
        let name = &self.observation;
        let found = match &mut self.until {
            Until::AtLeast(value) => (seen.value >= *value).then(|| format!("{name} reached {value}")),
            Until::Grown { by, from } => {
                let from = *from.get_or_insert(seen.value);
                (seen.value - from >= *by).then(|| format!("{name} grew by {by} from {from}"))
            }
        };
        found.map(|found| self.reason.clone().unwrap_or(found))
    }
}

#[cfg(test)]
mod tests {
    use hammer_measure::Nanos;

    use super::*;

    fn reasons(mut rule: StopRule, seen: &[(&str, f64)]) -> Vec<Option<String>> {
        let observations = seen.iter().map(|(name, value)| Observation::new(*name, Nanos::ZERO, *value));
        observations.map(|seen| rule.reached(&seen)).collect()
    }

    #[test]
    fn growth_counts_from_what_was_seen_first() {
        let rule = StopRule::grown("tree_size", 100.0);
        let seen = [("overdue", 500.0), ("tree_size", 40.0), ("tree_size", 139.0), ("tree_size", 140.0)];
        let reached = Some("tree_size grew by 100 from 40".to_owned());
        assert_eq!(reasons(rule, &seen), [None, None, None, reached]);
    }

    #[test]
    fn a_value_that_is_reached_at_once_ends_the_arrivals() {
        let rule = StopRule::at_least("tree_size", 100.0);
        let reached = Some("tree_size reached 100".to_owned());
        assert_eq!(reasons(rule.clone(), &[("tree_size", 99.0), ("tree_size", 101.0)]), [None, reached]);
        let meant = rule.because("the tree is full".to_owned());
        assert_eq!(reasons(meant, &[("tree_size", 100.0)]), [Some("the tree is full".to_owned())]);
    }
}
