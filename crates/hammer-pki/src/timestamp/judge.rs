use hammer_cms::ber;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampVerifier};
use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::keys::chain::TrustedAuthorities;

/// What judges timestamps.
#[derive(Clone, Debug)]
pub struct TimestampJudge {
    /// Who is trusted with them.
    pub authorities: TrustedAuthorities,
    /// The wall clock at the start of the run, in milliseconds since 1970.
    pub epoch_unix_ms: u64,
    /// By how much the service's clock may differ from ours, in milliseconds.
    pub skew_ms: u64,
}

/// A timestamp on its way to a verifier, as bytes, since promises wait in rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimestampRecord<'a> {
    pub(super) hash: &'a [u8; 32],
    /// That of the query.
    pub(super) nonce: Option<u64>,
    pub(super) sent: Nanos,
    pub(super) received: Nanos,
    /// A `TimeStampResp` where there is a nonce, and a `TimeStampToken` otherwise.
    pub(super) body: &'a [u8],
}

/// Judges on a thread of its own.
pub(super) struct StampVerifier {
    judge: TimestampJudge,
    verifier: TimestampVerifier,
}

impl TimestampRecord<'_> {
    /// Replaces `out` by its bytes: hash, instants, whether there is a nonce, and it; then the body.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.hash);
        for at in [self.sent, self.received] {
            out.extend_from_slice(&at.0.to_be_bytes());
        }
        out.push(u8::from(self.nonce.is_some()));
        out.extend_from_slice(&self.nonce.unwrap_or_default().to_be_bytes());
        out.extend_from_slice(self.body);
    }

    fn read(bytes: &[u8]) -> Option<TimestampRecord<'_>> {
        let (hash, rest) = bytes.split_first_chunk::<32>()?;
        let (sent, rest) = rest.split_first_chunk::<8>()?;
        let (received, rest) = rest.split_first_chunk::<8>()?;
        let ([has_nonce], rest) = rest.split_first_chunk::<1>()?;
        let (nonce, body) = rest.split_first_chunk::<8>()?;
        let [sent, received] = [sent, received].map(|at| Nanos(u64::from_be_bytes(*at)));
        let nonce = (*has_nonce == 1).then_some(u64::from_be_bytes(*nonce));
        Some(TimestampRecord { hash, nonce, sent, received, body })
    }
}

impl StampVerifier {
    pub(super) fn new(judge: TimestampJudge) -> Self {
        let verifier = TimestampVerifier::new(judge.authorities.clone());
        Self { judge, verifier }
    }

    fn verify(&mut self, record: &TimestampRecord<'_>) -> Result<(), TimestampFault> {
        let TimestampJudge { epoch_unix_ms, skew_ms, .. } = self.judge;
        let unix_ms = |at: Nanos| epoch_unix_ms.saturating_add(at.0 / 1_000_000);
        let expected = ExpectedTimestamp {
            imprint: ExpectedImprint::Sha256(record.hash),
            nonce: record.nonce,
            not_before_ms: i64::try_from(unix_ms(record.sent).saturating_sub(skew_ms)).ok(),
            not_after_ms: i64::try_from(unix_ms(record.received).saturating_add(skew_ms)).ok(),
        };
        let body = ber::to_der(record.body);
        if record.nonce.is_none() {
            return self.verifier.verify_token(&body, &expected).map(drop);
        }
        // A query with a nonce asks for the certificate, too.
        self.verifier.verify(&body, &expected)?.with_certificate().map(drop)
    }
}

impl Verifier for StampVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        // Records are this file's own.
        let Some(read) = TimestampRecord::read(record) else { return };
        match self.verify(&read) {
            Ok(()) => verdicts.kept(PromiseKind(0)),
            Err(why) if why.is_unverified() => {
                verdicts.unverified(PromiseKind(0), &format!("failed to {why}"));
            }
            Err(why) => {
                let fault = Fault::new(why.kind(), format!("failed to {why}"));
                verdicts.broken(PromiseKind(0), seq, fault, Some(record));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for nonce in [None, Some(0), Some(u64::MAX)] {
            let (sent, received) = (Nanos(1), Nanos(u64::MAX));
            let record = TimestampRecord { hash: &[7; 32], nonce, sent, received, body: b"body" };
            let mut out = vec![1];
            record.write(&mut out);
            assert_eq!(TimestampRecord::read(&out), Some(record));
        }
        assert_eq!(TimestampRecord::read(&[0; 56]), None);
    }
}
