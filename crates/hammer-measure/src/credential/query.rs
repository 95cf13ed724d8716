//! The credentials of a query (RFC 3986 section 3.4), by the names of its parameters.

use std::borrow::Cow;
use std::ops::Range;

use super::{is_credential, joined};

/// Where in `text` the values of those parameters are that carry a credential, in bytes, in order and apart: of every query that stands
/// in it (`?access_token=...`, `&sig=...`), of every fragment that is written as one (`#access_token=...`, RFC 6749 section 4.2.2), and of what stands in the value of another parameter as a query does (`?next=/b?token=...`).
/// Names and values may be percent-encoded several times (RFC 3986 section 2.1), or have escapes of JSON. A query ends where a URL does:
/// at a space, a quotation mark or a `#`; a value at an `&`, and at a `;` that another pair follows.
pub fn credentials_of_queries(text: &str) -> Vec<Range<usize>> {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '#' | '"' | '\'' | '`' | '<' | '>');
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(query) = text[from..].find(['?', '#']) {
        let start = from + query + 1;
        let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
        let mut add = |at: Range<usize>| found.push(start + at.start..start + at.end);
        find_in_query(&text[start..end], MOST_ENCODED, &mut add);
        from = end;
    }
    joined(found)
}

/// Tells `found` of every credential of a query that may be encoded so many times.
pub(super) fn find_in_query(query: &str, encoded: usize, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    while start < query.len() {
        let end = start + pair_length(&query[start..]);
        let pair = &query[start..end];
        let mut add = |at: Range<usize>| found(start + at.start..start + at.end);
        let value = credential_of_pair(pair);
        if let Some(value) = value {
            add(value..pair.len());
        }
        let open = &pair[..value.unwrap_or(pair.len())];
        if encoded > 0 && has_escape(open) {
            // Nothing but another pair ends a value in there: a space is one that was encoded.
            let (inner, places) = decoded(open);
            find_in_query(&inner, encoded - 1, &mut |at| add(places[at.start]..places[at.end]));
        }
        start = end + 1;
    }
}

/// The bytes up to the separator behind the pair that `query` starts with.
fn pair_length(query: &str) -> usize {
    let mut separators = query.match_indices(['&', ';']);
    let first = separators.find(|(at, separator)| *separator == "&" || starts_with_pair(&query[at + 1..]));
    first.map_or(query.len(), |(at, _)| at)
}

/// Whether a name and a value are next, and not the padding of base64.
fn starts_with_pair(query: &str) -> bool {
    let is_of_name =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '~' | '%' | '[' | ']');
    let value = query.trim_start_matches(is_of_name).strip_prefix('=');
    !query.starts_with('=')
        && value.is_some_and(|value| !value.is_empty() && !value.starts_with(['=', '&', ';']))
}

/// Where the value starts of the first parameter in `pair` that carries a credential: a value may itself be a pair, or end with a query.
fn credential_of_pair(pair: &str) -> Option<usize> {
    let mut start = 0;
    for (at, _) in pair.match_indices('=') {
        if at + 1 < pair.len() && is_credential_parameter(&pair[start..at]) {
            return Some(at + 1);
        }
        start = at + 1;
    }
    None
}

/// Whether the parameter of that name carries a credential, or what is taken of an answer by it: as [`is_credential`] has it of headers, and by the
/// names of API keys, sessions, signed URLs and RFC 6749.
pub fn is_credential_parameter(name: &str) -> bool {
    let mut name = Cow::Borrowed(name);
    for _ in 0..MOST_ENCODED {
        if !has_escape(&name) {
            break;
        }
        name = Cow::Owned(decoded(&name).0);
    }
    let name = name.rsplit('?').next().unwrap_or_default();
    is_credential(name)
        || name.to_ascii_lowercase().contains(SIGNATURE)
        || CREDENTIAL_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn has_escape(text: &str) -> bool {
    text.contains(['%', '\\'])
}

/// The text with each escape of an ASCII letter as that letter, and where in `text` each of its bytes starts, and its end.
fn decoded(text: &str) -> (String, Vec<usize>) {
    let (mut letters, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (letter, length) = escape(&text[at..]).unwrap_or((first, first.len_utf8()));
        letters.push(letter);
        places.extend(at..at + letter.len_utf8());
        at += length;
    }
    places.push(at);
    (letters, places)
}

/// The letter that `text` starts with as an escape (`%3D`, `\u003d`), and the length of that.
fn escape(text: &str) -> Option<(char, usize)> {
    let start = ["%", "\\u00"].into_iter().find(|start| text.starts_with(start))?;
    let length = start.len() + 2;
    let digits = text.get(start.len()..length)?;
    let number = digits.chars().try_fold(0, |number, digit| Some(number << 4 | digit.to_digit(16)?))?;
    let letter = char::from_u32(number).filter(char::is_ascii)?;
    Some((letter, length))
}

/// So often, at most, a query within a query is looked for behind its encoding.
pub(super) const MOST_ENCODED: usize = 4;
/// What the names hold of parameters that make a URL a signed one (`X-Amz-Signature`), in lower case. In a header it is no credential:
/// it covers one message.
const SIGNATURE: &str = "signature";
/// Names of parameters that carry a credential without a word that says so: of API keys, signed URLs, and RFC 6749.
const CREDENTIAL_PARAMETERS: [&str; 14] = [
    "key",
    "api_key",
    "access_key",
    "sig",
    "code",
    "jwt",
    "assertion",
    "session",
    "sid",
    "pass",
    "pwd",
    "passwd",
    "passphrase",
    "csrf",
];
