//! The tag of a series in an interval log.

/// The path of a series as a tag, which ends at a comma and has no space: these, and what else is no letter on a line, are percent-encoded
/// (RFC 3986 section 2.1), so that no two series have one tag.
pub(super) fn tag(path: &str) -> String {
    let mut tag = String::with_capacity(path.len());
    let mut utf8 = [0; 4];
    for letter in path.chars() {
        if matches!(letter, ',' | '%') || letter.is_whitespace() || letter.is_control() {
            letter.encode_utf8(&mut utf8).bytes().for_each(|byte| tag.push_str(&format!("%{byte:02X}")));
        } else {
            tag.push(letter);
        }
    }
    tag
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_series_have_one_tag() {
        let tags = ["a,b/get", "a_b/get", "a b/get", "a%2Cb/get", "a\u{a0}b/get", "é/get"].map(super::tag);
        assert_eq!(tags, ["a%2Cb/get", "a_b/get", "a%20b/get", "a%252Cb/get", "a%C2%A0b/get", "é/get"]);
    }
}
