//! Tokens of answers that stand in the path of what is asked next.

use crate::answer_fault::AnswerFault;

/// The token, where it is one that stands as a segment of a path as it is (RFC 3986 section 3.3).
///
/// # Errors
/// Where it is empty, or has another letter.
pub(crate) fn path_token(token: &str) -> Result<&str, AnswerFault> {
    if is_path_segment(token) {
        Ok(token)
    } else {
        Err(AnswerFault::Unusable("token cannot stand in a path"))
    }
}

/// Whether a text stands as a segment of a path as it is (RFC 3986 section 3.3).
pub fn is_path_segment(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || OTHERS.contains(letter);
    // The last two are no names.
    text.chars().all(is_plain) && !matches!(text, "" | "." | "..")
}

/// All that a segment may have beside letters and digits, but for what is escaped.
const OTHERS: &str = "-._~!$&'()*+,;=:@";
