//! Signatures of one key, verified together.

use super::digitally_signed::DigitallySigned;
use super::{KeyAlgorithm, LogKey, SignatureError};
use crate::hash::sha256;

/// Signatures of one key that are verified together, and the memory for it. Those of P-256 share most of the costs: 64
/// take less than half as long as one by one.
#[derive(Debug, Clone, Default)]
pub struct SignatureBatch {
    verdicts: Vec<Result<(), SignatureError>>,
    p256: hammer_p256::SignatureBatch,
    /// Which of the verdicts each signature of P-256 decides.
    places: Vec<usize>,
    /// Memory for the message that is added next.
    pub(crate) message: Vec<u8>,
}

impl SignatureBatch {
    /// An empty batch, whose memory grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many signatures there are.
    pub fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    /// Takes all signatures out.
    pub fn clear(&mut self) {
        self.verdicts.clear();
        self.p256.clear();
        self.places.clear();
    }
}

impl LogKey {
    /// Adds a `DigitallySigned` over `message` (not its hash) to a batch, all of which has to be of this key.
    pub fn add_to(&self, batch: &mut SignatureBatch, message: &[u8], signed: &DigitallySigned<'_>) {
        let verdict = match self.scheme_of(signed) {
            Ok(_) if self.algorithm == KeyAlgorithm::P256 => {
                batch.places.push(batch.verdicts.len());
                batch.p256.push(&sha256(message).0, signed.signature);
                Err(SignatureError::Invalid)
            }
            Ok(scheme) => self.verify_scheme(scheme, message, signed.signature),
            Err(why) => Err(why),
        };
        batch.verdicts.push(verdict);
    }

    /// What [`LogKey::verify`] says of each signature of the batch, in the order in which they were added.
    pub fn verify_batch<'batch>(
        &self,
        batch: &'batch mut SignatureBatch,
    ) -> &'batch [Result<(), SignatureError>] {
        let SignatureBatch { verdicts, p256, places, .. } = batch;
        // The table of a key that signed nothing is not made.
        if !places.is_empty()
            && let Some(verifier) = self.p256.of(&self.key)
        {
            for (at, holds) in places.iter().zip(verifier.verify_batch(p256)) {
                verdicts[*at] = if *holds { Ok(()) } else { Err(SignatureError::Invalid) };
            }
        }
        verdicts
    }
}
