//! A refresh on its way to a verifier: what was asked for, one file after another, and what came.

use hammer_measure::Nanos;
use hammer_tlog::tls::{TlsError, TlsReader};
use hammer_tuf::Role;

/// A refresh, read back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefreshRecord<'a> {
    /// Whether it came to its end: the client had all that it wanted.
    pub(super) is_whole: bool,
    /// What was asked for, in order.
    pub(super) parts: Vec<RefreshPart<'a>>,
}

/// A file of a refresh.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefreshPart<'a> {
    pub(super) role: Role,
    /// Whether the client had it before: a root of an earlier refresh.
    pub(super) is_known: bool,
    pub(super) sent: Nanos,
    pub(super) received: Nanos,
    /// None where the repository does not have it.
    pub(super) body: Option<&'a [u8]>,
}

impl RefreshPart<'_> {
    /// Appends it to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.role as u8, u8::from(self.is_known), u8::from(self.body.is_some())]);
        out.extend_from_slice(&self.sent.0.to_be_bytes());
        out.extend_from_slice(&self.received.0.to_be_bytes());
        let body = self.body.unwrap_or_default();
        out.extend_from_slice(&(body.len() as u32).to_be_bytes());
        out.extend_from_slice(body);
    }
}

impl<'a> RefreshRecord<'a> {
    /// Replaces `out` by the start of a record, whose parts follow; it ends early unless [`Self::complete`] says otherwise.
    pub(super) fn start(out: &mut Vec<u8>) {
        out.clear();
        out.push(CUT_SHORT);
    }

    /// Says in the record that the refresh came to its end.
    pub(super) fn complete(out: &mut [u8]) {
        if let Some(ending) = out.first_mut() {
            *ending = WHOLE;
        }
    }

    /// Reads one back.
    pub(super) fn read(record: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(record);
        let is_whole = match reader.u8("how it ended")? {
            WHOLE => true,
            CUT_SHORT => false,
            other => return Err(TlsError::UnknownValue { field: "how it ended", value: other.into() }),
        };
        let mut parts = Vec::new();
        while !reader.rest().is_empty() {
            let number = reader.u8("role")?;
            let role = Role::ALL.into_iter().find(|role| *role as u8 == number);
            let role = role.ok_or(TlsError::UnknownValue { field: "role", value: number.into() })?;
            let is_known = reader.u8("whether it was known")? != 0;
            let is_there = reader.u8("whether it is there")? != 0;
            let (sent, received) = (Nanos(reader.u64("sent")?), Nanos(reader.u64("received")?));
            let length = u32::from_be_bytes(*reader.array("length")?);
            let body = reader.bytes(length as usize, "body")?;
            parts.push(RefreshPart { role, is_known, sent, received, body: is_there.then_some(body) });
        }
        Ok(Self { is_whole, parts })
    }
}

const CUT_SHORT: u8 = 0;
const WHOLE: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_nothing_shorter_is() {
        let part =
            |role, body| RefreshPart { role, is_known: false, sent: Nanos(1), received: Nanos(2), body };
        let parts =
            [part(Role::Root, None), part(Role::Timestamp, Some(&b"{}"[..])), part(Role::Target, Some(b""))];
        let mut out = vec![1, 2, 3];
        RefreshRecord::start(&mut out);
        let mut ends = vec![out.len()];
        for part in &parts {
            part.write(&mut out);
            ends.push(out.len());
        }
        for is_whole in [false, true] {
            let read = RefreshRecord::read(&out).unwrap();
            assert_eq!((read.is_whole, read.parts.as_slice()), (is_whole, &parts[..]));
            for length in (0..out.len()).filter(|length| !ends.contains(length)) {
                assert!(RefreshRecord::read(&out[..length]).is_err(), "{length}");
            }
            RefreshRecord::complete(&mut out);
        }
        assert!(RefreshRecord::read(&[9; 100]).is_err());
    }
}
