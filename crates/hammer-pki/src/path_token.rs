//! Tokens of answers that stand in the path of what is asked next.

use crate::answer_fault::AnswerFault;

/// The token, where it is one that stands in a path as it is (RFC 3986 section 2.3).
///
/// # Errors
/// Where it is empty, or has another letter.
pub(crate) fn path_token(token: &str) -> Result<&str, AnswerFault> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '~');
    match !token.is_empty() && token.chars().all(is_plain) {
        true => Ok(token),
        false => Err(AnswerFault::Missing("token that can stand in a path")),
    }
}
