//! Signed metadata as it lies in a file, and whether enough keys signed it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::canonical::canonical;
use crate::error::TufError;
use crate::file_claim::from_hex;
use crate::key::{SignatureVerdict, TufKey};
use crate::role::Role;

/// The parts of a file of metadata: what is signed, read once, so that what is believed is what was signed.
pub(crate) struct SignedMetadata {
    role: Role,
    signed: Value,
    /// What the signatures are over.
    message: Vec<u8>,
    signatures: Vec<WrittenSignature>,
}

#[derive(Deserialize)]
struct WrittenMetadata {
    signed: Value,
    #[serde(default)]
    signatures: Vec<WrittenSignature>,
}

#[derive(Deserialize)]
struct WrittenSignature {
    keyid: String,
    #[serde(default)]
    sig: String,
}

/// The keys of a role, and how many of them have to sign.
pub(crate) struct RoleKeys<'a> {
    /// All keys that the root knows, by their ids.
    pub(crate) keys: &'a BTreeMap<String, TufKey>,
    /// The ids of those of the role.
    pub(crate) ids: &'a BTreeSet<String>,
    /// How many it takes.
    pub(crate) threshold: usize,
    /// Whether they are those that a new root names itself.
    pub(crate) is_by_new: bool,
}

impl SignedMetadata {
    pub(crate) fn read(role: Role, body: &[u8]) -> Result<Self, TufError> {
        let malformed = |reason: String| TufError::Malformed { role, reason };
        if body.len() as u64 > role.most_bytes() {
            return Err(TufError::TooLong { role, most: role.most_bytes() });
        }
        let written: WrittenMetadata =
            serde_json::from_slice(body).map_err(|why| malformed(why.to_string()))?;
        if written.signatures.len() > MOST_SIGNATURES {
            return Err(malformed(format!("it has more than {MOST_SIGNATURES} signatures")));
        }
        let field = |name: &str| written.signed.get(name).and_then(Value::as_str).unwrap_or_default();
        if field("_type") != role.name() {
            return Err(malformed(format!("its _type is {:?}", field("_type"))));
        }
        // A later minor version adds what this reader does not need.
        if !field("spec_version").starts_with("1.") {
            return Err(malformed(format!("its spec_version is {:?}", field("spec_version"))));
        }
        let mut message = Vec::with_capacity(body.len());
        canonical(&written.signed, &mut message).map_err(malformed)?;
        Ok(Self { role, signed: written.signed, message, signatures: written.signatures })
    }

    pub(crate) fn content<T: DeserializeOwned>(&self) -> Result<T, TufError> {
        T::deserialize(&self.signed).map_err(|why| TufError::malformed(self.role, why.to_string()))
    }

    /// Whether as many distinct keys of a role signed it as that needs. A key counts once, under however many ids.
    pub(crate) fn check(&self, by: &RoleKeys<'_>) -> Result<(), TufError> {
        let (mut valid, mut unverified) = (BTreeSet::new(), BTreeSet::new());
        for signature in &self.signatures {
            let Some(key) = by.keys.get(&signature.keyid).filter(|_| by.ids.contains(&signature.keyid))
            else {
                continue;
            };
            // Who has not signed yet has an empty signature in some repositories.
            let Some(bytes) = from_hex(&signature.sig).filter(|bytes| !bytes.is_empty()) else { continue };
            match key.verify(&self.message, &bytes) {
                SignatureVerdict::Holds => valid.insert(key.identity()),
                SignatureVerdict::Unverified => unverified.insert(key.identity()),
                SignatureVerdict::Fails => false,
            };
        }
        if valid.len() >= by.threshold {
            return Ok(());
        }
        let unverified = unverified.difference(&valid).count();
        let (role, valid) = (self.role, valid.len());
        if valid + unverified >= by.threshold {
            return Err(TufError::Unverified { role, unverified });
        }
        Err(TufError::Signatures { role, valid, threshold: by.threshold, is_by_new: by.is_by_new })
    }
}

const MOST_SIGNATURES: usize = 256;
