//! CoMIDs: triples of what is known of an environment.

use ciborium::Value;
use hammer_tlog::keys::key::{KeyAlgorithm, LogKey};

use super::fault::CorimFault;
use crate::{
    cbor::{IntMap, bytes, tagged, tagged_bytes},
    store::{DeviceName, Endorsements, ImplementationId, ReferenceValue, TrustAnchor},
};

/// What the dialects differ in.
pub(super) struct Dialect {
    /// The tag of an implementation id.
    pub(super) implementation_tag: u64,
    /// Reads a measurement.
    pub(super) measurement: fn(IntMap<'_>) -> Result<ReferenceValue, CorimFault>,
}

impl Dialect {
    /// Adds what a CoMID says.
    pub(super) fn add_comid(&self, comid: &Value, into: &mut Endorsements) -> Result<(), CorimFault> {
        let triples = IntMap::of(comid).and_then(|comid| comid.map(TRIPLES));
        let triples = triples.ok_or_else(|| CorimFault::at("triples"))?;
        for triple in triples.array(REFERENCE_TRIPLES).unwrap_or_default() {
            let (environment, measurements) = pair(triple, "reference value triple")?;
            let implementation = self.implementation(environment)?;
            for measurement in measurements {
                let measurement = IntMap::of(measurement).ok_or_else(|| CorimFault::at("measurement"))?;
                into.reference_values.push((implementation, (self.measurement)(measurement)?));
            }
        }
        for triple in triples.array(KEY_TRIPLES).unwrap_or_default() {
            let (environment, keys) = pair(triple, "attestation key triple")?;
            let instance = environment.get(1).and_then(|instance| tagged_bytes(instance, UEID));
            let instance = instance.and_then(|ueid| ueid.try_into().ok());
            let instance = instance.ok_or_else(|| CorimFault::at("instance id (UEID of 33 bytes)"))?;
            let [key] = keys else {
                return Err(CorimFault::new(format!(
                    "expecting exactly one IAK public key, got {}",
                    keys.len()
                )));
            };
            let device = DeviceName { implementation: self.implementation(environment)?, instance };
            into.trust_anchors.push(TrustAnchor { device, public_key: public_key(key)? });
        }
        Ok(())
    }

    fn implementation(&self, environment: IntMap<'_>) -> Result<ImplementationId, CorimFault> {
        let class = environment.map(0).and_then(|class| class.get(0));
        let id = class.and_then(|class| tagged_bytes(class, self.implementation_tag));
        let id = id.and_then(|id| id.try_into().ok());
        id.ok_or_else(|| CorimFault::at("class id (implementation id of 32 bytes)"))
    }
}

/// An environment, and what is said of it, of which there is some.
fn pair<'a>(triple: &'a Value, what: &str) -> Result<(IntMap<'a>, &'a [Value]), CorimFault> {
    let said = match triple.as_array().map(Vec::as_slice) {
        Some([environment, said]) => IntMap::of(environment).zip(said.as_array()),
        _ => None,
    };
    let said = said.filter(|(_, said)| !said.is_empty());
    said.map(|(environment, said)| (environment, said.as_slice())).ok_or_else(|| CorimFault::at(what))
}

/// The first digest of a measurement's values.
pub(super) fn digest(values: IntMap<'_>) -> Result<Box<[u8]>, CorimFault> {
    let first = values.array(2).and_then(|digests| digests.first()).and_then(Value::as_array);
    let value = match first.map(Vec::as_slice) {
        Some([_, value]) => bytes(value).filter(|value| is_hash(value)),
        _ => None,
    };
    value.map(Box::from).ok_or_else(|| CorimFault::at("measurement value"))
}

/// A signer id.
pub(super) fn signer(value: Option<&[u8]>) -> Result<Box<[u8]>, CorimFault> {
    let signer = value.filter(|signer| is_hash(signer));
    signer.map(Box::from).ok_or_else(|| CorimFault::at("signer id"))
}

fn is_hash(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 32 | 48 | 64)
}

/// The point of a P-256 key in PEM, uncompressed.
fn public_key(value: &Value) -> Result<[u8; 65], CorimFault> {
    let pem = tagged(value, PEM).and_then(Value::as_text).ok_or_else(|| CorimFault::at("key in PEM"))?;
    let key = LogKey::from_pem(pem).map_err(|error| CorimFault::new(format!("reading key: {error}")))?;
    let point = Some(key.bytes()).filter(|_| key.algorithm() == KeyAlgorithm::P256);
    let point = point.and_then(|point| point.try_into().ok());
    point.ok_or_else(|| CorimFault::new("the embedded target takes keys of P-256 alone"))
}

/// The map of triples in a CoMID, and the lists in it.
const TRIPLES: i64 = 4;
const REFERENCE_TRIPLES: i64 = 0;
const KEY_TRIPLES: i64 = 3;
const UEID: u64 = 550;
const PEM: u64 = 554;
