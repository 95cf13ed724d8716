//! The headers of a request, and their lines of HTTP/1.1, which are written once and sent again and again.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderValue};

/// The headers of a request. It is used like the map in it.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    map: HeaderMap,
    /// Written when they are first sent, and forgotten with every change.
    lines: OnceLock<HeaderLines>,
}

/// Headers as lines (RFC 9112, section 5).
#[derive(Clone, Debug)]
pub(crate) struct HeaderLines {
    /// Each with its end of line. Without those that say how long the body is, which is known better.
    pub(crate) text: Vec<u8>,
    pub(crate) has_host: bool,
    pub(crate) has_user_agent: bool,
    /// The connection is to be closed behind the answer.
    pub(crate) closes: bool,
}

impl Headers {
    pub(crate) fn lines(&self) -> &HeaderLines {
        self.lines.get_or_init(|| HeaderLines::of(&self.map))
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Self { map, lines: OnceLock::new() }
    }
}

impl Deref for Headers {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        &self.map
    }
}

impl DerefMut for Headers {
    fn deref_mut(&mut self) -> &mut HeaderMap {
        self.lines.take();
        &mut self.map
    }
}

impl HeaderLines {
    fn of(map: &HeaderMap) -> Self {
        let mut text = Vec::new();
        for (name, value) in
            map.iter().filter(|(name, _)| ![CONTENT_LENGTH, TRANSFER_ENCODING].contains(name))
        {
            write_line(&mut text, name.as_str(), value.as_bytes());
        }
        Self {
            text,
            has_host: map.contains_key(HOST),
            has_user_agent: map.contains_key(USER_AGENT),
            closes: map.get_all(CONNECTION).iter().any(closes),
        }
    }
}

/// Appends a header's line.
pub(crate) fn write_line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn closes(value: &HeaderValue) -> bool {
    value
        .as_bytes()
        .split(|byte| *byte == b',')
        .any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_every_change_and_leave_the_length_to_whoever_knows_it() {
        let mut headers = Headers::default();
        headers.insert("a", HeaderValue::from_static("1"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("7"));
        assert_eq!(headers.lines().text, b"a: 1\r\n");
        headers.append("a", HeaderValue::from_static("2"));
        headers.insert(CONNECTION, HeaderValue::from_static("x, Close"));
        let lines = headers.lines();
        assert_eq!(lines.text, b"a: 1\r\na: 2\r\nconnection: x, Close\r\n");
        assert!(lines.closes && !lines.has_host && !lines.has_user_agent);
    }
}
