//! Who checks promises.

use hammer_measure::Nanos;

use super::transport::records::Records;
use super::verdicts::Verdicts;

/// Checks promises, on a thread of its own.
pub trait Verifier: Send {
    /// Judges the promise that operation `seq` received, or keeps it for [`Verifier::tick`].
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts);

    /// Judges promises as [`Verifier::check`] would one after another, where a few at once are cheaper.
    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        records.iter().for_each(|promise| self.check(promise.seq, promise.bytes, now, verdicts));
    }

    /// Judges what could not be judged at once; called again and again.
    fn tick(&mut self, _now: Nanos, _verdicts: &mut Verdicts) {}

    /// Says what becomes of those that could not be judged until now; called once, behind everything else. What it leaves is pending.
    fn finish(&mut self, _now: Nanos, _verdicts: &mut Verdicts) {}
}
