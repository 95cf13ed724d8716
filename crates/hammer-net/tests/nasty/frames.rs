//! Frames of HTTP/2 (RFC 9113, sections 4 and 6), written and read by hand, so that a server can say any of them at any time.

/// Frame types (section 6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const CONTINUATION: u8 = 9;

/// END_STREAM of DATA and HEADERS, and ACK of SETTINGS and PING.
pub(crate) const END: u8 = 1;
/// END_HEADERS.
pub(crate) const END_HEADERS: u8 = 4;

/// REFUSED_STREAM (section 7).
pub(crate) const REFUSED: u32 = 7;

/// SETTINGS_MAX_CONCURRENT_STREAMS (section 6.5.2).
const MOST_STREAMS: u16 = 3;

/// The highest stream there can be.
pub(crate) const LAST_STREAM: u32 = (1 << 31) - 1;

/// One frame.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Whether it has that flag.
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Its last stream, if it is GOAWAY.
    pub(crate) fn last_stream(&self) -> Option<u32> {
        (self.kind == GOAWAY).then(|| number(&self.payload[..4]))
    }

    /// How many streams it allows, if it is SETTINGS and says so.
    pub(crate) fn most_streams(&self) -> Option<u32> {
        let entries = self.payload.chunks_exact(6).filter(|_| self.kind == SETTINGS && !self.has(END));
        let of_streams = |entry: &&[u8]| u16::from_be_bytes([entry[0], entry[1]]) == MOST_STREAMS;
        entries.filter(of_streams).map(|entry| number(&entry[2..])).next_back()
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

/// The first frame of `buffer`, taken from it once it is whole.
pub(crate) fn take(buffer: &mut Vec<u8>) -> Option<Frame> {
    let (head, rest) = buffer.split_at_checked(9)?;
    let length = number(&head[..3]) as usize;
    let payload = rest.get(..length)?.to_vec();
    let frame = Frame { kind: head[3], flags: head[4], stream: number(&head[5..9]) & LAST_STREAM, payload };
    buffer.drain(..9 + length);
    Some(frame)
}

/// A frame in bytes.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// SETTINGS without a word.
pub(crate) fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, b"")
}

/// SETTINGS that allow so many streams.
pub(crate) fn allow(streams: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&MOST_STREAMS.to_be_bytes()[..], &streams.to_be_bytes()].concat())
}

/// GOAWAY without an error.
pub(crate) fn go_away(last: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), 0_u32.to_be_bytes()].concat())
}

/// RST_STREAM.
pub(crate) fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

/// HEADERS of `block`.
pub(crate) fn headers(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, block)
}

/// DATA, the last of its stream if `is_last`.
pub(crate) fn data(stream: u32, bytes: &[u8], is_last: bool) -> Vec<u8> {
    frame(DATA, u8::from(is_last), stream, bytes)
}

/// `:status`, a literal of the static table's name 8 (RFC 7541, section 6.2.2).
pub(crate) fn status(status: &str) -> Vec<u8> {
    field(8, status)
}

/// `content-length`, of the static table's name 28.
pub(crate) fn content_length(length: usize) -> Vec<u8> {
    field(28, &length.to_string())
}

/// A field without indexing, whose name is in the static table.
fn field(name: u8, value: &str) -> Vec<u8> {
    let index = if name < 15 { vec![name] } else { vec![15, name - 15] };
    [&index[..], &[u8::try_from(value.len()).unwrap()], value.as_bytes()].concat()
}

/// A field without indexing, with a name of up to 126 bytes and any value.
pub(crate) fn literal(name: &str, value: &[u8]) -> Vec<u8> {
    let mut length = vec![127];
    let mut rest = value.len().saturating_sub(127);
    while rest >= 128 {
        length.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    length.push(u8::try_from(rest).unwrap());
    let length = if value.len() < 127 { vec![u8::try_from(value.len()).unwrap()] } else { length };
    [&[0, u8::try_from(name.len()).unwrap()], name.as_bytes(), &length, value].concat()
}
