//! Compressed answers: what `Content-Encoding` stands for (RFC 9110 section 8.4.1), within bounds.

use std::io::{self, BufReader, Cursor, Read, Seek};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};

use crate::failure::{Failure, FailureKind};
use crate::request::{Answer, BodySink, Request};

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
    /// byte counts stay those of what was transferred. Who asks for gzip may be answered in deflate by what stands between: it is
    /// understood.
    ///
    /// # Errors
    /// [`FailureKind::TooLarge`] beyond the limit, and [`FailureKind::Protocol`] for what is not what it says it is,
    /// or for any other encoding, which nobody asked for. The body then stays as it is.
    pub fn decode(&mut self, limit: usize) -> Result<(), Failure> {
        if self.is_deflate() {
            self.inflate(limit)?;
        } else if self.is_gzip()? {
            self.body = gunzip(&self.body, limit)?;
            self.headers.remove(CONTENT_ENCODING);
        }
        Ok(())
    }

    /// Replaces the body of a success by what it stands for, where the server encoded it though `request` does not say that it takes any
    /// encoding: it may (RFC 9110 section 12.5.3). Beyond `limit` bytes it is too large.
    ///
    /// # Errors
    /// [`FailureKind::TooLarge`], and [`FailureKind::Encoding`] for what cannot be decoded.
    pub(crate) fn decode_unasked(&mut self, request: &Request, limit: usize) -> Result<(), Failure> {
        if !self.headers.contains_key(CONTENT_ENCODING) {
            return Ok(());
        }
        let is_asked = request.headers.contains_key(ACCEPT_ENCODING);
        if is_asked
            || !matches!(request.sink, BodySink::Keep | BodySink::Spill)
            || (self.body.is_empty() && self.file.is_none())
            || !self.status.is_success()
        {
            return Ok(());
        }
        let decoded = match request.sink {
            BodySink::Spill => self.decode_spilled(limit),
            _ => self.decode(limit),
        };
        decoded.map_err(|failure| match failure.kind {
            FailureKind::Protocol => Failure { kind: FailureKind::Encoding, ..failure },
            _ => failure,
        })
    }

    /// The same of a body that goes to a file where it is large, encoded or not.
    fn decode_spilled(&mut self, limit: usize) -> Result<(), Failure> {
        let is_deflate = self.is_deflate();
        if !is_deflate && !self.is_gzip()? {
            return Ok(());
        }
        let mut encoded: Box<dyn ReadSeek> = match self.file.take() {
            Some(file) => Box::new(file),
            None => Box::new(Cursor::new(std::mem::take(&mut self.body))),
        };
        let from_start = |encoded: &mut Box<dyn ReadSeek>| encoded.rewind().map_err(|why| unkept(&why));
        from_start(&mut encoded)?;
        let decoded = match is_deflate {
            true => self.spill_all(ZlibDecoder::new(&mut encoded), "deflate", limit),
            false => self.spill_all(MultiGzDecoder::new(BufReader::new(&mut encoded)), GZIP, limit),
        };
        match decoded {
            Err(Failure { kind: FailureKind::Protocol, .. }) if is_deflate => {
                from_start(&mut encoded)?;
                self.spill_all(DeflateDecoder::new(&mut encoded), "deflate", limit)?;
            }
            decoded => decoded?,
        }
        self.headers.remove(CONTENT_ENCODING);
        Ok(())
    }

    /// Takes all that `decoder` of that encoding reads as the body, of at most `limit` bytes.
    fn spill_all(&mut self, mut decoder: impl Read, encoding: &str, limit: usize) -> Result<(), Failure> {
        (self.body, self.file) = (Vec::new(), None);
        let (mut piece, mut taken) = (vec![0; 64 << 10], 0);
        loop {
            let read = decoder.read(&mut piece);
            let length = read.map_err(|error| undecodable(encoding, &error))?;
            taken += length;
            match length {
                0 => return Ok(()),
                _ if taken > limit => return Err(too_large(encoding, limit)),
                _ => self.spill(&piece[..length]).map_err(|why| unkept(&why))?,
            }
        }
    }

    fn is_deflate(&self) -> bool {
        let encoding = self.headers.get(CONTENT_ENCODING);
        encoding.is_some_and(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"deflate"))
    }

    /// Some send the format of zlib, as they have to (RFC 9110 section 8.4.1.2), and some what stands in it.
    fn inflate(&mut self, limit: usize) -> Result<(), Failure> {
        let whole = plain(ZlibDecoder::new(self.body.as_slice()), "deflate", limit);
        self.body = match whole {
            Err(Failure { kind: FailureKind::Protocol, .. }) => {
                plain(DeflateDecoder::new(self.body.as_slice()), "deflate", limit)?
            }
            whole => whole?,
        };
        self.headers.remove(CONTENT_ENCODING);
        Ok(())
    }

    /// Whether the body is compressed with gzip, in which it stays for whoever reads it later; one in deflate is decoded, of at most
    /// `limit` bytes.
    ///
    /// # Errors
    /// [`FailureKind::TooLarge`] beyond the limit, [`FailureKind::Protocol`] for any other encoding.
    pub fn gzip_or_plain(&mut self, limit: usize) -> Result<bool, Failure> {
        if self.is_deflate() {
            self.inflate(limit)?;
        }
        self.is_gzip()
    }

    fn is_gzip(&self) -> Result<bool, Failure> {
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
    plain(MultiGzDecoder::new(bytes), GZIP, limit)
}

/// All that `decoder` of that encoding reads, of at most `limit` bytes.
fn plain(decoder: impl Read, encoding: &str, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut plain = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut plain).map_err(|why| undecodable(encoding, &why))?;
    if plain.len() > limit {
        return Err(too_large(encoding, limit));
    }
    Ok(plain)
}

/// What can be read again.
trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

fn undecodable(encoding: &str, why: &io::Error) -> Failure {
    Failure::new(FailureKind::Protocol, format!("decode {encoding}: {why}"))
}

fn too_large(encoding: &str, limit: usize) -> Failure {
    let detail = format!("decode {encoding}: it stands for more than {limit} bytes");
    Failure::new(FailureKind::TooLarge, detail)
}

fn unkept(why: &io::Error) -> Failure {
    Failure::new(FailureKind::Unkept, format!("keep the answer in a file: {why}"))
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
    use flate2::write::{GzEncoder, ZlibEncoder};

    use http::uri::PathAndQuery;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
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
            (Some("deflate"), zlib(&plain)),
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
    fn what_nobody_asked_to_be_encoded_is_decoded_whichever_way_it_came() {
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(b"an answer").unwrap();
        let whole = gzip(b"an answer");
        let request = Request::get(PathAndQuery::from_static("/"));
        let ways = [
            ("gzip", whole.clone()),
            ("x-gzip", whole.clone()),
            ("Deflate", zlib(b"an answer")),
            ("deflate", bare.finish().unwrap()),
            ("identity", b"an answer".to_vec()),
        ];
        for (encoding, body) in ways {
            let mut answer = answer(Some(encoding), body);
            answer.decode_unasked(&request, 9).unwrap();
            assert_eq!(answer.body, b"an answer", "{encoding}");
        }
        let mut kept = answer(Some("gzip"), whole.clone());
        kept.decode_unasked(&request.clone().accept_gzip(), 9).unwrap();
        assert_eq!(kept.body, whole, "whoever asks decodes it when it suits");
        let fails = |encoding, body: &[u8], limit| {
            let mut answer = answer(Some(encoding), body.to_vec());
            answer.decode_unasked(&request, limit).unwrap_err().kind
        };
        assert_eq!(fails("gzip", &whole, 8), FailureKind::TooLarge);
        assert_eq!(fails("gzip", b"plain", 9), FailureKind::Encoding);
        assert_eq!(fails("deflate", b"plain", 9), FailureKind::Encoding);
        assert_eq!(fails("br", b"plain", 9), FailureKind::Encoding);
        let mut refused = answer(Some("br"), b"plain".to_vec());
        refused.status = http::StatusCode::BAD_REQUEST;
        refused.decode_unasked(&request, 9).unwrap();
    }

    /// Encoded or not, it goes to a file where it is larger than what is kept in memory.
    #[test]
    fn what_goes_to_a_file_is_decoded_on_its_way() {
        let large: Vec<u8> =
            (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let request = Request { sink: BodySink::Spill, ..Request::get(PathAndQuery::from_static("/")) };
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(&large).unwrap();
        let ways = [("gzip", gzip(&large)), ("deflate", zlib(&large)), ("deflate", bare.finish().unwrap())];
        for (encoding, body) in ways {
            for is_in_file in [true, false] {
                let came = || {
                    let mut answer = answer(Some(encoding), body.clone());
                    if is_in_file {
                        let mut file = tempfile::tempfile().unwrap();
                        file.write_all(&std::mem::take(&mut answer.body)).unwrap();
                        answer.file = Some(file);
                    }
                    answer
                };
                let too_large = came().decode_unasked(&request, large.len() - 1).unwrap_err();
                assert_eq!(too_large.kind, FailureKind::TooLarge);
                let mut answer = came();
                answer.decode_unasked(&request, large.len()).unwrap();
                let (mut file, mut decoded) = (answer.file.unwrap(), Vec::new());
                file.rewind().and_then(|()| file.read_to_end(&mut decoded)).unwrap();
                assert!(answer.body.is_empty() && decoded == large, "{encoding} {is_in_file}");
            }
        }
        let mut small = answer(Some("gzip"), gzip(b"an answer"));
        small.decode_unasked(&request, 9).unwrap();
        assert_eq!((small.body.as_slice(), small.file.is_none()), (b"an answer".as_slice(), true));
        let mut broken = answer(Some("gzip"), b"plain".to_vec());
        assert_eq!(broken.decode_unasked(&request, 9).unwrap_err().kind, FailureKind::Encoding);
    }

    #[test]
    fn another_encoding_is_a_protocol_error() {
        assert_eq!(answer(Some("br"), Vec::new()).decode(9).unwrap_err().kind, FailureKind::Protocol);
    }
}
