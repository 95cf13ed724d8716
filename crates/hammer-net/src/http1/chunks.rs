//! The chunked transfer coding (RFC 9112, section 7.1), read as it comes.

use super::fault::AnswerFault;

/// Where a chunked body stands.
#[derive(Debug)]
pub(super) struct Chunks {
    stage: ChunkStage,
    /// Bytes of the extensions of a chunk, or of the trailers, so far, which are read past.
    passed_over: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkStage {
    /// Before the first digit of a size.
    Size,
    /// Within a size, of which that much is known.
    Digits(u64),
    /// Blanks behind a size.
    Blank(u64),
    Extension(u64),
    /// The line feed behind a size.
    SizeEnd(u64),
    Data(u64),
    /// The carriage return behind a chunk.
    DataEnd,
    /// The line feed behind that.
    DataEndFeed,
    /// At the start of a line of the trailers.
    TrailerStart,
    Trailer,
    /// The line feed behind a trailer.
    TrailerFeed,
    /// The line feed behind the empty line that ends the body.
    LastFeed,
    Ended,
}

impl Chunks {
    pub(super) const fn new() -> Self {
        Self { stage: ChunkStage::Size, passed_over: 0 }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.stage == ChunkStage::Ended
    }

    /// Reads on in `bytes`, and gives data to `take`; returns how many of them belong to the body.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), AnswerFault>,
    ) -> Result<usize, AnswerFault> {
        let mut at = 0;
        while at < bytes.len() && self.stage != ChunkStage::Ended {
            if let ChunkStage::Data(left) = self.stage {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                take(&bytes[at..at + here])?;
                at += here;
                let left = left - here as u64;
                self.stage = if left == 0 { ChunkStage::DataEnd } else { ChunkStage::Data(left) };
            } else {
                self.stage = self.after(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    fn after(&mut self, byte: u8) -> Result<ChunkStage, AnswerFault> {
        if matches!(self.stage, ChunkStage::Extension(_) | ChunkStage::Trailer | ChunkStage::TrailerStart) {
            self.passed_over += 1;
            if self.passed_over > MOST_PASSED_OVER {
                return Err(AnswerFault::LongTrailers);
            }
        }
        Ok(match (self.stage, byte) {
            (ChunkStage::Size, _) => ChunkStage::Digits(digit(byte).ok_or(AnswerFault::Chunk)?),
            (ChunkStage::Digits(size), _) if digit(byte).is_some() => {
                let digit = digit(byte).unwrap_or_default();
                let size = size.checked_mul(16).and_then(|size| size.checked_add(digit));
                ChunkStage::Digits(size.ok_or(AnswerFault::Chunk)?)
            }
            (ChunkStage::Digits(size) | ChunkStage::Blank(size), b' ' | b'\t') => ChunkStage::Blank(size),
            (ChunkStage::Digits(size) | ChunkStage::Blank(size), b';') => ChunkStage::Extension(size),
            (ChunkStage::Digits(size) | ChunkStage::Blank(size) | ChunkStage::Extension(size), b'\r') => {
                ChunkStage::SizeEnd(size)
            }
            // A line feed alone ends a line for some, and for others what follows is still an extension.
            (ChunkStage::Extension(size), byte) if byte != b'\n' => ChunkStage::Extension(size),
            (ChunkStage::SizeEnd(0), b'\n') => ChunkStage::TrailerStart,
            (ChunkStage::SizeEnd(size), b'\n') => {
                // A signature behind each of many chunks is no extension without end.
                self.passed_over = 0;
                ChunkStage::Data(size)
            }
            (ChunkStage::DataEnd, b'\r') => ChunkStage::DataEndFeed,
            (ChunkStage::DataEndFeed, b'\n') => ChunkStage::Size,
            (ChunkStage::TrailerStart, b'\r') => ChunkStage::LastFeed,
            (ChunkStage::TrailerStart | ChunkStage::Trailer, byte) if byte != b'\r' && byte != b'\n' => {
                ChunkStage::Trailer
            }
            (ChunkStage::Trailer, b'\r') => ChunkStage::TrailerFeed,
            (ChunkStage::TrailerFeed, b'\n') => ChunkStage::TrailerStart,
            (ChunkStage::LastFeed, b'\n') => ChunkStage::Ended,
            _ => return Err(AnswerFault::Chunk),
        })
    }
}

fn digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

/// Of the extensions of a chunk, and of an answer's trailers; nobody asks for them.
const MOST_PASSED_OVER: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of a chunked body, and what is left behind it, however it is cut.
    fn read(bytes: &[u8], step: usize) -> Result<(Vec<u8>, bool, usize), AnswerFault> {
        let (mut chunks, mut data, mut used) = (Chunks::new(), Vec::new(), 0);
        for part in bytes.chunks(step) {
            let take = |part: &[u8]| {
                data.extend_from_slice(part);
                Ok(())
            };
            let here = chunks.read(part, take)?;
            used += here;
            if here < part.len() {
                break;
            }
        }
        Ok((data, chunks.has_ended(), bytes.len() - used))
    }

    #[test]
    fn chunks_are_put_together_however_they_are_cut() {
        let body = b"4\r\nWiki\r\n5 ;a=\"b\"\r\npedia\r\n00A\r\n in chunks\r\n0\r\nx: y\r\nz:\r\n\r\nrest";
        for step in 1..body.len() {
            let whole = (b"Wikipedia in chunks".to_vec(), true);
            let (data, has_ended, left) = read(body, step).unwrap();
            assert_eq!(((data, has_ended), left), (whole, 4), "by {step}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for wrong in [
            "x\r\n",
            "\r\n",
            " 1\r\n",
            "-1\r\n",
            "0x1\r\n",
            "1\nab",
            "1\rab",
            "1\r\nab\r\n",
            "1\r\na\n",
            "fffffffffffffffff\r\n",
            "0\r\n\n",
            "0\r\nx\n\r\n",
            "1;a\nb",
        ] {
            assert!(read(wrong.as_bytes(), 1).is_err(), "{wrong:?}");
            assert!(read(wrong.as_bytes(), 64).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_body_without_its_last_chunk_has_not_ended() {
        for part in ["", "1", "1\r\n", "1\r\na", "1\r\na\r\n", "1\r\na\r\n0\r\n", "1\r\na\r\n0\r\n\r"] {
            assert!(!read(part.as_bytes(), 64).unwrap().1, "{part:?}");
        }
    }

    #[test]
    fn each_of_many_chunks_may_have_an_extension() {
        let chunk = format!("1;chunk-signature={}\r\na\r\n", "0".repeat(64));
        let (data, has_ended, _) = read((chunk.repeat(1000) + "0\r\n\r\n").as_bytes(), 999).unwrap();
        assert!(data.len() == 1000 && has_ended);
    }

    #[test]
    fn extensions_and_trailers_are_bounded() {
        let long = "a".repeat(MOST_PASSED_OVER + 2);
        for endless in [format!("1;{long}"), format!("0\r\nx: {long}")] {
            assert!(matches!(read(endless.as_bytes(), 999), Err(AnswerFault::LongTrailers)));
        }
    }
}
