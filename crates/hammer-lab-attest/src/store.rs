//! What was provisioned: trust anchors and reference values, and what it costs to ask for them.

mod gate;

use std::{
    collections::{HashMap, HashSet},
    sync::{PoisonError, RwLockWriteGuard},
    sync::{
        RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering},
    },
};

pub(crate) use gate::{StoreGate, TooManyClients};

/// What all devices of a model have in common.
pub(crate) type ImplementationId = [u8; 32];

/// What a device is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DeviceName {
    pub(crate) implementation: ImplementationId,
    /// A UEID (RFC 9711 section 4.2.1).
    pub(crate) instance: [u8; 33],
}

/// The key of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustAnchor {
    pub(crate) device: DeviceName,
    /// Of P-256, uncompressed (SEC 1 section 2.3.3).
    pub(crate) public_key: [u8; 65],
}

/// A software component as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReferenceValue {
    pub(crate) label: Option<Box<str>>,
    pub(crate) version: Option<Box<str>>,
    pub(crate) signer: Box<[u8]>,
    pub(crate) measurement: Box<[u8]>,
}

/// What a CoRIM says.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Endorsements {
    pub(crate) reference_values: Vec<(ImplementationId, ReferenceValue)>,
    pub(crate) trust_anchors: Vec<TrustAnchor>,
}

/// How many keys a device has, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredKey {
    None,
    One([u8; 65]),
    /// Several, with which nobody can tell what is right.
    Several,
}

/// The store, in memory.
#[derive(Debug, Default)]
pub(crate) struct Store {
    tables: RwLock<Tables>,
    /// One for each reference value and trust anchor, as often as they were stored.
    rows: AtomicU64,
}

/// Values that are equal are there once.
#[derive(Debug, Default)]
struct Tables {
    keys: HashMap<DeviceName, StoredKey>,
    reference_values: HashMap<ImplementationId, Vec<ReferenceValue>>,
    /// The first half of the SHA-256 of each CoRIM that is stored once.
    corims: HashSet<u128>,
}

impl Store {
    /// Stores what a CoRIM says, as often as it says so.
    pub(crate) fn add(&self, endorsements: Endorsements) {
        self.write().add(endorsements, &self.rows);
    }

    /// The same, unless the CoRIM with this SHA-256 is there already, which is said.
    pub(crate) fn add_once(&self, digest: &[u8; 32], endorsements: Endorsements) -> bool {
        let mut tables = self.write();
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        let is_new = tables.corims.insert(u128::from_be_bytes(half));
        if is_new {
            tables.add(endorsements, &self.rows);
        }
        is_new
    }

    /// The key of a device.
    pub(crate) fn key(&self, device: &DeviceName) -> StoredKey {
        self.read().keys.get(device).copied().unwrap_or(StoredKey::None)
    }

    /// What `judge` makes of the reference values of an implementation.
    pub(crate) fn judge<T>(
        &self,
        implementation: &ImplementationId,
        judge: impl FnOnce(&[ReferenceValue]) -> T,
    ) -> T {
        judge(self.read().reference_values.get(implementation).map_or(&[], Vec::as_slice))
    }

    /// Rows that were stored.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        *self.write() = Tables::default();
        self.rows.store(0, Ordering::Relaxed);
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn add(&mut self, endorsements: Endorsements, rows: &AtomicU64) {
        let Endorsements { reference_values, trust_anchors } = endorsements;
        rows.fetch_add((reference_values.len() + trust_anchors.len()) as u64, Ordering::Relaxed);
        for (implementation, value) in reference_values {
            let values = self.reference_values.entry(implementation).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        for TrustAnchor { device, public_key } in trust_anchors {
            let one = StoredKey::One(public_key);
            let stored = self.keys.entry(device).or_insert(one);
            if *stored != one {
                *stored = StoredKey::Several;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endorsements(instance: u8, key: u8) -> Endorsements {
        let implementation = [1; 32];
        let value = |label: &str| ReferenceValue {
            label: Some(label.into()),
            version: None,
            signer: Box::new([2; 32]),
            measurement: Box::new([3; 32]),
        };
        let device = DeviceName { implementation, instance: [instance; 33] };
        Endorsements {
            reference_values: vec![(implementation, value("a")), (implementation, value("b"))],
            trust_anchors: vec![TrustAnchor { device, public_key: [key; 65] }],
        }
    }

    #[test]
    fn rows_are_counted_as_often_as_they_are_stored_and_values_are_there_once() {
        let store = Store::default();
        for instance in [1, 2, 2] {
            store.add(endorsements(instance, instance));
        }
        assert_eq!(store.rows(), 9);
        assert_eq!(store.judge(&[1; 32], <[ReferenceValue]>::len), 2);
        assert_eq!(store.judge(&[2; 32], <[ReferenceValue]>::len), 0);
        let key = |instance| store.key(&DeviceName { implementation: [1; 32], instance: [instance; 33] });
        assert_eq!(
            [key(1), key(2), key(3)],
            [StoredKey::One([1; 65]), StoredKey::One([2; 65]), StoredKey::None]
        );
        store.add(endorsements(2, 9));
        assert_eq!(key(2), StoredKey::Several);
        store.clear();
        assert_eq!((store.rows(), key(1)), (0, StoredKey::None));
    }

    #[test]
    fn what_is_stored_once_is_refused_the_second_time() {
        let store = Store::default();
        let added = [1, 2, 1].map(|digest| store.add_once(&[digest; 32], endorsements(digest, digest)));
        assert_eq!((added, store.rows()), ([true, true, false], 6));
    }
}
