//! Compressed answers: what `Content-Encoding: gzip` stands for (RFC 9110 section 8.4.1.3), within bounds.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};

use crate::failure::{Failure, FailureKind};
use crate::request::{Answer, Request};

impl Request {
    /// The same request, which takes an answer that is compressed with gzip; [`Answer::decode`] reads it.
    #[must_use]
    pub fn accept_gzip(mut self) -> Self {
        self.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(GZIP));
        self.keep_header(CONTENT_ENCODING)
    }
}

impl Answer {
    /// Replaces a compressed body by what it stands for, of at most `limit` bytes; any other stays as it is. The wire's
    /// byte counts stay those of what was transferred.
    ///
    /// # Errors
    /// [`FailureKind::TooLarge`] beyond the limit, and [`FailureKind::Protocol`] for what is not gzip although it says so,
    /// or for any other encoding, which nobody asked for. The body then stays as it is.
    pub fn decode(&mut self, limit: usize) -> Result<(), Failure> {
        if self.is_gzip()? {
            self.body = gunzip(&self.body, limit)?;
            self.headers.remove(CONTENT_ENCODING);
        }
        Ok(())
    }

    /// Whether the body is compressed with gzip.
    ///
    /// # Errors
    /// [`FailureKind::Protocol`] for any other encoding.
    pub fn is_gzip(&self) -> Result<bool, Failure> {
        match self.headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().trim_ascii()) {
            None => Ok(false),
            Some(value) if value.is_empty() || value.eq_ignore_ascii_case(b"identity") => Ok(false),
            Some(value)
                if [GZIP.as_bytes(), b"x-gzip"].iter().any(|name| value.eq_ignore_ascii_case(name)) =>
            {
                Ok(true)
            }
            Some(value) => {
                let detail = format!("decode an answer in {}", value.escape_ascii());
                Err(Failure::new(FailureKind::Protocol, detail))
            }
        }
    }
}

/// What gzip members stand for, of at most `limit` bytes: a few compressed bytes can stand for any number.
///
/// # Errors
/// [`FailureKind::TooLarge`] beyond the limit, [`FailureKind::Protocol`] for what is not whole members of gzip.
pub fn gunzip(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let mut plain = Vec::with_capacity(bytes.len().saturating_mul(3).min(limit));
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(bytes)
        .take(most)
        .read_to_end(&mut plain)
        .map_err(|why| Failure::new(FailureKind::Protocol, format!("decode gzip: {why}")))?;
    if plain.len() > limit {
        let detail = format!("decode gzip: it stands for more than {limit} bytes");
        return Err(Failure::new(FailureKind::TooLarge, detail));
    }
    Ok(plain)
}

/// The first `limit` bytes of what gzip members stand for, or as many as can be decoded.
pub fn gunzip_start(bytes: &[u8], limit: usize) -> Vec<u8> {
    let mut plain = Vec::new();
    // What was decoded before the fault stays.
    let _ = MultiGzDecoder::new(bytes).take(u64::try_from(limit).unwrap_or(u64::MAX)).read_to_end(&mut plain);
    plain
}

const GZIP: &str = "gzip";

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn answer(encoding: Option<&'static str>, body: Vec<u8>) -> Answer {
        let mut answer = Answer::new();
        answer.body = body;
        if let Some(encoding) = encoding {
            answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        answer
    }

    #[test]
    fn a_body_is_decoded_where_the_header_says_gzip() {
        let plain = b"tile".repeat(100);
        for (encoding, body) in [
            (Some("gzip"), gzip(&plain)),
            (Some("X-Gzip"), gzip(&plain)),
            (Some("identity"), plain.clone()),
            (None, plain.clone()),
        ] {
            let mut answer = answer(encoding, body);
            answer.decode(400).unwrap();
            assert_eq!(answer.body, plain, "{encoding:?}");
            answer.decode(400).unwrap();
            assert_eq!(answer.body, plain, "decoded twice");
        }
    }

    #[test]
    fn members_in_a_row_stand_for_one_body() {
        assert_eq!(gunzip(&[gzip(b"one "), gzip(b"two")].concat(), 7).unwrap(), b"one two");
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let bomb = gzip(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        assert_eq!(gunzip(&bomb, 1 << 20).unwrap_err().kind, FailureKind::TooLarge);
        assert_eq!(gunzip(&bomb, 10 << 20).unwrap().len(), 10 << 20);
        assert_eq!(gunzip_start(&bomb, 1000), vec![0; 1000]);
        assert_eq!(gunzip_start(b"plain", 1000), b"");
    }

    #[test]
    fn what_is_not_whole_gzip_is_a_protocol_error() {
        let whole = gzip(b"a tile of the log");
        let mut altered = whole.clone();
        altered[whole.len() - 6] ^= 1;
        let cut = whole[..whole.len() - 1].to_vec();
        for body in [altered, cut, [&whole[..], b"rest"].concat(), b"plain".to_vec(), Vec::new()] {
            let mut answer = answer(Some("gzip"), body.clone());
            assert_eq!(answer.decode(1000).unwrap_err().kind, FailureKind::Protocol, "{body:?}");
            assert_eq!(answer.body, body);
        }
    }

    #[test]
    fn another_encoding_is_a_protocol_error() {
        assert_eq!(answer(Some("br"), Vec::new()).decode(9).unwrap_err().kind, FailureKind::Protocol);
    }
}
