//! Signatures that are verified together: of one key, or each of another.

use super::digitally_signed::DigitallySigned;
use super::{KeyAlgorithm, LogKey, SignatureError, leftmost_256_bits};
use crate::hash::sha256;
use crate::keys::scheme::SignatureScheme;

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

/// Signatures of whichever keys that are verified together, and the memory for it. Those of a key of P-256 that is met often share its
/// table; where the processor can, eight of keys that are met once take hardly more than one.
#[derive(Debug, Clone, Default)]
pub struct MixedBatch {
    verdicts: Vec<Result<(), SignatureError>>,
    once: hammer_p256::OnceBatch,
    /// Which of the verdicts each signature of a key that is met once decides.
    places: Vec<usize>,
    /// [`MOST_KEYS`] at most.
    often: Vec<KeyPart>,
    /// Whether there were more keys than that.
    is_crowded: bool,
}

/// The signatures of one key of P-256.
#[derive(Debug, Clone)]
struct KeyPart {
    key: LogKey,
    p256: hammer_p256::SignatureBatch,
    places: Vec<usize>,
}

impl MixedBatch {
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
        self.once.clear();
        self.places.clear();
        // A key that signed nothing makes room for those that did.
        if std::mem::take(&mut self.is_crowded) {
            self.often.retain(|part| !part.places.is_empty());
        }
        for part in &mut self.often {
            part.p256.clear();
            part.places.clear();
        }
    }

    /// Adds a bare signature over `message` that is made by `scheme`, of a key that is met often.
    pub fn add(&mut self, key: &LogKey, scheme: SignatureScheme, message: &[u8], signature: &[u8]) {
        let at = self.verdicts.len();
        let part = match (key.algorithm, scheme) {
            (KeyAlgorithm::P256, SignatureScheme::Ecdsa(digest)) => self.part(key).zip(Some(digest)),
            _ => None,
        };
        let verdict = match part {
            Some((part, digest)) => {
                part.places.push(at);
                part.p256.push(&leftmost_256_bits(digest, message), signature);
                Err(SignatureError::Invalid)
            }
            None => key.verify_scheme(scheme, message, signature),
        };
        self.verdicts.push(verdict);
    }

    /// The same of a key that is met once or twice.
    pub fn add_once(&mut self, key: &LogKey, scheme: SignatureScheme, message: &[u8], signature: &[u8]) {
        let verdict = match (key.algorithm, scheme) {
            (KeyAlgorithm::P256, SignatureScheme::Ecdsa(digest)) if hammer_p256::verifies_abreast() => {
                self.places.push(self.verdicts.len());
                self.once.push(&key.key, &leftmost_256_bits(digest, message), signature);
                Err(SignatureError::Invalid)
            }
            _ => key.verify_scheme_once(scheme, message, signature),
        };
        self.verdicts.push(verdict);
    }

    /// What [`LogKey::verify_scheme`] says of each signature, in the order in which they were added.
    pub fn verify(&mut self) -> &[Result<(), SignatureError>] {
        let Self { verdicts, once, places, often, .. } = self;
        let mut tell = |places: &[usize], all: &[bool]| {
            for (at, holds) in places.iter().zip(all) {
                verdicts[*at] = if *holds { Ok(()) } else { Err(SignatureError::Invalid) };
            }
        };
        tell(places, once.verify());
        for KeyPart { key, p256, places } in often.iter_mut().filter(|part| !part.places.is_empty()) {
            // What is no point of the curve verifies nothing.
            if let Some(verifier) = key.p256.of(&key.key) {
                tell(places, verifier.verify_batch(p256));
            }
        }
        verdicts
    }

    /// Where the signatures of a key are gathered; none where there are too many keys.
    fn part(&mut self, key: &LogKey) -> Option<&mut KeyPart> {
        let at = self.often.iter().position(|part| part.key == *key);
        if at.is_none() && self.often.len() < MOST_KEYS {
            let key = key.clone();
            self.often.push(KeyPart { key, p256: hammer_p256::SignatureBatch::new(), places: Vec::new() });
        } else if at.is_none() {
            self.is_crowded = true;
        }
        match at {
            Some(at) => self.often.get_mut(at),
            None => self.often.last_mut().filter(|part| part.key == *key),
        }
    }
}

/// Keys of P-256 whose signatures are gathered; those of more are verified one by one.
const MOST_KEYS: usize = 16;

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

    /// Adds a `DigitallySigned` over `message` (not its hash) to a batch of signatures of whichever keys; nothing where its algorithms are
    /// not the key's.
    pub fn add_to_mixed(
        &self,
        batch: &mut MixedBatch,
        message: &[u8],
        signed: &DigitallySigned<'_>,
    ) -> Result<(), SignatureError> {
        batch.add(self, self.scheme_of(signed)?, message, signed.signature);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> LogKey {
        LogKey::from_ed25519(&[number; 32]).unwrap()
    }

    #[test]
    fn keys_that_sign_no_more_make_room_for_those_that_do() {
        let mut batch = MixedBatch::new();
        let gathered = |batch: &mut MixedBatch, number: u8| {
            batch.part(&key(number)).map(|part| part.places.push(0)).is_some()
        };
        for number in 0..MOST_KEYS as u8 {
            assert!(gathered(&mut batch, number));
        }
        assert!(!gathered(&mut batch, 100));
        batch.clear();
        assert!(!gathered(&mut batch, 100), "all others had signed");
        assert!(gathered(&mut batch, 0));
        batch.clear();
        assert!(gathered(&mut batch, 100));
        let keys: Vec<_> = batch.often.iter().map(|part| part.key.clone()).collect();
        assert_eq!(keys, [key(0), key(100)]);
    }
}
