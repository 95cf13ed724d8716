//! The two profiles of tokens, and the keys of their claims.

/// A profile of PSA tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// `PSA_IOT_PROFILE_1` (draft-tschofenig-rats-psa-token-07).
    One,
    /// `http://arm.com/psa/2.0.0` (draft-tschofenig-rats-psa-token-09).
    Two,
}

/// The keys of the claims of a profile.
#[derive(Debug)]
pub(super) struct ClaimKeys {
    pub(super) client_id: i64,
    pub(super) lifecycle: i64,
    pub(super) implementation: i64,
    pub(super) boot_seed: i64,
    pub(super) certification: i64,
    pub(super) components: i64,
    pub(super) nonce: i64,
    pub(super) instance: i64,
    pub(super) verification_service: i64,
}

impl Profile {
    pub(super) const fn keys(self) -> &'static ClaimKeys {
        match self {
            Self::One => &PROFILE_1,
            Self::Two => &PROFILE_2,
        }
    }

    /// The value of its claim.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::One => "PSA_IOT_PROFILE_1",
            Self::Two => "http://arm.com/psa/2.0.0",
        }
    }
}

const PROFILE_1: ClaimKeys = ClaimKeys {
    client_id: -75001,
    lifecycle: -75002,
    implementation: -75003,
    boot_seed: -75004,
    certification: -75005,
    components: -75006,
    nonce: -75008,
    instance: -75009,
    verification_service: -75010,
};

const PROFILE_2: ClaimKeys = ClaimKeys {
    client_id: 2394,
    lifecycle: 2395,
    implementation: 2396,
    boot_seed: 2397,
    certification: 2398,
    components: 2399,
    nonce: 10,
    instance: 256,
    verification_service: 2400,
};

/// The claim of profile 2 that names it.
pub(super) const PROFILE_CLAIM: i64 = 265;
/// The claim of profile 1 that names it, and may be left out.
pub(super) const PROFILE_CLAIM_1: i64 = -75000;
/// The claim of profile 1 that there are no measurements.
pub(super) const NO_MEASUREMENTS: i64 = -75007;
