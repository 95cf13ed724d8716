//! Owners of certificates, as errors call them.

use std::fmt::Write as _;

use crate::keys::certificate::Certificate;
use crate::keys::der::{DerError, SEQUENCE, Tlv};

/// DER content of 2.5.4.3, `commonName`.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// A `Name` without attributes.
const EMPTY: &[u8] = &[SEQUENCE, 0];
/// A longer name is cut: an error is to be read.
const LONGEST: usize = 80;

/// What an error calls the owner of a `Name` (whole DER): the last common name, or else the last attribute of any type; of a
/// name without any, the DER in hex.
pub(super) fn display_name(name: &[u8]) -> String {
    match last_attribute(name) {
        Ok(Some(value)) => shown(value),
        _ => hex(&name[..name.len().min(LONGEST / 2)]),
    }
}

/// What an error calls the owner of a certificate: its subject, or of an empty one the first alternative name, or else the
/// serial number.
pub(super) fn label_of(certificate: &Certificate<'_>) -> String {
    if certificate.subject != EMPTY {
        return display_name(certificate.subject);
    }
    match certificate.subject_alternative_names().next() {
        Some(name) => shown(name.value),
        None => format!("serial number {}", hex(certificate.serial)),
    }
}

/// Text that may be too long, or none.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(LONGEST).collect()
}

/// Bytes in lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn last_attribute(name: &[u8]) -> Result<Option<&[u8]>, DerError> {
    let (mut common, mut last) = (None, None);
    let mut sets = Tlv::parse(name, SEQUENCE)?.content();
    while !sets.is_empty() {
        let mut attributes = sets.read()?.content();
        while !attributes.is_empty() {
            let mut attribute = attributes.read()?.content();
            let oid = attribute.read()?.value;
            let value = attribute.read()?.value;
            last = Some(value);
            if oid == COMMON_NAME {
                common = Some(value);
            }
        }
    }
    Ok(common.or(last))
}
