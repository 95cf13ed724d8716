//! Lists of revoked certificates (CRL, RFC 5280 section 5) of made authorities.

use std::time::Duration;

use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::AUTHORITY_KEY_IDENTIFIER;
use hammer_tlog::keys::der::{self, context};

use crate::made_authority::{MadeAuthority, SERIAL};

/// What a made authority has revoked, of which it signs lists at any time. The serial numbers are of nobody.
#[derive(Debug)]
pub struct RevokedCertificates {
    /// The DER of each entry of `revokedCertificates`, one behind the other.
    entries: Vec<u8>,
}

impl RevokedCertificates {
    /// As many as fit into a list of that many bytes, a signature of the longest form included.
    pub fn within(authority: &MadeAuthority, bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let empty = Self { entries: Vec::new() }.list(authority, 0, 0).len();
        // The lengths around the entries may take four bytes more each, at five places; a signature two.
        let room = bytes.saturating_sub(empty + 5 * 4 + 2);
        let mut entries = Vec::with_capacity(room);
        for index in 0..room / ENTRY {
            der::write_header(&mut entries, der::SEQUENCE, ENTRY - 2);
            der::write(&mut entries, der::INTEGER, &authority.revoked_serial(index as u64));
            der::write(&mut entries, der::UTC_TIME, REVOKED_AT);
        }
        Self { entries }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// The DER of the list that is current from one second since 1970 to another.
    pub fn list(&self, authority: &MadeAuthority, this_update: u64, next_update: u64) -> Vec<u8> {
        let mut fields = vec![der::INTEGER, 1, 1];
        fields.extend_from_slice(&ECDSA_WITH_SHA256);
        fields.extend_from_slice(&authority.name);
        write_time(&mut fields, this_update);
        write_time(&mut fields, next_update);
        // Where nothing is revoked the field is left out (RFC 5280 section 5.1.2.6).
        if !self.entries.is_empty() {
            der::write(&mut fields, der::SEQUENCE, &self.entries);
        }
        fields.extend_from_slice(&extensions(authority, this_update));
        let tbs = element(der::SEQUENCE, &fields);
        drop(fields);
        let signature = authority.key.sign_digest(&sha256(&tbs).0);
        let signature = element(der::BIT_STRING, &[&[0], signature.as_slice()].concat());
        let length = tbs.len() + ECDSA_WITH_SHA256.len() + signature.len();
        let mut list = Vec::with_capacity(der::element_length(length));
        der::write_header(&mut list, der::SEQUENCE, length);
        [tbs.as_slice(), &ECDSA_WITH_SHA256, &signature].iter().for_each(|part| list.extend_from_slice(part));
        list
    }
}

/// `AuthorityKeyIdentifier` and `CRLNumber`, which each list has to have (RFC 5280 section 5.2). The number is the time, so that a later list has a
/// greater one.
fn extensions(authority: &MadeAuthority, number: u64) -> Vec<u8> {
    let identifier = element(der::SEQUENCE, &element(0x80, &authority.key_identifier));
    // A leading zero would not be DER, and a first bit would be a sign.
    let digits = number.to_be_bytes();
    let leading = digits.iter().take_while(|digit| **digit == 0).count().min(7);
    let sign: &[u8] = if digits[leading] & 0x80 != 0 { &[0] } else { &[] };
    let number = element(der::INTEGER, &[sign, &digits[leading..]].concat());
    let extension = |oid, value: &[u8]| {
        let content = [element(der::OBJECT_IDENTIFIER, oid), element(der::OCTET_STRING, value)].concat();
        element(der::SEQUENCE, &content)
    };
    let all = [extension(AUTHORITY_KEY_IDENTIFIER, &identifier), extension(CRL_NUMBER, &number)].concat();
    element(context(0), &element(der::SEQUENCE, &all))
}

/// `UTCTime` until 2049 and `GeneralizedTime` from then on (RFC 5280 section 5.1.2.4).
fn write_time(out: &mut Vec<u8>, unix_seconds: u64) {
    let time = rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(unix_seconds.min(LAST_SECOND));
    let (year, month, day) = (time.year(), time.month() as u8, time.day());
    let text =
        format!("{year:04}{month:02}{day:02}{:02}{:02}{:02}Z", time.hour(), time.minute(), time.second());
    match year < 2050 {
        true => der::write(out, der::UTC_TIME, &text.as_bytes()[2..]),
        false => der::write(out, der::GENERALIZED_TIME, text.as_bytes()),
    }
}

fn element(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(der::element_length(value.len()));
    der::write(&mut out, tag, value);
    out
}

/// Bytes of an entry: a serial number and a time, each with its tag and length, and those of the whole.
const ENTRY: usize = 2 + (2 + SERIAL) + (2 + REVOKED_AT.len());
/// When each was revoked.
const REVOKED_AT: &[u8] = b"200101000000Z";
/// The end of the year 9999, which a time in DER can name last.
const LAST_SECOND: u64 = 253_402_300_799;
/// The `AlgorithmIdentifier` of ecdsa-with-SHA256 (RFC 5758 section 3.2).
const ECDSA_WITH_SHA256: [u8; 12] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 2.5.29.20.
const CRL_NUMBER: &[u8] = &[0x55, 0x1d, 0x14];

#[cfg(test)]
mod tests;
