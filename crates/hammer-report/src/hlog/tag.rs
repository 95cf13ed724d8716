//! The tag of a series in an interval log.

/// The path of a series as a tag, which ends at a comma and has no space.
pub(super) fn tag(path: &str) -> String {
    path.chars().map(|letter| if letter == ',' || letter.is_whitespace() { '_' } else { letter }).collect()
}
