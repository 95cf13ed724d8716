//! CBOR (RFC 8949) as it is written here: definite lengths, each head in as few bytes as it takes.

/// Appends data items to a buffer, in the order in which they are called for. An array or a map says how many items follow; that they do
/// is its caller's.
#[derive(Debug)]
pub struct CborWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> CborWriter<'a> {
    /// A writer to the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// An integer.
    pub fn int(&mut self, number: i64) {
        match u64::try_from(number) {
            Ok(number) => self.head(UNSIGNED, number),
            Err(_) => self.head(NEGATIVE, !number as u64),
        }
    }

    /// A byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.head(BYTES, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// A text string.
    pub fn text(&mut self, text: &str) {
        self.head(TEXT, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// The head of an array of so many items.
    pub fn array(&mut self, items: usize) {
        self.head(ARRAY, items as u64);
    }

    /// The head of a map of so many pairs.
    pub fn map(&mut self, pairs: usize) {
        self.head(MAP, pairs as u64);
    }

    /// The head of a tag, which the next item has.
    pub fn tag(&mut self, number: u64) {
        self.head(TAG, number);
    }

    /// A byte string of what `write` writes.
    pub fn embedded(&mut self, write: impl FnOnce(&mut CborWriter<'_>)) {
        let start = self.out.len();
        write(&mut CborWriter::new(self.out));
        let content = self.out.len() - start;
        self.head(BYTES, content as u64);
        // The head is known last, and stands first.
        self.out[start..].rotate_left(content);
    }

    fn head(&mut self, major: u8, argument: u64) {
        let major = major << 5;
        let bytes = argument.to_be_bytes();
        let (additional, from) = match argument {
            0..24 => return self.out.push(major | argument as u8),
            24..0x100 => (24, 7),
            0x100..0x1_0000 => (25, 6),
            0x1_0000..0x1_0000_0000 => (26, 4),
            _ => (27, 0),
        };
        self.out.push(major | additional);
        self.out.extend_from_slice(&bytes[from..]);
    }
}

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;

#[cfg(test)]
mod tests {
    use ciborium::Value;

    use super::*;

    fn written(write: impl FnOnce(&mut CborWriter<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut CborWriter::new(&mut out));
        out
    }

    /// RFC 8949, appendix A.
    #[test]
    fn heads_are_as_short_as_they_can_be() {
        for (number, bytes) in [
            (0, &[0x00][..]),
            (23, &[0x17]),
            (24, &[0x18, 0x18]),
            (255, &[0x18, 0xff]),
            (1_000, &[0x19, 0x03, 0xe8]),
            (1_000_000, &[0x1a, 0x00, 0x0f, 0x42, 0x40]),
            (1_000_000_000_000, &[0x1b, 0x00, 0x00, 0x00, 0xe8, 0xd4, 0xa5, 0x10, 0x00]),
            (-1, &[0x20]),
            (-100, &[0x38, 0x63]),
            (-1_000, &[0x39, 0x03, 0xe7]),
            (i64::MIN, &[0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(written(|cbor| cbor.int(number)), bytes, "{number}");
        }
    }

    #[test]
    fn what_is_written_is_read_by_ciborium() {
        let long = "x".repeat(300);
        let bytes = written(|cbor| {
            cbor.tag(506);
            cbor.map(2);
            cbor.int(-75_000);
            cbor.array(3);
            cbor.text(&long);
            cbor.bytes(&[7; 70]);
            cbor.text("");
            cbor.int(i64::from(u32::MAX));
            cbor.embedded(|inner| inner.embedded(|innermost| innermost.text(&long)));
        });
        let innermost = written(|cbor| cbor.text(&long));
        let inner = written(|cbor| cbor.bytes(&innermost));
        let items = vec![Value::from(long.as_str()), Value::Bytes(vec![7; 70]), Value::from("")];
        let pairs =
            vec![(Value::from(-75_000), Value::Array(items)), (Value::from(u32::MAX), Value::Bytes(inner))];
        let read: Value = ciborium::from_reader(&bytes[..]).unwrap();
        assert_eq!(read, Value::Tag(506, Box::new(Value::Map(pairs))));
    }
}
