//! Names as issuers and subjects have them (RFC 5280 section 4.1.2.4).

use crate::keys::der::{DerError, SEQUENCE, Tlv};

/// Whether two `Name`s (whole DER) are of one owner (RFC 5280 section 7.1): the same attributes in the same order, whatever the string types
/// that they are written in, the case of ASCII letters, and spaces around and between words. What cannot be read is compared byte by byte.
pub fn same_name(one: &[u8], other: &[u8]) -> bool {
    if one == other {
        return true;
    }
    matches!((attributes(one), attributes(other)), (Ok(one), Ok(other)) if one == other)
}

/// An attribute of a `Name`.
#[derive(PartialEq)]
struct NameAttribute<'a> {
    /// Whether it starts a set.
    is_first: bool,
    oid: &'a [u8],
    /// As it is compared.
    value: Vec<u8>,
}

fn attributes(name: &[u8]) -> Result<Vec<NameAttribute<'_>>, DerError> {
    let mut all = Vec::new();
    let mut sets = Tlv::parse(name, SEQUENCE)?.content();
    while !sets.is_empty() {
        let mut set = sets.read()?.content();
        let mut is_first = true;
        while !set.is_empty() {
            let mut attribute = set.read()?.content();
            let oid = attribute.read()?.value;
            let value = compared(attribute.read()?.value);
            all.push(NameAttribute { is_first, oid, value });
            is_first = false;
        }
    }
    Ok(all)
}

fn compared(value: &[u8]) -> Vec<u8> {
    let words: Vec<_> = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    words.join(&b' ').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::der;

    /// A name of one attribute, whose value has that string type.
    fn name(tag: u8, value: &[u8]) -> Vec<u8> {
        let wrapped = |tag, content: &[u8]| {
            let mut out = Vec::new();
            der::write(&mut out, tag, content);
            out
        };
        let attribute = [wrapped(der::OBJECT_IDENTIFIER, &[0x55, 4, 3]), wrapped(tag, value)].concat();
        wrapped(SEQUENCE, &wrapped(0x31, &wrapped(SEQUENCE, &attribute)))
    }

    #[test]
    fn names_are_the_same_whatever_their_string_types_case_and_spaces() {
        const PRINTABLE: u8 = 0x13;
        const UTF8: u8 = 0x0c;
        let one = name(PRINTABLE, b"An Authority");
        for same in [name(UTF8, b"An Authority"), name(PRINTABLE, b" an  AUTHORITY ")] {
            assert!(same_name(&one, &same));
        }
        assert!(!same_name(&one, &name(PRINTABLE, b"AnAuthority")));
        assert!(!same_name(&one, b"no name") && same_name(b"no name", b"no name"));
    }
}
