//! The head of an answer (RFC 9112, sections 4 to 6), and what it says of the body.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use http::header::{CONTENT_ENCODING, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version};
use httparse::{Header, Response, Status};

use super::chunks::Chunks;
use super::fault::AnswerFault;
use crate::request::Answer;

/// What a head says of what follows it.
pub(super) struct AnswerHead {
    /// Its length in bytes, the empty line included.
    pub(super) length: usize,
    pub(super) framing: Framing,
    /// The server keeps the connection open.
    pub(super) is_kept: bool,
    /// It announces the answer proper (1xx).
    pub(super) is_interim: bool,
}

/// How a body ends (RFC 9112, section 6.3).
#[derive(Debug)]
pub(super) enum Framing {
    /// After that many bytes.
    Length(u64),
    /// With its last chunk.
    Chunked(Chunks),
    /// With the connection.
    UntilClose,
}

/// What was found among the headers.
#[derive(Default)]
struct Found {
    length: Option<u64>,
    has_encoding: bool,
    is_chunked: bool,
    closes: bool,
    keeps: bool,
    is_encoded: bool,
}

/// What is wrong with bytes that start with no head.
#[cold]
fn no_head(bytes: &[u8], why: httparse::Error) -> AnswerFault {
    match bytes {
        // An alert, as whoever reads a request for a handshake answers it (RFC 8446, sections 5.1 and 6).
        [ALERT, TLS_MAJOR, ..] => AnswerFault::Tls,
        _ if why == httparse::Error::TooManyHeaders => AnswerFault::ManyHeaders,
        _ => AnswerFault::Head(why),
    }
}

/// The type of a record of TLS, and the first byte of its version.
const ALERT: u8 = 21;
const TLS_MAJOR: u8 = 3;

/// Reads a head at the start of `bytes`; `None` where it is not whole. Status, version and those headers that are in `kept` stand
/// in `answer` then. `has_body`: the request's method lets answers have one.
pub(super) fn read(
    bytes: &[u8],
    has_body: bool,
    kept: &[HeaderName],
    answer: &mut Answer,
) -> Result<Option<AnswerHead>, AnswerFault> {
    let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; MOST_HEADERS];
    let mut response = Response::new(&mut []);
    // A line that goes on with white space belongs to the one before it, to whoever reads answers (RFC 9112 section 5.2).
    let mut parser = httparse::ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    let Status::Complete(length) = parsed.map_err(|why| no_head(bytes, why))? else { return Ok(None) };
    let is_old = response.version == Some(0);
    let code = response.code.unwrap_or_default();
    let is_interim = (100..200).contains(&code);
    if code == 101 {
        return Err(AnswerFault::Upgrade);
    }
    let found = find(response.headers)?;
    if found.has_encoding && is_old {
        return Err(AnswerFault::Encoding);
    }
    answer.status = StatusCode::from_u16(code).map_err(|_| AnswerFault::Status(code))?;
    answer.version = if is_old { Version::HTTP_10 } else { Version::HTTP_11 };
    answer.headers.clear();
    keep(response.headers, kept, &mut answer.headers);
    if (300..400).contains(&code) && !kept.contains(&LOCATION) {
        // Whoever follows redirects asks for it once there is one.
        keep(response.headers, &[LOCATION], &mut answer.headers);
    }
    if found.is_encoded && !kept.contains(&CONTENT_ENCODING) {
        // Whatever was asked for, a body cannot be read without it.
        keep(response.headers, &[CONTENT_ENCODING], &mut answer.headers);
    }
    let framing = framing(&found, has_body && !is_interim && code != 204 && code != 304);
    let is_ambiguous = found.has_encoding && found.length.is_some();
    let ends_alone = !matches!(framing, Framing::UntilClose);
    let is_kept = ends_alone && !is_ambiguous && !found.closes && (!is_old || found.keeps);
    Ok(Some(AnswerHead { length, framing, is_kept, is_interim }))
}

fn framing(found: &Found, has_body: bool) -> Framing {
    match found.length {
        _ if !has_body => Framing::Length(0),
        _ if found.is_chunked => Framing::Chunked(Chunks::new()),
        // Whatever encoding it has, its end is not within it.
        _ if found.has_encoding => Framing::UntilClose,
        Some(length) => Framing::Length(length),
        None => Framing::UntilClose,
    }
}

fn find(headers: &[Header<'_>]) -> Result<Found, AnswerFault> {
    let mut found = Found::default();
    for Header { name, value } in headers {
        // Names are told apart by their length first: most are none of these.
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => {
                found.closes |= has_token(value, b"close");
                found.keeps |= has_token(value, b"keep-alive");
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                found.length = Some(content_length(value, found.length)?);
            }
            16 if name.eq_ignore_ascii_case("content-encoding") => found.is_encoded = true,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                found.has_encoding = true;
                // The last of all codings says how the body ends.
                found.is_chunked = tokens(value).last().is_some_and(|last| is_token(last, b"chunked"));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A length that is written once, or several times alike (RFC 9112, section 6.3, rule 5).
fn content_length(value: &[u8], before: Option<u64>) -> Result<u64, AnswerFault> {
    let mut length = before;
    for token in tokens(value) {
        let digits = std::str::from_utf8(token).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let here = digits.and_then(|digits| digits.parse().ok()).ok_or(AnswerFault::Length)?;
        if length.is_some_and(|known| known != here) {
            return Err(AnswerFault::Length);
        }
        length = Some(here);
    }
    length.ok_or(AnswerFault::Length)
}

fn keep(headers: &[Header<'_>], kept: &[HeaderName], into: &mut HeaderMap) {
    if kept.is_empty() {
        return;
    }
    for Header { name, value } in headers {
        let wanted = kept.iter().find(|wanted| name.eq_ignore_ascii_case(wanted.as_str()));
        if let Some(name) = wanted
            && let Ok(value) = HeaderValue::from_bytes(&on_one_line(value))
        {
            into.append(name.clone(), value);
        }
    }
}

/// The value with a space for each line break and the white space around it (RFC 9112 section 5.2).
fn on_one_line(value: &[u8]) -> Cow<'_, [u8]> {
    if !value.contains(&b'\n') {
        return value.into();
    }
    let lines: Vec<&[u8]> = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    lines.join(&b' ').into()
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn has_token(value: &[u8], wanted: &[u8]) -> bool {
    tokens(value).any(|token| is_token(token, wanted))
}

fn is_token(token: &[u8], wanted: &[u8]) -> bool {
    token.eq_ignore_ascii_case(wanted)
}

/// More than any server sends that means well.
pub(super) const MOST_HEADERS: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Result<AnswerHead, AnswerFault> {
        let text = format!("HTTP/{}\r\n\r\n", lines.replace('\n', "\r\n"));
        let head = read(text.as_bytes(), true, &[], &mut Answer::new())?;
        Ok(head.expect("a whole head"))
    }

    fn is_kept(lines: &str) -> bool {
        head(lines).unwrap().is_kept
    }

    #[test]
    fn the_end_of_a_body_is_found_as_the_rfc_says() {
        let ends = |lines: &str| format!("{:?}", head(lines).unwrap().framing);
        assert_eq!(ends("1.1 200 OK\nContent-Length: 7"), "Length(7)");
        assert_eq!(ends("1.1 200 OK\nContent-Length: 7, 7\ncontent-length: 7"), "Length(7)");
        assert_eq!(ends("1.1 200"), "UntilClose");
        assert_eq!(ends("1.1 200 OK\nTransfer-Encoding: gzip"), "UntilClose");
        for empty in ["1.1 204 None\nContent-Length: 7", "1.1 304 Same\nContent-Length: 7", "1.1 100 On"] {
            assert_eq!(ends(empty), "Length(0)", "{empty}");
        }
        for chunked in ["chunked", "Chunked", "gzip, chunked", "gzip\nTransfer-Encoding: chunked"] {
            let lines = format!("1.1 200 OK\nContent-Length: 7\nTransfer-Encoding: {chunked}");
            assert!(matches!(head(&lines).unwrap().framing, Framing::Chunked(_)), "{chunked}");
        }
    }

    #[test]
    fn a_connection_is_kept_where_both_can_tell_the_end() {
        assert!(is_kept("1.1 200 OK\nContent-Length: 0"));
        assert!(is_kept("1.0 200 OK\nContent-Length: 0\nConnection: x, Keep-Alive"));
        for ends in [
            "1.0 200 OK\nContent-Length: 0",
            "1.1 200 OK\nContent-Length: 0\nConnection: keep-alive, close",
            "1.1 200 OK",
            "1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 1",
        ] {
            assert!(!is_kept(ends), "{ends}");
        }
    }

    #[test]
    fn a_line_that_goes_on_is_one_value() {
        let text = b"HTTP/1.1 200 OK\r\nX-A: one,\r\n  two\r\n\tthree\r\nTransfer-Encoding: gzip,\r\n chunked\r\n\r\n";
        let (name, mut answer) = (HeaderName::from_static("x-a"), Answer::new());
        let head = read(text, true, std::slice::from_ref(&name), &mut answer).unwrap().expect("a whole head");
        assert_eq!(answer.headers[name], "one, two three");
        assert!(matches!(head.framing, Framing::Chunked(_)));
    }

    #[test]
    fn more_headers_than_are_read_are_told_as_that() {
        let of = |count: usize| head(&format!("1.1 200 OK{}", "\na: b".repeat(count)));
        assert!(of(MOST_HEADERS).is_ok());
        let refused = of(MOST_HEADERS + 1).err().map(|fault| fault.to_string());
        assert_eq!(refused.as_deref(), Some("its head has more than 128 headers"));
    }

    #[test]
    fn what_is_no_head_is_refused() {
        for wrong in [
            "1.1 200 OK\nContent-Length: -1",
            "1.1 200 OK\nContent-Length: +1",
            "1.1 200 OK\nContent-Length:",
            "1.1 200 OK\nContent-Length: 1\nContent-Length: 2",
            "1.1 200 OK\nContent-Length: 99999999999999999999",
            "1.0 200 OK\nTransfer-Encoding: chunked",
            "1.1 101 Switching",
            "1.1 20 OK",
            "1.1 099 Low",
            "2.0 200 OK",
            "1.1 200 OK\nno colon",
            "1.1 200 OK\nx : y",
        ] {
            assert!(head(wrong).is_err(), "{wrong}");
        }
        assert!(matches!(read(b"HTTP/1.1 200 OK\r\nx:", true, &[], &mut Answer::new()), Ok(None)));
    }

    #[test]
    fn headers_are_kept_where_somebody_asked_for_them() {
        let text = b"HTTP/1.1 200 OK\r\nA: 1\r\nRetry-After: 3\r\na: 2\r\n\r\n";
        let kept = [HeaderName::from_static("a"), http::header::RETRY_AFTER];
        let mut answer = Answer::new();
        read(text, true, &kept, &mut answer).unwrap().unwrap();
        let values: Vec<_> = answer.headers.get_all("a").iter().collect();
        assert_eq!(values, ["1", "2"]);
        assert_eq!(answer.headers["retry-after"], "3");
        let mut none = Answer::new();
        read(text, true, &[], &mut none).unwrap().unwrap();
        assert!(none.headers.is_empty());
    }
}
