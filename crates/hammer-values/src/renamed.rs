//! Keys of plans that have another name by now.

/// A key whose unit was a part of its name, and what takes its place: a key without it, whose values have their unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenamedKey {
    /// The path of the old key, separated by dots; `*` is any key, or any item of a list.
    pub old: &'static str,
    /// The last part of the new path; the rest is the same.
    pub new: &'static str,
    /// The unit of a bare number under the old key.
    pub unit: &'static str,
}
