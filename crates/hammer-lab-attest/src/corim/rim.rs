//! CoRIMs as v0.0.2608 takes them: within tag 501, and their tags 506 around encoded CoMIDs.

use ciborium::Value;

use super::{
    comid::{Dialect, digest, signer},
    fault::{CorimFault, of_psa},
};
use crate::{
    cbor::{IntMap, read, tagged, tagged_bytes},
    store::{Endorsements, ReferenceValue},
};

/// What an unsigned CoRIM endorses, or the payload of a signed one.
pub(super) fn endorsements(profile: &str, body: &[u8]) -> Result<Endorsements, CorimFault> {
    if !body.starts_with(CORIM_TAG) {
        return Err(CorimFault::new("did not see unsigned CoRIM tag"));
    }
    let corim = read(body).map_err(CorimFault::new)?;
    let corim = tagged(&corim, 501).and_then(IntMap::of).ok_or_else(|| CorimFault::at("CoRIM"))?;
    let own = corim.get(3).and_then(|own| tagged(own, URI).unwrap_or(own).as_text()).unwrap_or_default();
    if own != profile {
        return Err(CorimFault::new(format!(
            "rpc error: code = Unknown desc = CoRIM profile ({own}) does not match media type profile ({profile})"
        )));
    }
    of_psa(profile, PROFILE)?;
    let tags = corim.array(1).filter(|tags| !tags.is_empty());
    let mut endorsements = Endorsements::default();
    for tag in tags.ok_or_else(|| CorimFault::new("tags validation failed: no tags"))? {
        let comid = tagged_bytes(tag, COMID_TAG).ok_or_else(|| CorimFault::at("tag of a CoMID"))?;
        DIALECT.add_comid(&read(comid).map_err(CorimFault::new)?, &mut endorsements)?;
    }
    Ok(endorsements)
}

const DIALECT: Dialect = Dialect { implementation_tag: BYTES, measurement };

fn measurement(measurement: IntMap<'_>) -> Result<ReferenceValue, CorimFault> {
    if measurement.text(0) != Some("psa.software-component") {
        return Err(CorimFault::at("measurement key"));
    }
    let values = measurement.map(1).ok_or_else(|| CorimFault::at("measurement values"))?;
    let version = values.map(0).and_then(|version| version.text(0));
    let signers = values.array(13).and_then(<[Value]>::first);
    Ok(ReferenceValue {
        label: values.text(11).map(Box::from),
        version: version.map(Box::from),
        signer: signer(signers.and_then(|signer| tagged_bytes(signer, BYTES)))?,
        measurement: digest(values)?,
    })
}

pub(super) const PROFILE: &str = "tag:arm.com,2025:psa#1.0.0";
/// Tag 501.
const CORIM_TAG: &[u8] = &[0xd9, 0x01, 0xf5];
const COMID_TAG: u64 = 506;
const BYTES: u64 = 560;
const URI: u64 = 32;
