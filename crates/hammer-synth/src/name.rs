//! Distinguished names, and the DNS names of leaves.

use crate::der::{Der, Field, SEQUENCE, SET, UTF8_STRING};
use crate::oid;
use crate::seed::Seed;

/// A `Name` of one organization and one common name, in DER.
pub(crate) fn authority_name(common_name: &str) -> Vec<u8> {
    Der::build(|der| {
        der.sequence(|der| {
            attribute(der, oid::ORGANIZATION, |der| der.primitive(UTF8_STRING, ORGANIZATION.as_bytes()));
            attribute(der, oid::COMMON_NAME, |der| der.primitive(UTF8_STRING, common_name.as_bytes()));
        });
    })
}

/// The domain that belongs to one leaf: `<16 digits>-<stream>.test`, where the digits are the seq in hexadecimal and the
/// stream is 8 digits that follow from the seed. `.test` is reserved (RFC 2606 section 2).
#[derive(Clone, Debug)]
pub(crate) struct LeafDomain {
    label: [u8; 16],
    suffix: String,
}

impl LeafDomain {
    pub(crate) fn new(seed: &Seed, seq: u64) -> Self {
        Self { label: label(seq), suffix: format!("-{}.test", stream_tag(seed)) }
    }

    /// The subject: the domain as its common name.
    pub(crate) fn write_subject(&self, der: &mut Der) {
        der.nested(SEQUENCE, |der| {
            attribute(der, oid::COMMON_NAME, |der| der.nested(UTF8_STRING, |der| self.write(der)));
        });
    }

    /// The characters of the domain, with the place of the digits marked.
    pub(crate) fn write(&self, der: &mut Der) {
        der.field(Field::Label, &self.label);
        der.raw(self.suffix.as_bytes());
    }
}

/// 8 hexadecimal digits that tell the streams of different seeds apart.
pub(crate) fn stream_tag(seed: &Seed) -> String {
    seed.derive("stream", 0)[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The 16 digits of a seq.
pub(crate) fn label(seq: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    for (place, digit) in digits.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(seq >> (4 * place)) as usize & 15];
    }
    digits
}

fn attribute(der: &mut Der, kind: &[u8], value: impl FnOnce(&mut Der)) {
    der.nested(SET, |der| {
        der.sequence(|der| {
            der.oid(kind);
            value(der);
        });
    });
}

const ORGANIZATION: &str = "hammer load test, this key is public";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_seq_in_hexadecimal() {
        for seq in [0, 1, 0xdead_beef, u64::MAX] {
            assert_eq!(label(seq).as_slice(), format!("{seq:016x}").as_bytes());
        }
    }
}
