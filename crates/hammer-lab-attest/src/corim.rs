//! CoRIMs (draft-ietf-rats-corim) of PSA devices, in the dialects of the two releases.

mod comid;
mod fault;
mod legacy;
mod rim;
mod signed;

pub(crate) use fault::CorimFault;
pub(crate) use signed::CorimSigners;

use crate::{media_type::MediaType, plan::Release, store::Endorsements};

/// What a CoRIM of this media type endorses; its signers are asked at `unix_seconds`.
///
/// # Errors
/// What is no CoRIM of that type, or of a profile that is not appraised here.
pub(crate) fn endorsements(
    release: Release,
    media_type: &MediaType,
    body: &[u8],
    (signers, unix_seconds): (&CorimSigners, u64),
) -> Result<Endorsements, CorimFault> {
    let profile = media_type.parameter("profile").unwrap_or_default();
    match (release, media_type.essence()) {
        (Release::V2502, _) => legacy::endorsements(profile, body),
        (Release::V2608, "application/rim+cose") => {
            rim::endorsements(profile, &signers.payload(body, unix_seconds)?)
        }
        (Release::V2608, _) => rim::endorsements(profile, body),
    }
}

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};

    use super::*;

    const LEGACY: &[u8] = include_bytes!("../testdata/devices/dev0-legacy-p2.corim.cbor");
    const RIM: &[u8] = include_bytes!("../testdata/devices/dev0-rim2026-p2.corim.cbor");
    const SIGNED: &[u8] = include_bytes!("../testdata/devices/dev-signed.corim.cose");

    fn read(release: Release, body: &[u8]) -> Result<Endorsements, CorimFault> {
        let kind = match (release, body == SIGNED || body.starts_with(&SIGNED[..2])) {
            (Release::V2502, _) => "corim-unsigned+cbor; profile=\"http://arm.com/psa/iot/1\"",
            (Release::V2608, false) => "rim+cbor; profile=\"tag:arm.com,2025:psa#1.0.0\"",
            (Release::V2608, true) => "rim+cose; profile=\"tag:arm.com,2025:psa#1.0.0\"",
        };
        let media_type = MediaType::parse(&format!("application/{kind}")).unwrap();
        let signers = CorimSigners::read(&[]).unwrap();
        endorsements(release, &media_type, body, (&signers, 0))
    }

    #[test]
    fn both_dialects_say_the_same_of_a_device() {
        let (legacy, rim) = (read(Release::V2502, LEGACY).unwrap(), read(Release::V2608, RIM).unwrap());
        assert_eq!(legacy, rim);
        assert_eq!((legacy.reference_values.len(), legacy.trust_anchors.len()), (3, 1));
        let (_, value) = &legacy.reference_values[1];
        assert_eq!((value.label.as_deref(), value.version.as_deref()), (Some("PRoT"), Some("2.0.0")));
        assert_eq!(read(Release::V2608, SIGNED).unwrap().trust_anchors.len(), 1);
        let tagged = [&[0xd9, 1, 0xf5], LEGACY].concat();
        assert_eq!(read(Release::V2502, &tagged).unwrap(), legacy);
    }

    #[test]
    fn an_altered_corim_is_refused_or_read_and_panics_nobody_and_an_altered_signed_one_is_refused() {
        let mut mutator = Mutator::new(13);
        for _ in 0..cases(20_000) {
            for (release, corim, other) in
                [(Release::V2502, LEGACY, RIM), (Release::V2608, RIM, LEGACY), (Release::V2608, SIGNED, RIM)]
            {
                let altered = mutator.bytes(corim, other);
                if let Ok(endorsements) = read(release, &altered) {
                    let is_read = endorsements.trust_anchors.iter().all(|anchor| anchor.public_key[0] == 4);
                    assert!(is_read, "{altered:02x?}");
                }
            }
        }
        for place in 0..SIGNED.len() {
            let mut altered = SIGNED.to_vec();
            altered[place] ^= 1;
            assert!(read(Release::V2608, &altered).is_err(), "{place}");
        }
    }
}
