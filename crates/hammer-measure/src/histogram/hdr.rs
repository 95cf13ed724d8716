//! A distribution as an HDR V2 payload: compact, exact, and bounded before anything is allocated for it. Not deflated where parts of a run hand it on.
//! Base64 of it where the format is for people.

use std::fmt;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HdrReader, Serializer as _, V2Serializer};
use serde::de::{Error as _, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Distribution, PayloadError, RESOLUTION};

/// What a distribution is written as.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Distribution", deny_unknown_fields)]
struct DistributionParts {
    infinite: u64,
    hdr: HdrPayload,
}

/// An HDR V2 payload; empty where nothing ended.
struct HdrPayload(Vec<u8>);

struct HdrVisitor;

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hdr = Vec::new();
        if let Some(histogram) = self.histogram.as_ref().filter(|histogram| !histogram.is_empty()) {
            V2Serializer::new().serialize(histogram.as_ref(), &mut hdr).map_err(S::Error::custom)?;
        }
        DistributionParts { infinite: self.infinite, hdr: HdrPayload(hdr) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let DistributionParts { infinite, hdr: HdrPayload(hdr) } = Deserialize::deserialize(deserializer)?;
        if infinite > MOST_COUNTED {
            return Err(D::Error::custom(PayloadError::Bounds));
        }
        let histogram = if hdr.is_empty() { None } else { Some(read(&hdr).map_err(D::Error::custom)?) };
        Ok(Self { histogram, infinite })
    }
}

impl Serialize for HdrPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.serialize_str(&STANDARD.encode(&self.0));
        }
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for HdrPayload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(HdrVisitor);
        }
        deserializer.deserialize_bytes(HdrVisitor)
    }
}

impl Visitor<'_> for HdrVisitor {
    type Value = HdrPayload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an HDR V2 payload")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<HdrPayload, E> {
        Ok(HdrPayload(bytes.to_vec()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HdrPayload, E> {
        STANDARD.decode(text).map(HdrPayload).map_err(|error| E::custom(PayloadError::Base64(error)))
    }
}

/// Reads a payload that is deflated: a cookie, the length of what follows, and that as zlib has it.
pub(super) fn read_deflated(bytes: &[u8]) -> Result<Box<Histogram<u64>>, PayloadError> {
    let failed = |why: &str| PayloadError::Payload(why.to_owned());
    let (head, deflated) = bytes.split_first_chunk::<8>().ok_or_else(|| failed("it ends within its head"))?;
    let [cookie @ .., a, b, c, d] = *head;
    if u32::from_be_bytes(cookie) != DEFLATED_COOKIE {
        return Err(failed("it is not deflated"));
    }
    if u32::from_be_bytes([a, b, c, d]) as usize != deflated.len() {
        return Err(failed("it has another length than it says"));
    }
    let mut payload = Vec::new();
    let inflated = ZlibDecoder::new(deflated).take(MOST_BYTES + 1).read_to_end(&mut payload);
    inflated.map_err(|error| failed(&error.to_string()))?;
    if payload.len() as u64 > MOST_BYTES {
        return Err(PayloadError::Bounds);
    }
    read(&payload)
}

fn read(payload: &[u8]) -> Result<Box<Histogram<u64>>, PayloadError> {
    check(payload)?;
    let mut histogram = HdrReader::new()
        .deserialize::<u64, _>(&mut &*payload)
        .map_err(|error| PayloadError::Payload(error.to_string()))?;
    // A payload does not say that its histogram grew: one that cannot would refuse what is longer than all it has.
    histogram.auto(true);
    Ok(Box::new(histogram))
}

/// Whether the payload has our bounds and sane counts. The reader believes what it is told: it allocates what the header names, and
/// negates the length of a run of zeros without a look.
fn check(payload: &[u8]) -> Result<(), PayloadError> {
    let (given, mut counts) = payload.split_first_chunk::<HEADER>().ok_or(PayloadError::Bounds)?;
    let [.., a, b, c, d, e, f, g, h, _, _, _, _, _, _, _, _] = *given;
    let highest = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    if *given != header(counts.len(), highest) || !(2 * RESOLUTION..=HIGHEST).contains(&highest) {
        return Err(PayloadError::Bounds);
    }
    let (mut places, mut counted) = (0_u64, 0_u64);
    while !counts.is_empty() {
        match zig_zag(varint(&mut counts).ok_or(PayloadError::Bounds)?) {
            zeros @ ..0 => places = places.saturating_add(zeros.unsigned_abs()),
            count => {
                places = places.saturating_add(1);
                counted = counted.saturating_add(count.unsigned_abs());
            }
        }
        if places > MOST_PLACES || counted > MOST_COUNTED {
            return Err(PayloadError::Bounds);
        }
    }
    Ok(())
}

/// The header of a histogram of ours: cookie, bytes of counts, no offset, three digits, bounds, no scale.
fn header(counts: usize, highest: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&COOKIE.to_be_bytes());
    header[4..8].copy_from_slice(&(counts as u32).to_be_bytes());
    header[12..16].copy_from_slice(&DIGITS.to_be_bytes());
    header[16..24].copy_from_slice(&RESOLUTION.to_be_bytes());
    header[24..32].copy_from_slice(&highest.to_be_bytes());
    header[32..].copy_from_slice(&1.0_f64.to_be_bytes());
    header
}

/// Seven bits a byte, the lowest first; a ninth byte counts whole (LEB128-64b9B of HdrHistogram's V2 encoding).
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            return Some(value | u64::from(*byte) << 56);
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

fn zig_zag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// More durations than any run records: sums of them stay far from the end of their type, and JSON has them exactly.
pub(crate) const MOST_COUNTED: u64 = 1 << 53;
/// Bytes of a V2 header.
const HEADER: usize = 40;
const COOKIE: u32 = 0x1c84_9313;
const DEFLATED_COOKIE: u32 = 0x1c84_9314;
const DIGITS: u32 = 3;
/// Nanoseconds: what a histogram grows to by two hours, the longest that is recorded.
const HIGHEST: u64 = 1 << 43;
/// More than a histogram up to [`HIGHEST`] has.
const MOST_PLACES: u64 = 1 << 16;
/// Bytes of a payload at most: each place is nine at most.
const MOST_BYTES: u64 = HEADER as u64 + 9 * MOST_PLACES;

#[cfg(test)]
mod tests;
