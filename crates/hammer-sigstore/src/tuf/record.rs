//! A refresh on its way to a verifier: what was asked for, one file after another, and what came.

use hammer_measure::Nanos;
use hammer_tlog::tls::{TlsError, TlsReader};
use hammer_tuf::Role;

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

impl<'a> RefreshPart<'a> {
    /// Appends it to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.role as u8, u8::from(self.is_known), u8::from(self.body.is_some())]);
        out.extend_from_slice(&self.sent.0.to_be_bytes());
        out.extend_from_slice(&self.received.0.to_be_bytes());
        let body = self.body.unwrap_or_default();
        out.extend_from_slice(&(body.len() as u32).to_be_bytes());
        out.extend_from_slice(body);
    }

    /// The parts of a record.
    pub(super) fn all(record: &'a [u8]) -> Result<Vec<Self>, TlsError> {
        let mut reader = TlsReader::new(record);
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
            parts.push(Self { role, is_known, sent, received, body: is_there.then_some(body) });
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_nothing_shorter_is() {
        let part =
            |role, body| RefreshPart { role, is_known: false, sent: Nanos(1), received: Nanos(2), body };
        let parts =
            [part(Role::Root, None), part(Role::Timestamp, Some(&b"{}"[..])), part(Role::Target, Some(b""))];
        let mut out = Vec::new();
        let mut ends = vec![0];
        for part in &parts {
            part.write(&mut out);
            ends.push(out.len());
        }
        assert_eq!(RefreshPart::all(&out).unwrap(), parts);
        for length in (0..out.len()).filter(|length| !ends.contains(length)) {
            assert!(RefreshPart::all(&out[..length]).is_err(), "{length}");
        }
        assert!(RefreshPart::all(&[9; 100]).is_err());
    }
}
