//! The TBSCertificate and the certificate around it (RFC 5280 section 4.1).

use crate::der::{
    BIT_STRING, Der, Field, INTEGER, MOST_HEADER, SEQUENCE, context_nested, header_length, put_header,
    write_header,
};
use crate::seed::Seed;
use crate::signer::{Algorithm, Signer};
use crate::validity::Validity;

/// The parts of a TBSCertificate that leaves and authorities have in common.
pub(crate) struct Tbs<'a> {
    pub(crate) serial: [u8; 16],
    /// The algorithm of the key that signs it.
    pub(crate) signature: Algorithm,
    /// The issuer's `Name` in DER.
    pub(crate) issuer: &'a [u8],
    pub(crate) validity: Validity,
    /// Its end, which may be spread.
    pub(crate) not_after: u64,
}

impl Tbs<'_> {
    /// Writes it, with what `subject` (a Name), `public_key` (a SubjectPublicKeyInfo) and `extensions` write.
    pub(crate) fn write(
        &self,
        der: &mut Der,
        subject: impl FnOnce(&mut Der),
        public_key: impl FnOnce(&mut Der),
        extensions: impl FnOnce(&mut Der),
    ) {
        der.sequence(|der| {
            der.nested(context_nested(0), |der| der.primitive(INTEGER, &[2]));
            der.nested(INTEGER, |der| der.field(Field::Serial, &self.serial));
            der.raw(self.signature.identifier_der());
            der.raw(self.issuer);
            self.validity.write(der, self.not_after);
            subject(der);
            public_key(der);
            der.nested(context_nested(3), |der| der.sequence(extensions));
        });
    }
}

/// Appends the certificate of `tbs`, signed; returns how many bytes precede `tbs` in it.
pub(crate) fn write_certificate(tbs: &[u8], signer: &dyn Signer, out: &mut Vec<u8>) -> usize {
    let mut signature = vec![0];
    signer.sign(tbs, &mut signature);
    let identifier = signer.algorithm().identifier_der();
    let length = tbs.len() + identifier.len() + header_length(signature.len()) + signature.len();
    write_header(out, SEQUENCE, length);
    out.extend_from_slice(tbs);
    out.extend_from_slice(identifier);
    write_header(out, BIT_STRING, signature.len());
    out.extend_from_slice(&signature);
    header_length(length)
}

/// Makes a certificate of what follows the first [`MOST_HEADER`] bytes of `bytes`, a TBSCertificate, and returns where it
/// starts among them; `signature` has a byte 0 before it.
pub(crate) fn enclose(bytes: &mut Vec<u8>, algorithm: Algorithm, signature: &[u8]) -> usize {
    bytes.extend_from_slice(algorithm.identifier_der());
    write_header(bytes, BIT_STRING, signature.len());
    bytes.extend_from_slice(signature);
    let length = bytes.len() - MOST_HEADER;
    let start = MOST_HEADER - header_length(length);
    put_header(&mut bytes[start..MOST_HEADER], SEQUENCE, length);
    start
}

/// The 8 bytes before the seq in the serials of this seed's leaves.
pub(crate) fn serial_prefix(seed: &Seed) -> [u8; 8] {
    let mut prefix = [0; 8];
    seed.fill("serial", 0, &mut prefix);
    prefix
}

/// A serial of 16 bytes: 8 bytes that follow from a prefix, and the seq in big-endian order. The first byte is between
/// 0x40 and 0x7f, so that the number is positive and has no leading zero.
pub(crate) fn serial(prefix: &[u8; 8], seq: u64) -> [u8; 16] {
    let mut serial = [0; 16];
    serial[..8].copy_from_slice(prefix);
    serial[0] = (serial[0] & 0x3f) | 0x40;
    serial[8..].copy_from_slice(&seq.to_be_bytes());
    serial
}
