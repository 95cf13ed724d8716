//! CoRIMs (draft-ietf-rats-corim) of PSA devices, in the dialects of the two releases.

mod comid;
mod legacy;
mod rim;
mod signed;

pub(crate) use signed::CorimSigners;

use std::fmt;

use crate::{
    media_type::MediaType,
    plan::Release,
    store::{Endorsements, ReferenceValue, TrustAnchor},
};

/// Why a CoRIM was not taken, in the words of the services where they were seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorimFault(String);

impl CorimFault {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// A value that has to be there, or has another form.
    fn at(what: &str) -> Self {
        Self(format!("decoding CoMID: no valid {what}"))
    }
}

impl fmt::Display for CorimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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

/// Fails of a profile whose devices are not appraised here.
fn of_psa(profile: &str, psa: &str) -> Result<(), CorimFault> {
    let is_psa = profile == psa;
    is_psa.then_some(()).ok_or_else(|| {
        CorimFault::new(format!("the embedded target takes CoRIMs of profile {psa} alone, not of {profile}"))
    })
}
