//! Signatures of many promises, verified together: each costs a fraction of one alone.

use std::ops::Range;

use hammer_cms::signed_data::SignedDataError;
use hammer_cms::timestamp::TimestampFault;
use hammer_core::promise::Fault;
use hammer_tlog::ct::sct::SctError;
use hammer_tlog::keys::key::{LogKey, MixedBatch, SignatureError};

use super::malformed::timestamp_fault;

/// The signatures of the records that are judged together, of which nothing is known yet.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    batch: MixedBatch,
    /// One for each signature of the batch.
    of: Vec<SignatureOf>,
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
        let added = add(&mut self.batch)?;
        self.of.push(of);
        debug_assert_eq!(self.of.len(), self.batch.len());
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
    of: &'a [SignatureOf],
}

impl Verified<'_> {
    /// Whether all signatures of those places hold; the fault of the first that does not.
    pub(super) fn check(self, places: Range<usize>) -> Result<(), Fault> {
        let mut all = self.verdicts[places.clone()].iter().zip(&self.of[places]);
        all.try_for_each(|(verdict, of)| verdict.or_else(|why| of.judge_alone(why)))
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
