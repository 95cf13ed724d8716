//! A DER writer that remembers where the fields lie that a template fills in later.

/// Bytes under construction, with the marked offsets in them.
#[derive(Debug, Default)]
pub(crate) struct Der {
    pub(crate) bytes: Vec<u8>,
    pub(crate) marks: Vec<(Field, usize)>,
}

/// What differs from one leaf of a template to the next; every field has one fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// 16 bytes.
    Serial,
    /// 16 hexadecimal digits inside of a name.
    Label,
    /// The content of the subjectPublicKey BIT STRING.
    SubjectKey,
    /// 20 bytes.
    SubjectKeyId,
    /// The content of the end of validity, 13 or 15 bytes; marked only where ends are spread.
    NotAfter,
}

impl Der {
    /// What `content` writes, as DER on its own.
    pub(crate) fn build(content: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut der = Self::default();
        content(&mut der);
        der.bytes
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes that are the place of a field.
    pub(crate) fn field(&mut self, field: Field, bytes: &[u8]) {
        self.marks.push((field, self.bytes.len()));
        self.raw(bytes);
    }

    pub(crate) fn primitive(&mut self, tag: u8, content: &[u8]) {
        write_header(&mut self.bytes, tag, content.len());
        self.raw(content);
    }

    /// Writes the content first and its header before it; marks inside move along.
    pub(crate) fn nested(&mut self, tag: u8, content: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        content(self);
        let mut header = Vec::with_capacity(4);
        write_header(&mut header, tag, self.bytes.len() - start);
        for (_, offset) in self.marks.iter_mut().filter(|(_, offset)| *offset >= start) {
            *offset += header.len();
        }
        self.bytes.splice(start..start, header);
    }

    pub(crate) fn sequence(&mut self, content: impl FnOnce(&mut Self)) {
        self.nested(SEQUENCE, content);
    }

    /// A BIT STRING without unused bits.
    pub(crate) fn bit_string(&mut self, content: impl FnOnce(&mut Self)) {
        self.nested(BIT_STRING, |der| {
            der.raw(&[0]);
            content(der);
        });
    }

    pub(crate) fn oid(&mut self, content: &[u8]) {
        self.primitive(OBJECT_IDENTIFIER, content);
    }

    /// A positive INTEGER from big-endian bytes, in its shortest form.
    pub(crate) fn unsigned(&mut self, big_endian: &[u8]) {
        let zeros = big_endian.iter().take_while(|byte| **byte == 0).count();
        let digits = &big_endian[zeros..];
        self.nested(INTEGER, |der| {
            if digits.first().is_none_or(|byte| *byte >= 0x80) {
                der.raw(&[0]);
            }
            der.raw(digits);
        });
    }
}

/// Appends tag and length; definite lengths below 2^24.
pub(crate) fn write_header(out: &mut Vec<u8>, tag: u8, length: usize) {
    let [_, _, _, _, _, high, middle, low] = (length as u64).to_be_bytes();
    out.push(tag);
    match length {
        0..0x80 => out.push(low),
        0x80..0x100 => out.extend_from_slice(&[0x81, low]),
        0x100..0x1_0000 => out.extend_from_slice(&[0x82, middle, low]),
        _ => out.extend_from_slice(&[0x83, high, middle, low]),
    }
}

/// Writes tag and length into bytes that are as many as [`header_length`] says.
pub(crate) fn put_header(out: &mut [u8], tag: u8, length: usize) {
    let more = out.len() - 2;
    out[0] = tag;
    out[1] = if more == 0 { length as u8 } else { 0x80 | more as u8 };
    out[2..].copy_from_slice(&(length as u64).to_be_bytes()[8 - more..]);
}

/// How many bytes tag and length take before this much content.
pub(crate) fn header_length(length: usize) -> usize {
    match length {
        0..0x80 => 2,
        0x80..0x100 => 3,
        0x100..0x1_0000 => 4,
        _ => 5,
    }
}

/// The most bytes of a tag and a length.
pub(crate) const MOST_HEADER: usize = 5;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const UTF8_STRING: u8 = 0x0c;
pub(crate) const IA5_STRING: u8 = 0x16;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// A context-specific tag over a primitive.
pub(crate) const fn context(number: u8) -> u8 {
    0x80 | number
}

/// A context-specific tag over nested values.
pub(crate) const fn context_nested(number: u8) -> u8 {
    0xa0 | number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_move_with_the_headers_written_before_them() {
        let mut der = Der::default();
        der.sequence(|der| {
            der.primitive(OCTET_STRING, &[1; 200]);
            der.sequence(|der| der.nested(OCTET_STRING, |der| der.field(Field::SubjectKeyId, &[9; 20])));
            der.sequence(|der| der.field(Field::Label, &[8; 16]));
        });
        let [(Field::SubjectKeyId, id), (Field::Label, label)] = der.marks[..] else { panic!("two marks") };
        assert_eq!(der.bytes[id..id + 20], [9; 20]);
        assert_eq!(der.bytes[label..label + 16], [8; 16]);
    }

    #[test]
    fn headers_are_as_long_as_they_are_said_to_be() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000, 0xff_ffff] {
            let mut out = Vec::new();
            write_header(&mut out, SEQUENCE, length);
            assert_eq!(out.len(), header_length(length), "{length}");
            let mut put = vec![0; out.len()];
            put_header(&mut put, SEQUENCE, length);
            assert_eq!(put, out);
            assert!(out.len() <= MOST_HEADER);
        }
    }

    #[test]
    fn unsigned_integers_are_positive_and_shortest() {
        assert_eq!(Der::build(|der| der.unsigned(&[0, 0, 0x80])), [2, 2, 0, 0x80]);
        assert_eq!(Der::build(|der| der.unsigned(&[0, 0x7f])), [2, 1, 0x7f]);
        assert_eq!(Der::build(|der| der.unsigned(&[0])), [2, 1, 0]);
    }
}
