//! An answer, read as its bytes come in, without I/O.

use http::Method;

use super::fault::AnswerFault;
use super::head::{self, Framing};
use crate::request::{Answer, MOST_HEAD, NotTaken, Request};

/// Where an answer stands.
pub(super) struct AnswerReader {
    stage: AnswerStage,
    /// The start of a head that did not come whole.
    partial_head: Vec<u8>,
    /// Bytes of heads so far: those that announce the answer count, too.
    head_bytes: usize,
    has_body: bool,
    limit: usize,
    is_kept: bool,
}

enum AnswerStage {
    Head,
    Body(Framing),
    Whole,
}

/// How the end of the connection finds an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtClose {
    /// The close is its end.
    Whole,
    /// No byte of it was there.
    Absent,
    /// There is more of it to come.
    Truncated,
}

impl AnswerReader {
    /// The reader of an answer to `request`, whose body may have `limit` bytes.
    pub(super) fn new(request: &Request, limit: usize) -> Self {
        Self {
            stage: AnswerStage::Head,
            partial_head: Vec::new(),
            head_bytes: 0,
            has_body: request.method != Method::HEAD,
            limit: request.limit.unwrap_or(limit),
            is_kept: false,
        }
    }

    /// Reads on in `bytes`. Whatever is left of them once the answer is whole is no part of it, and the connection is not kept.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        request: &Request,
        answer: &mut Answer,
    ) -> Result<(), AnswerFault> {
        while !bytes.is_empty() {
            bytes = match &mut self.stage {
                AnswerStage::Head => self.read_head(bytes, request, answer)?,
                AnswerStage::Body(framing) => {
                    let (used, is_whole) = read_body(framing, bytes, request, answer, self.limit)?;
                    if is_whole {
                        self.stage = AnswerStage::Whole;
                    }
                    &bytes[used..]
                }
                AnswerStage::Whole => {
                    self.is_kept = false;
                    return Ok(());
                }
            };
        }
        Ok(())
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self.stage, AnswerStage::Whole)
    }

    /// Whether the connection can serve another request, as far as the answer says.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The start of the head that is being read, where it did not come whole; else of the bytes that came `last`.
    pub(super) fn start_of<'a>(&'a self, last: &'a [u8]) -> &'a [u8] {
        if self.partial_head.is_empty() { last } else { &self.partial_head }
    }

    /// The connection ends here.
    pub(super) fn closed(&self) -> AtClose {
        match &self.stage {
            AnswerStage::Whole | AnswerStage::Body(Framing::UntilClose) => AtClose::Whole,
            AnswerStage::Head if self.head_bytes == 0 && self.partial_head.is_empty() => AtClose::Absent,
            AnswerStage::Head | AnswerStage::Body(_) => AtClose::Truncated,
        }
    }

    /// Returns what of `bytes` is behind the head.
    fn read_head<'a>(
        &mut self,
        bytes: &'a [u8],
        request: &Request,
        answer: &mut Answer,
    ) -> Result<&'a [u8], AnswerFault> {
        let (before, mut skipped) = (self.partial_head.len(), 0);
        let found = if before == 0 {
            head::read(bytes, self.has_body, &request.kept_headers, answer)?
        } else {
            self.partial_head.extend_from_slice(bytes);
            skipped = self.skip_blank_lines();
            // Read anew only where it may be whole: who sends a byte at a time must not cost the square of the head.
            match has_end(&self.partial_head, before.saturating_sub(skipped)) {
                true => head::read(&self.partial_head, self.has_body, &request.kept_headers, answer)?,
                false => None,
            }
        };
        let Some(head) = found else {
            if before == 0 {
                self.partial_head.extend_from_slice(bytes);
                self.skip_blank_lines();
            }
            return match self.head_bytes + self.partial_head.len() > MOST_HEAD {
                true => Err(AnswerFault::LongHead),
                false => Ok(&[]),
            };
        };
        self.partial_head.clear();
        self.head_bytes += head.length;
        if self.head_bytes > MOST_HEAD {
            return Err(AnswerFault::LongHead);
        }
        let rest = &bytes[head.length + skipped - before..];
        if head.is_interim {
            return Ok(rest);
        }
        self.is_kept = head.is_kept;
        self.stage = match head.framing {
            Framing::Length(0) => AnswerStage::Whole,
            Framing::Length(length) if length > self.limit as u64 => {
                return Err(NotTaken::TooLarge(self.limit).into());
            }
            framing => AnswerStage::Body(framing),
        };
        Ok(rest)
    }

    /// Drops the blank lines that a head may have before it (RFC 9112 section 2.2), and says of how many bytes they are: each would look like the
    /// end of a head, for which all of them were read anew.
    fn skip_blank_lines(&mut self) -> usize {
        let mut rest = &self.partial_head[..];
        while let [b'\n', behind @ ..] | [b'\r', b'\n', behind @ ..] = rest {
            rest = behind;
        }
        let skipped = self.partial_head.len() - rest.len();
        self.partial_head.drain(..skipped);
        self.head_bytes += skipped;
        skipped
    }
}

/// Returns how many of `bytes` belong to the body, and whether it is whole then.
fn read_body(
    framing: &mut Framing,
    bytes: &[u8],
    request: &Request,
    answer: &mut Answer,
    limit: usize,
) -> Result<(usize, bool), AnswerFault> {
    match framing {
        Framing::Length(left) => {
            let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
            take(answer, request, &bytes[..here], limit)?;
            *left -= here as u64;
            Ok((here, *left == 0))
        }
        Framing::Chunked(chunks) => {
            let used = chunks.read(bytes, |data| take(answer, request, data, limit))?;
            Ok((used, chunks.has_ended()))
        }
        Framing::UntilClose => {
            take(answer, request, bytes, limit)?;
            Ok((bytes.len(), false))
        }
    }
}

fn take(answer: &mut Answer, request: &Request, data: &[u8], limit: usize) -> Result<(), AnswerFault> {
    Ok(answer.take(request.sink, data, limit)?)
}

/// Whether an empty line ends somewhere behind the first `before` bytes.
fn has_end(head: &[u8], before: usize) -> bool {
    let from = before.saturating_sub(3);
    head[from..].windows(2).any(|pair| pair == b"\n\n")
        || head[from..].windows(3).any(|three| three == b"\n\r\n")
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};

    use super::*;
    use crate::request::BodySink;

    fn request() -> Request {
        Request::get(http::uri::PathAndQuery::from_static("/"))
    }

    /// What is read of `bytes`, given in pieces of `step`.
    fn read(bytes: &[u8], step: usize, request: &Request) -> Result<(AnswerReader, Answer), AnswerFault> {
        let (mut reader, mut answer) = (AnswerReader::new(request, 64), Answer::new());
        for part in bytes.chunks(step) {
            reader.feed(part, request, &mut answer)?;
        }
        Ok((reader, answer))
    }

    #[test]
    fn blank_lines_ahead_of_a_head_are_not_kept_and_have_their_bound() {
        for lines in ["\n", "\r\n"] {
            let (mut reader, mut answer) = (AnswerReader::new(&request(), 64), Answer::new());
            let fed = (0..=MOST_HEAD).try_for_each(|at| {
                let line = lines.as_bytes();
                reader.feed(&line[at % line.len()..][..1], &request(), &mut answer)?;
                assert!(reader.partial_head.len() < 2);
                Ok::<(), AnswerFault>(())
            });
            assert!(matches!(fed, Err(AnswerFault::LongHead)), "{lines:?}");
        }
        // Which is no blank line.
        assert!(read(b"\r\rHTTP/1.1 200 OK\r\n\r\n", 1, &request()).is_err());
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n";
        for (bytes, is_kept) in [
            (format!("{interim}HTTP/1.1 201 Made\r\ncontent-length: 4\r\n\r\nbody"), true),
            ("HTTP/1.1 201 Made\ntransfer-encoding: chunked\n\n4\r\nbody\r\n0\r\n\r\n".to_owned(), true),
            ("HTTP/1.1 201 Made\r\ncontent-length: 4\r\n\r\nbodyx".to_owned(), false),
            ("\n\r\n\nHTTP/1.1 201 Made\r\ncontent-length: 4\r\n\r\nbody".to_owned(), true),
        ] {
            for step in 1..=bytes.len() {
                let (reader, answer) = read(bytes.as_bytes(), step, &request()).unwrap();
                assert!(reader.is_whole() && reader.is_kept() == is_kept, "{bytes:?} by {step}");
                assert_eq!((answer.status.as_u16(), &*answer.body), (201, &b"body"[..]));
            }
        }
    }

    #[test]
    fn a_close_ends_an_answer_without_a_length_and_truncates_any_other() {
        for (bytes, at_close) in [
            ("", AtClose::Absent),
            ("H", AtClose::Truncated),
            ("HTTP/1.1 100 Continue\r\n\r\n", AtClose::Truncated),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no", AtClose::Truncated),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n", AtClose::Truncated),
            ("HTTP/1.1 200 OK\r\n\r\n", AtClose::Whole),
            ("HTTP/1.1 200 OK\r\n\r\nok", AtClose::Whole),
        ] {
            assert_eq!(read(bytes.as_bytes(), 64, &request()).unwrap().0.closed(), at_close, "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let head = Request { method: Method::HEAD, ..request() };
        let (reader, answer) = read(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n", 64, &head).unwrap();
        assert!(reader.is_whole() && reader.is_kept() && answer.body.is_empty());
    }

    #[test]
    fn heads_and_bodies_are_bounded() {
        let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(MOST_HEAD));
        let hints = "HTTP/1.1 103 Hints\r\n\r\n".repeat(MOST_HEAD / 20);
        for bytes in [long, hints] {
            assert!(matches!(read(bytes.as_bytes(), 16 << 10, &request()), Err(AnswerFault::LongHead)));
        }
        let body = "x".repeat(65);
        for bytes in [
            format!("HTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n{body}"),
            format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n41\r\n{body}\r\n0\r\n\r\n"),
        ] {
            let refused = read(bytes.as_bytes(), 7, &request()).err();
            assert!(
                matches!(refused, Some(AnswerFault::Body(NotTaken::TooLarge(64)))),
                "{bytes}: {refused:?}"
            );
            let allowed = Request { limit: Some(65), ..request() };
            assert!(read(bytes.as_bytes(), 7, &allowed).is_ok(), "{bytes}");
        }
    }

    #[test]
    fn a_large_body_goes_to_a_file_and_a_small_one_does_not() {
        let request = Request { sink: BodySink::Spill, limit: Some(4 << 20), ..request() };
        for length in [0, 3, 1 << 20, (1 << 20) + 1, 3 << 20] {
            let body: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut bytes = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n").into_bytes();
            bytes.extend_from_slice(&body);
            let (reader, mut answer) = read(&bytes, 100_000, &request).unwrap();
            assert!(reader.is_whole() && answer.body_length == length);
            let Some(file) = &mut answer.file else {
                assert!(length <= 1 << 20 && answer.body == body);
                continue;
            };
            let mut kept = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut kept)).unwrap();
            assert!(length > 1 << 20 && answer.body.is_empty() && kept == body);
            answer.reset();
            assert!(answer.file.is_none());
        }
    }
}
