//! The issuers that sign most leaves, each with a table of its key.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hammer_p256::FixedKeyVerifier;
use hammer_tlog::logs::merkle::{Hash, sha256};

use super::{PublicKey, SignatureError};

/// Verifies signatures: by ring, and once a key of P-256 has been used a few times, by a table of its multiples. Bounded:
/// [`MOST_TABLES`] of 850 KB.
#[derive(Debug, Default)]
pub(crate) struct FixedKeys {
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    /// By the SHA-256 of the SubjectPublicKeyInfo.
    keys: HashMap<Hash, Use>,
    tables: usize,
    /// Counts the uses of all keys.
    now: u64,
}

#[derive(Debug, Default)]
struct Use {
    times: u32,
    last: u64,
    table: Option<Arc<FixedKeyVerifier>>,
}

impl FixedKeys {
    /// Checks a signature by the key with this SHA-256, whose algorithm is given as an AlgorithmIdentifier.
    pub(crate) fn verify(
        &self,
        (hash, key): (&Hash, &PublicKey),
        algorithm: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let table = key.p256_with_sha256(algorithm).and_then(|point| self.table(hash, point));
        match table {
            None => key.verify(algorithm, message, signature),
            Some(table) if table.verify(&sha256(message).0, signature) => Ok(()),
            Some(_) => Err(SignatureError::Ecdsa),
        }
    }

    /// The table of the key with this SHA-256, where it has one; that counts as a use.
    pub(crate) fn in_use(&self, hash: &Hash) -> Option<Arc<FixedKeyVerifier>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let now = used.now + 1;
        let key = used.keys.get_mut(hash)?;
        let table = key.table.clone()?;
        key.last = now;
        used.now = now;
        Some(table)
    }

    /// The table of a key that is in use.
    fn table(&self, hash: &Hash, point: &[u8]) -> Option<Arc<FixedKeyVerifier>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = used.again(hash)? {
            return Some(table);
        }
        drop(used);
        // Nobody waits for the milliseconds that this takes; two threads may both take them.
        let table = FixedKeyVerifier::new(point).map(Arc::new)?;
        self.used.lock().unwrap_or_else(PoisonError::into_inner).keep(hash, &table);
        Some(table)
    }
}

impl Used {
    /// Counts a use. None where there is no table and it is not time for one; none within where it is.
    fn again(&mut self, hash: &Hash) -> Option<Option<Arc<FixedKeyVerifier>>> {
        self.now += 1;
        if self.keys.len() >= MOST_KEYS && !self.keys.contains_key(hash) {
            self.keys.retain(|_, key| key.table.is_some());
        }
        let (now, is_full) = (self.now, self.tables >= MOST_TABLES);
        let key = self.keys.entry(*hash).or_default();
        (key.times, key.last) = (key.times.saturating_add(1), now);
        let enough = if is_full { USES_TO_REPLACE } else { USES };
        (key.table.is_some() || key.times > enough).then(|| key.table.clone())
    }

    /// Keeps a table, in the place of the one that was not used for longest where there are enough.
    fn keep(&mut self, hash: &Hash, table: &Arc<FixedKeyVerifier>) {
        if self.tables >= MOST_TABLES {
            let with_table = self.keys.iter().filter(|(_, key)| key.table.is_some());
            let oldest = with_table.min_by_key(|(_, key)| key.last).map(|(hash, _)| *hash);
            self.tables -= usize::from(oldest.is_some_and(|oldest| self.keys.remove(&oldest).is_some()));
        }
        let key = self.keys.entry(*hash).or_default();
        self.tables += usize::from(key.table.replace(Arc::clone(table)).is_none());
    }
}

/// Uses of a key before it gets a table, which costs about as much as 50 verifications without.
const USES: u32 = 8;
/// Uses before a key takes the table of another, so that more keys than tables do not make tables all the time.
const USES_TO_REPLACE: u32 = 1_024;
const MOST_TABLES: usize = 16;
const MOST_KEYS: usize = 4_096;

#[cfg(test)]
mod tests {
    use hammer_p256::{NonceBlocks, NonceWalk, ThrowawayKey};
    use hammer_tlog::encoding::from_base64;

    use super::*;

    /// AlgorithmIdentifier of ecdsa-with-SHA256 (RFC 5758 section 3.2).
    const ALGORITHM: &[u8] = &[0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
    /// A P-256 SubjectPublicKeyInfo up to its point.
    const SPKI_PREFIX: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA=";

    struct Signer {
        walk: NonceWalk,
        key: PublicKey,
        hash: Hash,
    }

    impl Signer {
        fn new(seed: u8) -> Self {
            let key = ThrowawayKey::derive(&[seed; 32]);
            let prefix = from_base64(SPKI_PREFIX).unwrap();
            let spki = [&prefix, key.public_key().as_slice()].concat();
            let hash = sha256(&spki);
            Self { walk: key.walk(&[1; 32], 0), key: PublicKey::parse(&spki).unwrap(), hash }
        }

        /// Whether a good signature and an altered one are judged so.
        fn holds(&self, keys: &FixedKeys) -> bool {
            let mut signature =
                self.walk.sign(0, &sha256(b"leaf").0, &mut NonceBlocks::new()).as_ref().to_vec();
            let mut verify = |bits| {
                *signature.last_mut().unwrap() ^= bits;
                keys.verify((&self.hash, &self.key), ALGORITHM, b"leaf", &signature)
            };
            verify(0) == Ok(()) && verify(1) == Err(SignatureError::Ecdsa)
        }

        fn has_table(&self, keys: &FixedKeys) -> bool {
            keys.used.lock().unwrap().keys.get(&self.hash).is_some_and(|key| key.table.is_some())
        }
    }

    #[test]
    fn a_key_gets_a_table_once_it_was_used_a_few_times_and_the_verdicts_stay() {
        let (keys, signer) = (FixedKeys::default(), Signer::new(1));
        for uses in 0..20 {
            assert!(signer.holds(&keys));
            assert_eq!(signer.has_table(&keys), (uses + 1) * 2 > USES, "{uses}");
        }
    }

    #[test]
    fn the_tables_are_bounded_and_the_least_recently_used_one_goes() {
        let keys = FixedKeys::default();
        let signers: Vec<_> = (0..=MOST_TABLES as u8).map(Signer::new).collect();
        let (last, first) = signers.split_last().unwrap();
        for signer in first.iter().chain([&first[0]]) {
            (0..USES).for_each(|_| assert!(signer.holds(&keys)));
        }
        assert!(first.iter().all(|signer| signer.has_table(&keys)));
        for _ in 0..USES_TO_REPLACE / 2 {
            assert!(!last.has_table(&keys) && last.holds(&keys));
        }
        assert!(last.holds(&keys) && last.has_table(&keys));
        let without: Vec<_> = first.iter().map(|signer| signer.has_table(&keys)).collect();
        assert!(without[0] && !without[1] && without[2..].iter().all(|has| *has), "{without:?}");
        assert_eq!(keys.used.lock().unwrap().tables, MOST_TABLES);
    }

    #[test]
    fn keys_that_are_used_once_are_forgotten_in_time() {
        let mut used = Used::default();
        for number in 0..MOST_KEYS as u64 * 3 {
            assert!(used.again(&sha256(&number.to_be_bytes())).is_none());
            assert!(used.keys.len() <= MOST_KEYS);
        }
    }
}
