//! Evidence: PSA attestation tokens (RFC 9783, and its profile 1 of before).

use sha2::{Digest as _, Sha256};

use crate::cbor::CborWriter;
use crate::device::PsaDevice;

/// Which claims a token is made of; a verifier knows it by them, and not by the media type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenProfile {
    /// `PSA_IOT_PROFILE_1`.
    Psa1,
    /// `http://arm.com/psa/2.0.0`.
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
}

/// The keys of the claims, in their order, and those of other profiles.
struct ClaimKeys {
    profile: i64,
    client_id: i64,
    lifecycle: i64,
    implementation_id: i64,
    boot_seed: i64,
    components: i64,
    nonce: i64,
    instance_id: i64,
    verification_service: i64,
}

impl TokenProfile {
    /// The name by which a token calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psa1 => "PSA_IOT_PROFILE_1",
            Self::Psa2 => "http://arm.com/psa/2.0.0",
        }
    }

    const fn keys(self) -> ClaimKeys {
        match self {
            Self::Psa1 => ClaimKeys {
                profile: -75_000,
                client_id: -75_001,
                lifecycle: -75_002,
                implementation_id: -75_003,
                boot_seed: -75_004,
                components: -75_006,
                nonce: -75_008,
                instance_id: -75_009,
                verification_service: -75_010,
            },
            Self::Psa2 => ClaimKeys {
                profile: 265,
                client_id: 2394,
                lifecycle: 2395,
                implementation_id: 2396,
                boot_seed: 2397,
                components: 2399,
                nonce: 10,
                instance_id: 256,
                verification_service: 2400,
            },
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
        let keys = self.profile.keys();
        claims.map(9);
        claims.int(keys.profile);
        claims.text(self.profile.name());
        claims.int(keys.client_id);
        claims.int(self.client_id.into());
        claims.int(keys.lifecycle);
        claims.int(self.lifecycle.into());
        claims.int(keys.implementation_id);
        claims.bytes(&self.device.implementation_id);
        claims.int(keys.boot_seed);
        claims.bytes(self.boot_seed);
        claims.int(keys.components);
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
        claims.int(keys.nonce);
        claims.bytes(self.nonce);
        claims.int(keys.instance_id);
        claims.bytes(&self.device.ueid());
        claims.int(keys.verification_service);
        claims.text(self.verification_service);
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
