//! Signatures of many promises, verified together: each costs a fraction of one alone.

use std::ops::Range;

use hammer_cms::signed_data::SignedDataError;
use hammer_cms::timestamp::TimestampFault;
use hammer_core::promise::Fault;
use hammer_read::unverified;
use hammer_tlog::ct::sct::SctError;
use hammer_tlog::keys::key::{LogKey, MixedBatch, SignatureError};

use super::malformed::timestamp_fault;

/// The signatures of the records that are judged together, of which nothing is known yet.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    batch: MixedBatch,
    /// What each is for, and its place in the batch.
    of: Vec<(Range<usize>, SignatureOf)>,
}

/// What a signature is for.
#[derive(Debug)]
pub(super) enum SignatureOf {
    /// An artifact, by an entry of that index.
    Artifact { index: u64, any: Box<AnyDigest> },
    /// A certificate's place in a CT log.
    Sct,
    /// A timestamp.
    Timestamp,
}

/// A signature that may be over another digest than the one by which such keys sign as a rule: over which, nothing says.
#[derive(Debug)]
pub(super) struct AnyDigest {
    pub(super) key: LogKey,
    pub(super) signed: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

impl Signatures {
    /// Adds what `add` adds to the batch: one signature, or nothing where it fails.
    pub(super) fn add<T, E>(
        &mut self,
        of: SignatureOf,
        add: impl FnOnce(&mut MixedBatch) -> Result<T, E>,
    ) -> Result<T, E> {
        // What was added is looked at and not believed: a verdict in the place of another would pass what does not hold.
        let before = self.batch.len();
        let added = add(&mut self.batch)?;
        self.of.push((before..self.batch.len(), of));
        Ok(added)
    }

    /// How many there are: the place of the next one.
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// Verifies all of them.
    pub(super) fn verify(&mut self) -> Verified<'_> {
        Verified { verdicts: self.batch.verify(), of: &self.of }
    }

    /// Takes all of them out.
    pub(super) fn clear(&mut self) {
        self.batch.clear();
        self.of.clear();
    }
}

/// What became of the signatures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verified<'a> {
    verdicts: &'a [Result<(), SignatureError>],
    of: &'a [(Range<usize>, SignatureOf)],
}

impl Verified<'_> {
    /// Whether all signatures of those places hold; the fault of the first that does not.
    pub(super) fn check(self, places: Range<usize>) -> Result<(), Fault> {
        self.of[places].iter().try_for_each(|(places, of)| match &self.verdicts[places.clone()] {
            [] => Err(unverified()),
            verdicts => verdicts.iter().try_for_each(|verdict| verdict.or_else(|why| of.judge_alone(why))),
        })
    }
}

impl SignatureOf {
    /// What becomes of one that did not hold among the others.
    fn judge_alone(&self, why: SignatureError) -> Result<(), Fault> {
        Err(match self {
            Self::Artifact { index, any } => match any.key.verify_other_digest(&any.signed, &any.signature) {
                Ok(()) => return Ok(()),
                Err(why) => Fault::at(SIGNATURE, *index, why.to_string()),
            },
            Self::Sct => Fault::new(BAD_SCT, format!("failed to {}", SctError::from(why))),
            Self::Timestamp => timestamp_fault(&TimestampFault::from(SignedDataError::from(why))),
        })
    }
}

/// A signature over an artifact.
pub(super) const SIGNATURE: &str = "artifact-signature";
pub(super) const BAD_SCT: &str = "bad-sct-signature";

#[cfg(test)]
mod tests {
    use hammer_tlog::keys::key::LogKey;

    use super::*;
    use crate::judge::malformed::is_unverified;

    #[test]
    fn what_adds_more_or_less_than_it_says_moves_no_other_verdict() {
        let key = LogKey::from_ed25519(&[1; 32]).unwrap();
        let mut signatures = Signatures::default();
        let bad = |batch: &mut MixedBatch, said: Result<(), ()>| {
            batch.add(&key, key.algorithm().scheme(), b"message", b"signature");
            said
        };
        let mut add = |add: &dyn Fn(&mut MixedBatch) -> Result<(), ()>| signatures.add(SignatureOf::Sct, add);
        assert_eq!([add(&|batch| bad(batch, Err(()))), add(&|_| Ok(()))], [Err(()), Ok(())]);
        assert_eq!(add(&|batch| bad(batch, Ok(()))), Ok(()));
        assert_eq!(signatures.len(), 2);
        let verified = signatures.verify();
        let [nothing, one] = [0..1, 1..2].map(|places| verified.check(places).unwrap_err());
        assert!(is_unverified(&nothing), "{nothing:?}");
        assert_eq!(one.kind, BAD_SCT);
    }
}
