//! PSA attestation tokens (RFC 9783): claims of a device, signed by its key (COSE_Sign1, RFC 9052 section 4.2).

mod annotated;
mod claims;
mod profile;

pub(crate) use annotated::annotated_evidence;
pub(crate) use claims::{PsaClaims, SoftwareComponent};

use coset::{CoseSign1, RegisteredLabelWithPrivate, TaggedCborSerializable, iana};
use hammer_p256::verify_once_fixed;
use hammer_tlog::hash::sha256;

/// A token in form, whose signature is open.
#[derive(Debug)]
pub(crate) struct PsaToken {
    pub(crate) claims: PsaClaims,
    sign1: CoseSign1,
}

impl PsaToken {
    /// Reads a token; none of what has not all the claims of its profile.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let sign1 = CoseSign1::from_tagged_slice(bytes).ok()?;
        let claims = PsaClaims::read(sign1.payload.as_deref()?)?;
        Some(Self { claims, sign1 })
    }

    /// Whether this key signed it: an uncompressed point of P-256.
    pub(crate) fn is_signed_by(&self, public_key: &[u8; 65]) -> bool {
        let es256 = RegisteredLabelWithPrivate::Assigned(iana::Algorithm::ES256);
        let Ok(signature) = <&[u8; 64]>::try_from(self.sign1.signature.as_slice()) else { return false };
        let digest = sha256(&self.sign1.tbs_data(&[])).0;
        self.sign1.protected.header.alg == Some(es256) && verify_once_fixed(public_key, &digest, signature)
    }
}
