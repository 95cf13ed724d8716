//! What is handed to verifiers of a result: as bytes, since promises wait in rings.

use hammer_measure::Nanos;

use crate::device_class::DeviceClass;

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
    /// Whether the session showed the nonce that it was asked for.
    pub(crate) is_same_nonce: bool,
    /// The result, a JWT.
    pub(crate) jwt: &'a [u8],
}

impl<'a> ResultRecord<'a> {
    /// Replaces `out` by its bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(self.class as u8);
        out.push(self.is_same_nonce.into());
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
        let (&[class, is_same_nonce], rest) = bytes.split_first_chunk()?;
        let (device, rest) = number(rest)?;
        let (sent, rest) = number(rest)?;
        let (received, rest) = number(rest)?;
        let (&length, rest) = rest.split_first()?;
        let (nonce, jwt) = rest.split_at_checked(length.into())?;
        let class = DeviceClass::at(class)?;
        let (sent, received, is_same_nonce) = (Nanos(sent), Nanos(received), is_same_nonce != 0);
        Some(Self { class, device, sent, received, nonce, is_same_nonce, jwt })
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
            is_same_nonce: true,
            jwt: b"a.b.c",
        };
        let mut bytes = vec![1];
        record.write(&mut bytes);
        assert_eq!(ResultRecord::read(&bytes), Some(record));
        assert!((0..bytes.len() - 5).all(|length| ResultRecord::read(&bytes[..length]).is_none()));
    }
}
