//! Lines of bounded length out of bytes that come in pieces.

/// Cuts bytes into lines; of a line that is too long its start is kept.
#[derive(Debug, Default)]
pub(super) struct Lines {
    part: Vec<u8>,
}

impl Lines {
    /// Takes more bytes, and hands on each line that ends in them, without its end.
    pub(super) fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&str)) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        if let Some(first) = pieces.next() {
            self.append(first);
        }
        for piece in pieces {
            self.end(&mut take);
            self.append(piece);
        }
    }

    /// Hands on what came behind the last line's end, if anything did.
    pub(super) fn finish(&mut self, mut take: impl FnMut(&str)) {
        if !self.part.is_empty() {
            self.end(&mut take);
        }
    }

    fn append(&mut self, piece: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.part.len());
        self.part.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn end(&mut self, take: &mut impl FnMut(&str)) {
        take(String::from_utf8_lossy(&self.part).trim_end_matches('\r'));
        self.part.clear();
    }
}

/// Of one line.
const MOST_BYTES: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut all) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.push(piece, |line| all.push(line.to_owned()));
        }
        lines.finish(|line| all.push(line.to_owned()));
        all
    }

    #[test]
    fn a_line_that_comes_in_pieces_is_one() {
        assert_eq!(cut(&[b"mark o", b"om\r\n\n4", b"2"]), ["mark oom", "", "42"]);
        assert_eq!(cut(&[b"a\nb\n"]), ["a", "b"]);
    }

    #[test]
    fn of_a_line_without_an_end_the_start_is_kept_and_the_next_one_is_whole() {
        let long = vec![b'x'; MOST_BYTES];
        let lines = cut(&[&long, &long, b"yes\nnext\n"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (MOST_BYTES, "next"));
        assert!(!lines[0].contains('y'));
    }
}
