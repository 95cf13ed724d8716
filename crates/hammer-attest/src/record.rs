//! What is handed to verifiers of a result: as bytes, since promises wait in rings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_measure::Nanos;
use serde::Serialize;

use crate::device_class::DeviceClass;
use crate::session_object::SessionEcho;

/// A result, and what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultRecord<'a> {
    /// What is wrong with the evidence.
    pub(crate) class: DeviceClass,
    /// Whose evidence it is.
    pub(crate) device: u64,
    /// When the evidence was sent.
    pub(crate) sent: Nanos,
    /// When the result was received.
    pub(crate) received: Nanos,
    /// The nonce by which the session was asked for, or that it showed.
    pub(crate) nonce: &'a [u8],
    /// How the session repeated what it is of.
    pub(crate) echo: SessionEcho,
    /// The result, a JWT.
    pub(crate) jwt: &'a [u8],
}

/// What shows that a result was wrong, for whoever has to answer for it: the result itself, and what it was held against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResultEvidence {
    /// The number of the device whose evidence was shown.
    pub device: u64,
    /// What is wrong with the evidence.
    pub class: &'static str,
    /// The nonce of the session, in standard base64.
    pub nonce: String,
    /// When the evidence was sent, and when the result was received, in nanoseconds since the start of the run.
    pub sent_ns: u64,
    /// As `sent_ns`.
    pub received_ns: u64,
    /// The result as it came, a JWT.
    pub result: String,
}

impl ResultEvidence {
    /// That of a record which a verifier was handed; nothing where it is none.
    pub fn of(record: &[u8]) -> Option<Self> {
        let ResultRecord { class, device, sent, received, nonce, jwt, .. } = ResultRecord::read(record)?;
        let (class, nonce) = (class.name(), STANDARD.encode(nonce));
        let result = String::from_utf8_lossy(jwt).into_owned();
        Some(Self { device, class, nonce, sent_ns: sent.0, received_ns: received.0, result })
    }
}

impl<'a> ResultRecord<'a> {
    /// Replaces `out` by its bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(self.class as u8);
        out.push(self.echo as u8);
        for number in [self.device, self.sent.0, self.received.0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        // A nonce has 64 bytes at most.
        out.push(self.nonce.len() as u8);
        out.extend_from_slice(self.nonce);
        out.extend_from_slice(self.jwt);
    }

    /// What was written; nothing where it was not by [`ResultRecord::write`].
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[class, echo], rest) = bytes.split_first_chunk()?;
        let (device, rest) = number(rest)?;
        let (sent, rest) = number(rest)?;
        let (received, rest) = number(rest)?;
        let (&length, rest) = rest.split_first()?;
        let (nonce, jwt) = rest.split_at_checked(length.into())?;
        let (class, echo) = (DeviceClass::at(class)?, SessionEcho::at(echo)?);
        let (sent, received) = (Nanos(sent), Nanos(received));
        Some(Self { class, device, sent, received, nonce, echo, jwt })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_and_no_part_of_one_is_another() {
        let record = ResultRecord {
            class: DeviceClass::Garbage,
            device: 1 << 40,
            sent: Nanos(3),
            received: Nanos(u64::MAX),
            nonce: &[7; 64],
            echo: SessionEcho::OtherEvidence,
            jwt: b"a.b.c",
        };
        let mut bytes = vec![1];
        record.write(&mut bytes);
        assert_eq!(ResultRecord::read(&bytes), Some(record));
        let shown = ResultEvidence::of(&bytes).unwrap();
        assert_eq!((shown.device, shown.class, shown.result.as_str()), (1 << 40, "garbage", "a.b.c"));
        assert_eq!(ResultEvidence::of(b"no record"), None);
        assert!((0..bytes.len() - 5).all(|length| ResultRecord::read(&bytes[..length]).is_none()));
    }
}
