//! Evidence: PSA attestation tokens of the two profiles that Veraison's own library reads: that of draft-tschofenig-rats-psa-token-07, and
//! that of -09, whose claims are those of RFC 9783.

use sha2::{Digest as _, Sha256};

use crate::cbor::CborWriter;
use crate::device::PsaDevice;

/// Which claims a token is made of; a verifier knows it by them, and not by the media type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenProfile {
    /// `PSA_IOT_PROFILE_1` (draft-tschofenig-rats-psa-token-07).
    Psa1,
    /// `http://arm.com/psa/2.0.0` (draft-tschofenig-rats-psa-token-09).
    #[default]
    Psa2,
}

/// What a token says.
#[derive(Clone, Copy, Debug)]
pub struct PsaToken<'a> {
    /// By which claims.
    pub profile: TokenProfile,
    /// Who says it.
    pub device: &'a PsaDevice,
    /// The nonce of the session: 32, 48 or 64 bytes.
    pub nonce: &'a [u8],
    /// What a boot of the device is told by.
    pub boot_seed: &'a [u8; 32],
    /// Who asked for it on the device; a negative number is a caller of the non-secure side.
    pub client_id: i32,
    /// The state of the device; 0x3000 to 0x30ff is secured.
    pub lifecycle: u16,
    /// Where whoever relies on it may have it verified.
    pub verification_service: &'a str,
    /// A claim that it lacks, where it does.
    pub without: Option<PsaClaim>,
}

/// A claim of a token (RFC 9783 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsaClaim {
    /// By which claims it is written.
    Profile,
    /// Who asked for it.
    ClientId,
    /// The state of the device.
    Lifecycle,
    /// Its implementation ID.
    ImplementationId,
    /// What its boot is told by.
    BootSeed,
    /// What runs on it.
    Components,
    /// The nonce of the session.
    Nonce,
    /// Its instance ID.
    InstanceId,
    /// Where it may be verified.
    VerificationService,
}

impl PsaClaim {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 9] = [
        Self::Profile,
        Self::ClientId,
        Self::Lifecycle,
        Self::ImplementationId,
        Self::BootSeed,
        Self::Components,
        Self::Nonce,
        Self::InstanceId,
        Self::VerificationService,
    ];
    /// Those without which Veraison knows no device, under either profile.
    pub const MANDATORY: [Self; 6] = [
        Self::ClientId,
        Self::Lifecycle,
        Self::ImplementationId,
        Self::Components,
        Self::Nonce,
        Self::InstanceId,
    ];
}

impl TokenProfile {
    /// The name by which a token calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psa1 => "PSA_IOT_PROFILE_1",
            Self::Psa2 => "http://arm.com/psa/2.0.0",
        }
    }

    /// The key of a claim: RFC 9783 section 4, and draft-tschofenig-rats-psa-token-07 for profile 1.
    const fn key(self, claim: PsaClaim) -> i64 {
        match (self, claim) {
            (Self::Psa1, PsaClaim::Profile) => -75_000,
            (Self::Psa1, PsaClaim::ClientId) => -75_001,
            (Self::Psa1, PsaClaim::Lifecycle) => -75_002,
            (Self::Psa1, PsaClaim::ImplementationId) => -75_003,
            (Self::Psa1, PsaClaim::BootSeed) => -75_004,
            (Self::Psa1, PsaClaim::Components) => -75_006,
            (Self::Psa1, PsaClaim::Nonce) => -75_008,
            (Self::Psa1, PsaClaim::InstanceId) => -75_009,
            (Self::Psa1, PsaClaim::VerificationService) => -75_010,
            (Self::Psa2, PsaClaim::Profile) => 265,
            (Self::Psa2, PsaClaim::ClientId) => 2394,
            (Self::Psa2, PsaClaim::Lifecycle) => 2395,
            (Self::Psa2, PsaClaim::ImplementationId) => 2396,
            (Self::Psa2, PsaClaim::BootSeed) => 2397,
            (Self::Psa2, PsaClaim::Components) => 2399,
            (Self::Psa2, PsaClaim::Nonce) => 10,
            (Self::Psa2, PsaClaim::InstanceId) => 256,
            (Self::Psa2, PsaClaim::VerificationService) => 2400,
        }
    }
}

impl PsaToken<'_> {
    /// Replaces `out` by the token, a COSE_Sign1 of ES256. `sign` is given the SHA-256 of what is signed, and returns r and s, 32 bytes
    /// each. `claims` is memory for what it says.
    pub fn write(&self, sign: impl FnOnce(&[u8; 32]) -> [u8; 64], claims: &mut Vec<u8>, out: &mut Vec<u8>) {
        claims.clear();
        self.append(&mut CborWriter::new(claims));
        out.clear();
        write_sign1(&PROTECTED, claims, |message| sign(&Sha256::digest(message).into()), out);
    }

    fn append(&self, claims: &mut CborWriter<'_>) {
        claims.map(PsaClaim::ALL.len() - usize::from(self.without.is_some()));
        for claim in PsaClaim::ALL {
            if self.without != Some(claim) {
                claims.int(self.profile.key(claim));
                self.append_value(claim, claims);
            }
        }
    }

    fn append_value(&self, claim: PsaClaim, claims: &mut CborWriter<'_>) {
        match claim {
            PsaClaim::Profile => claims.text(self.profile.name()),
            PsaClaim::ClientId => claims.int(self.client_id.into()),
            PsaClaim::Lifecycle => claims.int(self.lifecycle.into()),
            PsaClaim::ImplementationId => claims.bytes(&self.device.implementation_id),
            PsaClaim::BootSeed => claims.bytes(self.boot_seed),
            PsaClaim::Components => self.append_components(claims),
            PsaClaim::Nonce => claims.bytes(self.nonce),
            PsaClaim::InstanceId => claims.bytes(&self.device.ueid()),
            PsaClaim::VerificationService => claims.text(self.verification_service),
        }
    }

    fn append_components(&self, claims: &mut CborWriter<'_>) {
        claims.array(self.device.components.len());
        for component in &self.device.components {
            claims.map(4);
            claims.int(1);
            claims.text(&component.kind);
            claims.int(2);
            claims.bytes(&component.measurement);
            claims.int(4);
            claims.text(&component.version);
            claims.int(5);
            claims.bytes(&component.signer);
        }
    }
}

/// Appends a COSE_Sign1 (RFC 9052 section 4.2) to `out`, whose signature is that of `sign` over its `Sig_structure` (section 4.4).
pub(crate) fn write_sign1(
    protected: &[u8],
    payload: &[u8],
    sign: impl FnOnce(&[u8]) -> [u8; 64],
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let mut signed = CborWriter::new(out);
    signed.array(4);
    signed.text("Signature1");
    signed.bytes(protected);
    signed.bytes(&[]);
    signed.bytes(payload);
    let signature = sign(&out[start..]);
    // It shares nothing but its parts with what is signed, in whose memory it is.
    out.truncate(start);
    let mut message = CborWriter::new(out);
    message.tag(COSE_SIGN1);
    message.array(4);
    message.bytes(protected);
    message.map(0);
    message.bytes(payload);
    message.bytes(&signature);
}

const COSE_SIGN1: u64 = 18;
/// `{1: -7}`: the algorithm is ES256.
const PROTECTED: [u8; 3] = [0xa1, 0x01, 0x26];
