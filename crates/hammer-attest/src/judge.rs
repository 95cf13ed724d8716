//! Judges results beside the load: whether verification signed them, for this session, and says of the device what it should.

mod held;
mod result;

use std::sync::Arc;

use hammer_core::promise::{Fault, Records, Verdicts, Verifier};
use hammer_measure::{Nanos, peer_text};
use hammer_p256::SignatureBatch;
use hammer_rats::{EarError, SignedResult};

use crate::devices::Devices;
use crate::keys::{KnownKeys, VerificationKeys};
use crate::plan::NonceSource;
use crate::record::ResultRecord;
use crate::results::ResultCounts;
use crate::seen_nonces::SeenNonces;
use crate::target::{AttestRun, AttestTarget, Policy};

use held::HeldRecords;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    keys: Arc<VerificationKeys>,
    results: Arc<ResultCounts>,
    devices: Devices,
    policy: Policy,
    skew_ms: i64,
    epoch_unix_ms: u64,
    /// The workload's place in the plan.
    workload: u64,
    /// Those of its sessions, where verification chooses them.
    nonces: Option<Arc<SeenNonces>>,
}

/// Judges on a thread of its own.
struct ResultVerifier {
    judge: Judge,
    known: KnownKeys,
    batch: SignatureBatch,
    /// Results that none of the known keys signed.
    held: HeldRecords,
}

/// A result whose signature stands at a place of the batch, where it could be read.
struct ParsedResult<'a> {
    seq: u64,
    bytes: &'a [u8],
    record: ResultRecord<'a>,
    parsed: Result<SignedResult<'a>, EarError>,
}

impl Judge {
    pub(crate) fn new(target: &AttestTarget, devices: Devices, run: &AttestRun, nonce: NonceSource) -> Self {
        Self {
            workload: run.workload,
            nonces: (nonce == NonceSource::Service).then(|| target.nonces.clone()),
            keys: target.keys.clone(),
            results: target.results.clone(),
            devices,
            policy: target.policy(),
            skew_ms: i64::try_from(target.skew.as_millis()).unwrap_or(i64::MAX),
            epoch_unix_ms: run.epoch_unix_ms,
        }
    }

    pub(crate) fn verifier(&self) -> Box<dyn Verifier> {
        let (known, batch, held) = Default::default();
        Box::new(ResultVerifier { judge: self.clone(), known, batch, held })
    }

    /// The wall clock at an instant of the run, milliseconds since 1970.
    fn unix_ms(&self, at: Nanos) -> i64 {
        (self.epoch_unix_ms + at.0 / 1_000_000) as i64
    }

    /// Judges a result that is signed by a key of verification.
    fn signed(&self, result: &ParsedResult<'_>, signed: &SignedResult<'_>, verdicts: &mut Verdicts) {
        let kind = result.record.class.into();
        match self.says(result.seq, &result.record, signed) {
            Ok(()) => verdicts.kept(kind),
            Err(fault) => verdicts.broken(kind, result.seq, fault, Some(result.bytes)),
        }
    }
}

impl ResultVerifier {
    /// Holds each result against the keys that are known, the newest first.
    fn judge_all<'a>(&mut self, records: impl Iterator<Item = (u64, &'a [u8])>, verdicts: &mut Verdicts) {
        self.judge.keys.refresh(&mut self.known);
        self.batch.clear();
        // Records are this crate's own.
        let results: Vec<ParsedResult<'a>> = records
            .filter_map(|(seq, bytes)| {
                let record = ResultRecord::read(bytes)?;
                Some(ParsedResult { seq, bytes, record, parsed: parsed(record.jwt) })
            })
            .collect();
        for signed in results.iter().filter_map(|result| result.parsed.as_ref().ok()) {
            signed.push_to(&mut self.batch);
        }
        let newest = self.known.keys.last();
        let mut holds = newest.map_or(&[][..], |key| key.verify_batch(&mut self.batch)).iter();
        for result in &results {
            match &result.parsed {
                // Verification may have changed to a key of that algorithm, as its document would show.
                Err(why) if why.is_of_other_keys() => self.held.hold(&self.judge, result, verdicts),
                Err(why) => self.judge.unreadable(result, why, verdicts),
                Ok(signed) => {
                    let is_of_newest = holds.next().copied().unwrap_or(false);
                    match is_of_newest || self.known.keys.iter().any(|key| key.is_signer_of(signed)) {
                        true => self.judge.signed(result, signed, verdicts),
                        false => self.held.hold(&self.judge, result, verdicts),
                    }
                }
            }
        }
    }
}

impl Verifier for ResultVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        self.judge_all(std::iter::once((seq, record)), verdicts);
    }

    fn check_all(&mut self, records: &Records, _now: Nanos, verdicts: &mut Verdicts) {
        self.judge_all(records.iter().map(|promise| (promise.seq, promise.bytes)), verdicts);
    }

    /// What no known key signed is judged once all documents were read behind it.
    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        if self.held.is_empty() {
            return;
        }
        self.judge.keys.refresh(&mut self.known);
        self.held.judge(&self.judge, &self.known, verdicts);
    }

    fn finish(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        self.held.give_up(verdicts);
    }
}

fn parsed(jwt: &[u8]) -> Result<SignedResult<'_>, EarError> {
    SignedResult::parse(std::str::from_utf8(jwt).map_err(|_| EarError::Form)?)
}

impl Judge {
    /// A result that is none, whoever signed it.
    fn unreadable(&self, result: &ParsedResult<'_>, why: &EarError, verdicts: &mut Verdicts) {
        let kind = if *why == EarError::Signature { BAD_SIGNATURE } else { MALFORMED };
        let device = result.record.device;
        let told = format!("the result of device {device}: {}", peer_text(&why.to_string()));
        let fault = Fault::at(kind, device, told);
        verdicts.broken(result.record.class.into(), result.seq, fault, Some(result.bytes));
    }
}

/// No key of a discovery document signed the result.
const BAD_SIGNATURE: &str = "bad-result-signature";
/// What is there in place of a result is none.
const MALFORMED: &str = "malformed-result";

#[cfg(test)]
mod tests;
