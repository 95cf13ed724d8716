//! CoRIMs as v0.0.2502 takes them: maps whose tags are encoded within byte strings.

use super::{
    comid::{Dialect, digest, signer},
    fault::{CorimFault, of_psa},
};
use crate::{
    cbor::{IntMap, bytes, major_type, read, tagged},
    store::{Endorsements, ReferenceValue},
};

/// What such a CoRIM endorses.
pub(super) fn endorsements(profile: &str, body: &[u8]) -> Result<Endorsements, CorimFault> {
    of_psa(profile, PROFILE)?;
    let body = body.strip_prefix(CORIM_TAG).unwrap_or(body);
    if let Some(major) = major_type(body).filter(|major| *major != MAP) {
        return Err(CorimFault::new(format!(
            "CBOR decoding failed: expected map (CBOR Major Type 5), found Major Type {major}"
        )));
    }
    let decoding = |error| CorimFault::new(format!("CBOR decoding failed: {error}"));
    let corim = read(body).map_err(decoding)?;
    let corim = IntMap::of(&corim).ok_or_else(|| CorimFault::at("CoRIM"))?;
    if corim.text(3).is_some_and(|own| own != PROFILE) {
        return Err(CorimFault::at("profile"));
    }
    let tags = corim.array(1).filter(|tags| !tags.is_empty());
    let mut endorsements = Endorsements::default();
    for tag in tags.ok_or_else(|| CorimFault::new("validation failed: tags validation failed: no tags"))? {
        let tag = bytes(tag).ok_or_else(|| CorimFault::at("tag"))?;
        let tag = read(tag).map_err(decoding)?;
        let comid = tagged(&tag, COMID_TAG).ok_or_else(|| CorimFault::at("tag of a CoMID"))?;
        DIALECT.add_comid(comid, &mut endorsements)?;
    }
    Ok(endorsements)
}

const DIALECT: Dialect = Dialect { implementation_tag: 600, measurement };

fn measurement(measurement: IntMap<'_>) -> Result<ReferenceValue, CorimFault> {
    let key = measurement.get(0).and_then(|key| tagged(key, REFERENCE_ID)).and_then(IntMap::of);
    let key = key.ok_or_else(|| CorimFault::at("measurement key (601)"))?;
    let values = measurement.map(1).ok_or_else(|| CorimFault::at("measurement values"))?;
    Ok(ReferenceValue {
        label: key.text(1).map(Box::from),
        version: key.text(4).map(Box::from),
        signer: signer(key.bytes(5))?,
        measurement: digest(values)?,
    })
}

pub(super) const PROFILE: &str = "http://arm.com/psa/iot/1";
/// Tag 501, which may stand before the map.
const CORIM_TAG: &[u8] = &[0xd9, 0x01, 0xf5];
const COMID_TAG: u64 = 506;
const REFERENCE_ID: u64 = 601;
const MAP: u8 = 5;
