//! A place in a plan, as keys and places of lists: `workloads[0].load.rate`.

use std::fmt;

/// The path to a key of a plan; empty for the plan itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanPath(Vec<PathSegment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathSegment {
    /// A key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
}

impl PlanPath {
    /// The path of these keys, which are separated by dots; the place of an item stands in brackets.
    pub(crate) fn of(keys: &str) -> Self {
        Self::default().keys(keys)
    }

    /// The workload at that place of the plan.
    pub(crate) fn workload(place: usize) -> Self {
        Self::of("workloads").item(place)
    }

    /// The path with these keys behind it, which are separated by dots; the place of an item stands in brackets.
    pub(crate) fn keys(self, keys: &str) -> Self {
        keys.split('.').fold(self, |path, part| {
            let mut parts = part.split('[');
            let path = path.key(parts.next().unwrap_or_default());
            let places = parts.filter_map(|place| place.strip_suffix(']')?.parse().ok());
            places.fold(path, Self::item)
        })
    }

    /// The path with one key behind it, which may hold dots.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.0.push(PathSegment::Key(key.to_owned()));
        self
    }

    /// The path with an item of a list behind it.
    pub(crate) fn item(mut self, place: usize) -> Self {
        self.0.push(PathSegment::Item(place));
        self
    }

    /// The path with all of `rest` behind it.
    pub(crate) fn then(mut self, rest: &Self) -> Self {
        self.0.extend_from_slice(&rest.0);
        self
    }

    /// Its steps, from the plan down.
    pub(crate) fn segments(&self) -> &[PathSegment] {
        &self.0
    }

    /// Whether it is the plan itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of both lies in the other.
    pub(crate) fn touches(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other)
    }

    /// Whether it is `other`, or lies in it.
    pub(crate) fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The path with `to` in place of `from`, with which it starts.
    pub(crate) fn moved(&self, from: &Self, to: &Self) -> Self {
        let rest = self.0.iter().skip(from.0.len());
        Self(to.0.iter().chain(rest).cloned().collect())
    }

    /// What it lies in; none for the plan itself.
    pub(crate) fn parent(&self) -> Option<Self> {
        let (_, parents) = self.0.split_last()?;
        Some(Self(parents.to_vec()))
    }
}

impl From<&serde_path_to_error::Path> for PlanPath {
    fn from(path: &serde_path_to_error::Path) -> Self {
        use serde_path_to_error::Segment;
        Self(path.iter().fold(Vec::new(), |mut segments, segment| {
            match segment {
                Segment::Seq { index } => segments.push(PathSegment::Item(*index)),
                Segment::Map { key } => segments.push(PathSegment::Key(key.clone())),
                // A variant is written as the only key of a map.
                Segment::Enum { variant } => segments.push(PathSegment::Key(variant.clone())),
                Segment::Unknown => {}
            }
            segments
        }))
    }
}

impl fmt::Display for PlanPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                PathSegment::Key(key) if place == 0 => f.write_str(key)?,
                PathSegment::Key(key) => write!(f, ".{key}")?,
                PathSegment::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_with_dots_and_brackets() {
        let rate = PlanPath::workload(1).keys("load.rate");
        assert_eq!(rate.to_string(), "workloads[1].load.rate");
        assert_eq!(PlanPath::of("workloads[1].load.rate"), rate);
        assert_eq!(rate.parent().unwrap().to_string(), "workloads[1].load");
        assert_eq!((PlanPath::default().to_string(), PlanPath::default().parent()), (String::new(), None));
    }

    #[test]
    fn paths_touch_when_one_lies_in_the_other() {
        let load = PlanPath::workload(0).key("load");
        assert!(load.touches(&load.clone().key("rate")) && load.clone().key("rate").touches(&load));
        assert!(load.touches(&PlanPath::default()));
        assert!(!load.touches(&PlanPath::workload(1)) && !load.touches(&PlanPath::workload(0).key("http")));
    }
}
